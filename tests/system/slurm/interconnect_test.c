/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of Slurm on Omni-Path (S4, S6): all tasks of a job have its key, on each node, and no
 * other job has it; by a launch document, and without one. */

#include "tests/system/rig/folder.h"
#include "tests/system/slurm/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int create(void **state)
{
    char folder[512];
    assert_int_equal(site_create_launching(state), 0);
    struct site *site = *state;
    snprintf(folder, sizeof folder, "%s/conf.d", site->folder);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(folder_write(site->folder, "tasks", 0755,
                                  "#!/bin/sh\n"
                                  "env | grep -E '^(FI_OPX|FI_PSM3|PSM3|SLINGSHOT)_' | sort | "
                                  "sed s/^/t./\n"),
                     0);
    assert_int_equal(folder_write(folder, "omnipath.conf", 0600,
                                  "[omnipath]\npartition_keys = 1-4\npartition_key_hold = 0\n"
                                  "[cluster \"elcap\"]\ninterconnect = omnipath\n"),
                     0);
    site_stop_broker(site);
    site_start_broker(site);
    return 0;
}

/* Its tasks on two nodes, which all print what they have. */
static void run_job(struct site *site, char key[64], char pkey[16])
{
    char values[4][64];
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 -n2 --wrap 'srun $SITE/tasks; echo done.'");
    site_await_output(site, job, "done.");
    for (int task = 0; task < 2; task++) {
        snprintf(values[task], 64, "%s", site_output_value(site, job, "t.FI_OPX_UUID", task));
        snprintf(values[2 + task], 64, "%s", site_output_value(site, job, "t.FI_OPX_PKEY", task));
    }
    assert_int_equal(strlen(values[0]), 32);
    assert_string_equal(values[0], values[1]);
    assert_string_equal(values[2], values[3]);
    assert_int_equal(strlen(site_output_value(site, job, "t.FI_PSM3_UUID", 1)), 36);
    assert_string_equal(site_output_value(site, job, "t.PSM3_PKEY", 0), values[2]);
    cluster_expect(site->cluster, "! grep SLINGSHOT $SITE/out/%u.out", job);
    snprintf(key, 64, "%s", values[0]);
    snprintf(pkey, 16, "%.15s", values[2]);
}

static void run_jobs(struct site *site)
{
    char keys[2][64], pkeys[2][16];
    for (int i = 0; i < 2; i++)
        run_job(site, keys[i], pkeys[i]);
    assert_string_not_equal(keys[0], keys[1]);
    assert_string_not_equal(pkeys[0], pkeys[1]); /* in turn */
    assert_int_equal(strncmp(pkeys[0], "0x800", 5), 0);
    site_expect_nothing_left(site);
}

static void tasks__have_the_key_of_their_job(void **state)
{
    run_jobs(*state);
}

static void tasks__have_it_without_a_document(void **state)
{
    struct site *site = *state;
    site_set_settings(site, "MCAST_LAUNCH=none\n");
    run_jobs(site);
    site_set_settings(site, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks__have_the_key_of_their_job),
        cmocka_unit_test(tasks__have_it_without_a_document),
    };
    return cmocka_run_group_tests(tests, create, site_destroy);
}
