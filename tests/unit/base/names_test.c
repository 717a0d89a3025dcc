/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "tests/unit/unit.h"

#include "base/names.h"

UNIT(cluster_name__has_no_dash)
{
    assert_true(cluster_name_valid("el_cap2"));
    assert_false(cluster_name_valid(""));
    assert_false(cluster_name_valid("el-cap")); /* B4: the dash ends the cluster */
    assert_false(cluster_name_valid("ElCap"));
    assert_true(cluster_name_valid("12345678901234567890123456789012"));
    assert_false(cluster_name_valid("123456789012345678901234567890123"));
}

UNIT(job_id__is_bounded_and_plain)
{
    char id[JOB_ID_MAX + 2];
    memset(id, 'a', sizeof id);
    id[JOB_ID_MAX] = '\0';
    assert_true(job_id_valid(id));
    id[JOB_ID_MAX] = 'a';
    id[JOB_ID_MAX + 1] = '\0';
    assert_false(job_id_valid(id));
    assert_true(job_id_valid("f2Rs8sydSxmd"));
    assert_true(job_id_valid("12345_7.batch+1@x:y-z"));
    static const char *const bad[] = {"",
                                      "a/b",
                                      "a\"b",
                                      "a\\b",
                                      "\xc6\x92"
                                      "abc",
                                      "a b",
                                      "a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(job_id_valid(bad[i]));
}

UNIT(step_id__goes_unescaped_into_json)
{
    assert_true(step_id_valid("0"));
    assert_true(step_id_valid("/fA/fB"));
    assert_false(step_id_valid(""));
    assert_false(step_id_valid("a\"b"));
    assert_false(step_id_valid("a\\b"));
    assert_false(step_id_valid("a b"));
}

/* Of the 256 bytes exactly these may stand in each kind of name. */
UNIT(names__have_no_other_bytes)
{
    static const char cluster[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    static const char job[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                              "0123456789._:@+-";
    for (int byte = 1; byte < 256; byte++) {
        const char name[] = {'x', (char)byte, 'x', '\0'};
        const bool printable = byte > ' ' && byte < 0x7f;
        assert_int_equal(cluster_name_valid(name), strchr(cluster, byte) != NULL);
        assert_int_equal(job_id_valid(name), strchr(job, byte) != NULL);
        assert_int_equal(step_id_valid(name), printable && !strchr("\"\\'", byte));
    }
}

/* The longest names that there can be are split as they were put together. */
UNIT(fm_name__of_the_longest)
{
    char cluster[CLUSTER_NAME_MAX + 1], job[JOB_ID_MAX + 1], name[FM_NAME_MAX + 2];
    char split[CLUSTER_NAME_MAX + 1];
    const char *rest;
    memset(cluster, 'c', sizeof cluster);
    memset(job, 'j', sizeof job);
    cluster[CLUSTER_NAME_MAX] = job[JOB_ID_MAX] = '\0';
    fm_name_format(name, cluster, job);
    assert_int_equal(strlen(name), CLUSTER_NAME_MAX + 1 + JOB_ID_MAX);
    assert_true(fm_name_split(name, split, &rest));
    assert_string_equal(split, cluster);
    assert_string_equal(rest, job);
    memmove(name + 1, name, sizeof name - 2);
    name[sizeof name - 1] = '\0';
    assert_false(fm_name_split(name, split, &rest)); /* one c more */
}

UNIT(fm_name__splits_at_the_first_dash)
{
    char name[FM_NAME_MAX + 1], cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    fm_name_format(name, "elcap", "f-1");
    assert_string_equal(name, "elcap-f-1");
    assert_true(fm_name_split(name, cluster, &job));
    assert_string_equal(cluster, "elcap");
    assert_string_equal(job, "f-1");
}

UNIT(fm_name__of_others_is_not_ours)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    static const char *const bad[] = {
        "",     "elcap", "-1",        "elcap-",
        "El-1", "a b-1", "elcap-a/b", "123456789012345678901234567890123-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(fm_name_split(bad[i], cluster, &job));
}

UNIT_RUN(NULL, NULL)
