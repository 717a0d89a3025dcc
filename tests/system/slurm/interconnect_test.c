/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of Slurm on Omni-Path (S4, S6, F16): all tasks of a job have its key, on each node, in
 * each step and in each component, and no other job has it; by a launch document, and without one;
 * by TaskProlog, and by mcast_spank.so. */

#include "tests/system/rig/folder.h"
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>

/* How the cluster elcap is; restarts the broker. */
static void set_cluster(struct site *site, const char *interconnect, const char *omnipath)
{
    char folder[512], text[512];
    snprintf(folder, sizeof folder, "%s/conf.d", site->folder);
    snprintf(text, sizeof text, "[omnipath]\n%s[cluster \"elcap\"]\ninterconnect = %s\n", omnipath,
             interconnect);
    assert_int_equal(folder_write(folder, "omnipath.conf", 0600, text), 0);
    site_stop_broker(site);
    site_start_broker(site);
}

static const char usual[] =
    "partition_keys = 1-4\npartition_key_hold = 0\nservice_level = 3\nopx_hfi_select = 1\n"
    "psm3_nic = hfi1_*\n";

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
                                  "sed \"s/^/${1:-t}./\"\n"),
                     0);
    set_cluster(site, "omnipath", usual);
    return 0;
}

/* What its tasks print is the same count times, with nothing in between. */
static void all_have_one(struct site *site, unsigned int job, const char *name, int count)
{
    cluster_expect(
        site->cluster,
        "sed -n 's/^[a-z]*\\.%s=//p' $SITE/out/%u.out | sort | uniq -c | tee /dev/stderr "
        "| awk '{ n++; if ($1 != %d || NF != 2) exit 1 } END { exit n != 1 }'",
        name, job, count);
}

/* Its script, and the tasks of two steps on two nodes, which all print what they have. */
static void run_job(struct site *site, char key[64], char pkey[16])
{
    static const char *const settings[] = {"FI_OPX_SL", "FI_OPX_HFI_SELECT", "PSM3_NIC"};
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 -n2 --wrap '$SITE/tasks batch; srun $SITE/tasks; srun "
                       "$SITE/tasks next; echo done.'");
    site_await_output(site, job, "done.");
    snprintf(key, 64, "%s", site_output_value(site, job, "t.FI_OPX_UUID", 0));
    snprintf(pkey, 16, "%.15s", site_output_value(site, job, "t.FI_OPX_PKEY", 0));
    assert_int_equal(strlen(key), 32);
    assert_int_equal(strlen(site_output_value(site, job, "t.FI_PSM3_UUID", 1)), 36);
    assert_string_equal(site_output_value(site, job, "t.PSM3_PKEY", 0), pkey);
    all_have_one(site, job, "FI_OPX_UUID", 5);
    all_have_one(site, job, "FI_PSM3_UUID", 5);
    all_have_one(site, job, "FI_OPX_PKEY", 5);
    all_have_one(site, job, "PSM3_PKEY", 5);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        all_have_one(site, job, settings[i], 5);
    cluster_expect(site->cluster, "! grep SLINGSHOT $SITE/out/%u.out", job);
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

/* F23: the components of a heterogeneous job share its first one's reservation. */
static void tasks__of_a_het_job_have_one_key(void **state)
{
    struct site *site = *state;
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N1 -n1 : -N2 -n2 --wrap 'srun --het-group=0,1 "
                                      "$SITE/tasks; echo done.'");
    site_await_output(site, job, "done.");
    all_have_one(site, job, "FI_OPX_UUID", 3);
    all_have_one(site, job, "FI_PSM3_UUID", 3);
    all_have_one(site, job, "FI_OPX_PKEY", 3);
    all_have_one(site, job, "PSM3_PKEY", 3);
    site_expect_nothing_left(site);
}

/* Each is a job of its own, at the same time. */
static void tasks__of_an_array_have_keys_of_their_own(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER --array=1-2 --open-mode=append -N1 --wrap 'until [ $(ls $SITE/out/"
                       "array.* | wc -l) = 2 ]; do touch $SITE/out/array.$SLURM_JOB_ID; sleep 0.05;"
                       " done; srun $SITE/tasks; echo done.'");
    cluster_await(site->cluster,
                  "cat $SITE/out/%u.out; [ \"$(grep -c done. $SITE/out/%u.out)\" = 2 ]", job, job);
    cluster_expect(
        site->cluster,
        "rm $SITE/out/array.*; for name in FI_OPX_UUID FI_PSM3_UUID FI_OPX_PKEY "
        "PSM3_PKEY; do [ $(sed -n s/^t.$name=//p $SITE/out/%u.out | sort -u | wc -l) = 2 "
        "] || { cat $SITE/out/%u.out; exit 1; }; done",
        job, job);
    site_expect_nothing_left(site);
}

/* What the script of a job that is submitted with another's variables in its environment has. */
static void submit_within_another(struct site *site, unsigned int *job)
{
    *job = 0;
    cluster_expect(site->cluster,
                   "cd $SITE/out && FI_OPX_UUID=outers FI_PSM3_UUID=outers FI_OPX_PKEY=outers "
                   "PSM3_PKEY=outers FI_OPX_SL=5 FI_OPX_ENDPOINTS_PER_HFI_CONTEXT=7 FI_OPX_MINE=x "
                   "sbatch --parsable -o %%A.out $AS_USER -N1 --wrap '$SITE/tasks batch; srun "
                   "$SITE/tasks step; echo done.'");
    assert_int_equal(sscanf(cluster_text(site->cluster), "%u", job), 1);
    site_await_output(site, *job, "done.");
    cluster_expect(site->cluster, "! grep outers $SITE/out/%u.out", *job);
    for (int i = 0; i < 2; i++) {
        static const char *const parts[] = {"batch", "step"};
        char name[64];
        snprintf(name, sizeof name, "%s.FI_OPX_MINE", parts[i]);
        assert_string_equal(site_output_value(site, *job, name, 0), "x");
        snprintf(name, sizeof name, "%s.FI_OPX_ENDPOINTS_PER_HFI_CONTEXT", parts[i]);
        assert_string_equal(site_output_value(site, *job, name, 0), "7");
    }
}

