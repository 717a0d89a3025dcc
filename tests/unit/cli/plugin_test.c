/* SPDX-License-Identifier: Apache-2.0 */
/* What mcastctl says of a Slurm that keeps its own plugin, and of the broker that it asks (B9). */

#include "cli/doctor/doctor.h"
#include "tests/unit/unit.h"

#define URL "fm_url=https://broker:7471"
#define STATUS(pool, clusters)                                                                     \
    "{\"vnis\":{\"numbers\":\"" pool "\"},\"addresses\":{\"per_job\":23},"                         \
    "\"front\":{\"url\":\"https://broker:7471\"},\"clusters\":[" clusters "]}"
#define ALPS "{\"name\":\"alps\",\"plugin\":{\"limit\":\"cut\"}}"
#define STRICT "{\"name\":\"alps\",\"plugin\":{\"limit\":\"refuse\"}}"
#define HOOKS ",{\"name\":\"tuo\"}"

/* The finding of this check has this level and these words. */
static void expect(const char *parameters, const char *status, const char *check, const char *level,
                   const char *words, const char *advice)
{
    struct findings *findings = findings_create();
    json_t *how = json_loads(status, 0, NULL);
    assert_non_null(how);
    plugin_judge(findings, "alps", parameters, how);
    json_t *all = findings_json(findings), *one;
    size_t i, found = 0;
    json_array_foreach(json_object_get(all, "findings"), i, one)
    {
        const char *said = json_string_value(json_object_get(one, "finding"));
        const char *next = json_string_value(json_object_get(one, "advice"));
        if (strcmp(json_string_value(json_object_get(one, "check")), check) != 0)
            continue;
        found++;
        if (strcmp(json_string_value(json_object_get(one, "level")), level) != 0 ||
            !strstr(said, words) || (advice && (!next || !strstr(next, advice))))
            fail_msg("%s: %s (%s)", check, said, next ? next : "no advice");
    }
    assert_int_equal(found, 1);
    json_decref(all);
    json_decref(how);
    findings_destroy(findings);
}

/* I1: neither side knows the other's. */
UNIT(vnis__are_compared)
{
    static const char *const status = STATUS("1024-40000,50000", ALPS HOOKS);
    expect("vnis=32768-65535," URL, status, "vnis", "problem",
           "gives VNIs of 32768-65535, and the broker gives 32768-40000,50000 of them to jobs of "
           "cluster tuo",
           "[vni] pool = 1024-32767");
    expect(URL ",VNIS=50001-65535", status, "vnis", "ok", "none of them", NULL);
    expect(URL, status, "vnis", "problem", "gives VNIs of 1024-65535", "vnis=32768-65535");
    expect("vnis=7," URL, status, "vnis", "problem", "gives VNIs of 1024-65535", NULL);
    expect("vnis=1-100," URL, STATUS("1,10,200", ALPS HOOKS), "vnis", "ok", "none of them", NULL);
    expect(URL, STATUS("1024-65535", ALPS), "vnis", "ok", "no cluster gets any", NULL);
    expect(URL, "{\"clusters\":[" ALPS HOOKS "]}", "vnis", "warning", "older", "upgrade");
}

UNIT(url__is_the_brokers)
{
    static const char *const status = STATUS("1024-2047", ALPS);
    expect(URL "/", status, "fm_url", "ok", "https://broker:7471", NULL);
    expect("fm_url=https://fmn:8000", status, "fm_url", "problem", "and the broker is at",
           "fm_url=https://broker:7471");
    expect(URL, "{\"clusters\":[" ALPS "]}", "fm_url", "problem", "listens nowhere", "[front]");
    expect(URL, status, "plugin_login", "ok", "has a login", NULL);
    expect(URL, STATUS("1024-2047", "{\"name\":\"alps\"}"), "plugin_login", "warning",
           "no login for the Slurm of alps", "[cluster \"alps\"] plugin_login");
}

UNIT(sizes__are_the_same_on_both_sides)
{
    static const char *const status = STATUS("1024-2047", ALPS);
    expect("hwcoll_num_nodes=64,hwcoll_addrs_per_job=23," URL, status, "hwcoll_addrs_per_job", "ok",
           "that Slurm tells its tasks", NULL);
    expect(URL, status, "hwcoll_addrs_per_job", "ok", "as many as the broker says", NULL);
    expect("hwcoll_addrs_per_job=24," URL, status, "hwcoll_addrs_per_job", "warning",
           "wants 24 addresses for a job, and the broker gives 23", "hwcoll_addrs_per_job=23");
    expect("hwcoll_addrs_per_job=24," URL, STATUS("1024-2047", STRICT), "hwcoll_addrs_per_job",
           "problem", "each of its steps fails", NULL);
    expect(URL, status, "hwcoll_num_nodes", "problem", "no job has", "hwcoll_num_nodes=64");
}

static size_t shown(const char *config)
{
    struct findings *findings = findings_create();
    json_t *how = json_loads(STATUS("1024-2047", ALPS), 0, NULL);
    plugin_judge_shown(findings, config, how);
    const size_t count =
        findings_count(findings, FINDING_OK) + findings_count(findings, FINDING_PROBLEM);
    json_decref(how);
    findings_destroy(findings);
    return count;
}

/* Of another Slurm doctor says nothing. */
UNIT(slurm__is_known_by_what_scontrol_shows)
{
    assert_true(shown("Configuration\nClusterName             = alps\nSwitchParameters        = "
                      "hwcoll_num_nodes=2," URL "\nSwitchType              = "
                      "switch/hpe_slingshot\n") >= 4);
    assert_int_equal(
        shown("ClusterName = alps\nSwitchParameters = " URL "\nSwitchType = switch/none\n"), 0);
    assert_int_equal(shown("ClusterName = alps\nSwitchParameters = vnis=1-2\n"
                           "SwitchType = switch/hpe_slingshot\n"),
                     0);
    assert_int_equal(shown(""), 0);
}

UNIT_RUN(NULL, NULL)
