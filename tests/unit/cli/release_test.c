/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/doctor.h"
#include "tests/unit/unit.h"

UNIT(release__is_found_in_what_programs_say)
{
    static const struct {
        const char *said;
        struct release release;
    } cases[] = {
        {"slurm 24.11.5", {{24, 11, 5, 0}}}, {"fi_info: 2.6.0\nlibfabric: 2.6.0\n", {{2, 6, 0, 0}}},
        {"2.3.1-1~bpo12+1", {{2, 3, 1, 0}}}, {"1.15.2.0", {{1, 15, 2, 0}}},
        {"v2.6.0rc2", {{2, 6, 0, 0}}},       {"0.76.0-33-g1234", {{0, 76, 0, 0}}},
        {"build 7 of 1.2", {{1, 2, 0, 0}}},  {"23.02.8", {{23, 2, 8, 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct release found;
        assert_true(release_find(cases[i].said, &found));
        assert_memory_equal(&found, &cases[i].release, sizeof found);
    }
    struct release none;
    assert_false(release_find("", &none));
    assert_false(release_find("version unknown", &none));
    assert_false(release_find("7", &none));
}

UNIT(release__compares_by_number_not_by_text)
{
    static const char *const ascending[] = {"1.9.0",   "1.21.0",  "2.0.0",
                                            "2.0.0.1", "23.02.8", "23.11.0"};
    for (size_t i = 0; i + 1 < sizeof ascending / sizeof ascending[0]; i++) {
        struct release a, b;
        assert_true(release_find(ascending[i], &a) && release_find(ascending[i + 1], &b));
        assert_true(release_compare(&a, &b) < 0);
        assert_true(release_compare(&b, &a) > 0);
        assert_int_equal(release_compare(&a, &a), 0);
    }
}

/* How many of each level a release earns. */
static void judged(const char *name, const char *number, size_t problems, size_t warnings,
                   size_t fine)
{
    struct findings *findings = findings_create();
    struct release release;
    assert_non_null(findings);
    assert_true(release_find(number, &release));
    release_judge(findings, name, &release, "test");
    if (findings_count(findings, FINDING_PROBLEM) != problems ||
        findings_count(findings, FINDING_WARNING) != warnings ||
        findings_count(findings, FINDING_OK) != fine)
        fail_msg("%s %s: %zu problems, %zu warnings, %zu fine", name, number,
                 findings_count(findings, FINDING_PROBLEM),
                 findings_count(findings, FINDING_WARNING), findings_count(findings, FINDING_OK));
    findings_destroy(findings);
}

/* The edges of each range: the last bad release and the first good one. */
UNIT(release__judges_at_the_edges)
{
    judged("slurm", "23.02.7", 1, 0, 0); /* CVE-2024-42511 */
    judged("slurm", "23.02.8", 0, 0, 1);
    judged("slurm", "23.11.8", 1, 2, 0); /* and its state, and its names */
    judged("slurm", "23.11.9", 0, 2, 0);
    judged("slurm", "23.11.10", 0, 1, 0);
    judged("slurm", "24.05.1", 1, 2, 0);
    judged("slurm", "24.05.2", 0, 2, 0);
    judged("slurm", "24.05.3", 0, 1, 0);
    judged("slurm", "24.11.0", 0, 1, 1); /* from here on it reaps by name */
    judged("slurm", "24.11.5", 0, 0, 1);
    judged("slurm", "26.05.3", 0, 0, 1);
    judged("slurm", "21.08.0", 0, 0, 1);
    judged("libfabric", "1.17.0", 0, 0, 1);
    judged("libfabric", "1.22.0", 0, 1, 0);
    judged("libfabric", "2.0.0", 0, 1, 1);
    judged("libfabric", "2.2.0", 0, 2, 1);
    judged("libfabric", "2.3.0", 0, 1, 1);
    judged("libfabric", "2.5.0", 0, 0, 1);
    judged("flux-core", "0.67.0", 0, 2, 0);
    judged("flux-core", "0.68.0", 0, 1, 0);
    judged("flux-core", "0.76.0", 0, 0, 1);
    judged("flux-coral2", "0.27.0", 0, 2, 0);
    judged("flux-coral2", "0.28.1", 0, 1, 0);
    judged("flux-coral2", "0.29.0", 0, 0, 1);
    judged("libcxi", "13.0.0", 0, 0, 1);
    judged("libcxi", "14.0.0", 0, 0, 1);
    judged("something-else", "1.0", 0, 0, 1);
}

UNIT_RUN(NULL, NULL)