/* F16: what another job has does not stay where this one does not have it; what its user may have
 * chosen stays, unless the site has chosen. */
static void tasks__keep_nothing_of_an_outer_job(void **state)
{
    struct site *site = *state;
    unsigned int job;
    submit_within_another(site, &job);
    all_have_one(site, job, "FI_OPX_UUID", 2);
    all_have_one(site, job, "FI_OPX_PKEY", 2);
    assert_string_equal(site_output_value(site, job, "step.FI_OPX_SL", 0), "3");
    site_expect_nothing_left(site);

    set_cluster(site, "omnipath", "");
    submit_within_another(site, &job);
    all_have_one(site, job, "FI_OPX_UUID", 2);
    cluster_expect(site->cluster, "! grep PKEY $SITE/out/%u.out", job);
    assert_string_equal(site_output_value(site, job, "step.FI_OPX_SL", 0), "5");
    site_expect_nothing_left(site);

    set_cluster(site, "none", "");
    submit_within_another(site, &job);
    cluster_expect(site->cluster, "! grep -E 'UUID|PKEY' $SITE/out/%u.out", job);
    assert_string_equal(site_output_value(site, job, "batch.FI_OPX_SL", 0), "5");
    site_expect_nothing_left(site);
    set_cluster(site, "omnipath", usual);
}

#ifdef MCAST_SPANK
/* From here on it is the plugin that tells the tasks. */
static void spank__takes_the_place_of_taskprolog(void **state)
{
    struct site *site = *state;
    site_use_plugin(site, MCAST_SPANK, "");
    cluster_expect(site->cluster, "sed -i /^TaskProlog/d $SLURM_CONF && scontrol reconfigure");
    run_jobs(site);
}

/* S4: hwcoll=off takes collectives from a step, and not its key. In salloc's shell srun brings
 * nothing, and nothing of the job around it. */
static void spank__has_keys_whatever_a_step_wishes(void **state)
{
    struct site *site = *state;
    cluster_expect(site->cluster,
                   "FI_OPX_UUID=outers FI_OPX_PKEY=outers $AS salloc -Q -N1 sh -c 'echo "
                   "\"<$FI_OPX_UUID$FI_OPX_PKEY>\"; srun --mcast=hwcoll=off $SITE/tasks'");
    const char *text = cluster_text(site->cluster);
    assert_int_equal(strncmp(text, "<>\n", 3), 0);
    assert_non_null(strstr(text, "t.FI_OPX_PKEY=0x800"));
    assert_non_null(strstr(text, "t.FI_OPX_UUID="));
    assert_null(strstr(text, "outers"));
    site_expect_nothing_left(site);
}

/* Where Prolog has left nothing the broker is asked; where that cannot be, what srun has of this
 * job is left alone (F17). */
static void spank__without_a_grant(void **state)
{
    struct site *site = *state;
    cluster_expect(site->cluster, "cp $SITE/plugstack.conf $SITE/plugstack.usual && sed -i "
                                  "s,grants=[^\\ ]*,grants=/nowhere, $SITE/plugstack.conf && $AS "
                                  "srun -Q -N2 -n2 $SITE/tasks >$SITE/out/asked; cat "
                                  "$SITE/out/asked; [ $(grep FI_OPX_UUID $SITE/out/asked | sort -u "
                                  "| wc -l) = 1 ] && [ $(grep -c PSM3_PKEY=0x800 $SITE/out/asked) "
                                  "= 2 ]");
    cluster_expect(site->cluster,
                   "sed -i 's,url=[^ ]*,url=unix:/nowhere,' $SITE/plugstack.conf && $AS salloc -Q "
                   "-N1 sh -c 'FI_OPX_UUID=brought FI_OPX_SL=5 srun $SITE/tasks'");
    const char *text = cluster_text(site->cluster);
    assert_non_null(strstr(text, "t.FI_OPX_UUID=brought"));
    assert_non_null(strstr(text, "t.FI_OPX_SL=5"));
    cluster_expect(site->cluster, "mv $SITE/plugstack.usual $SITE/plugstack.conf");
    site_expect_nothing_left(site);
}
#endif

#define OF_BOTH                                                                                    \
    cmocka_unit_test(tasks__have_it_without_a_document),                                           \
        cmocka_unit_test(tasks__of_a_het_job_have_one_key),                                        \
        cmocka_unit_test(tasks__of_an_array_have_keys_of_their_own),                               \
        cmocka_unit_test(tasks__keep_nothing_of_an_outer_job)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks__have_the_key_of_their_job),
        OF_BOTH,
#ifdef MCAST_SPANK
        cmocka_unit_test(spank__takes_the_place_of_taskprolog),
        OF_BOTH,
        cmocka_unit_test(spank__has_keys_whatever_a_step_wishes),
        cmocka_unit_test(spank__without_a_grant),
#endif
    };
    return cmocka_run_group_tests(tests, create, site_destroy);
}
