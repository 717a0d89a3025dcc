/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

#include <unistd.h>

/* mcast_spank.so in a real Slurm, without a TaskProlog: --mcast, the tasks' environment in each
 * step, and the trees that steps leave (F14, F16, F19, F23); and mcastctl check slurm. */

enum { TEXT_SIZE = 2048 };

/* A tree of the step in which it runs, once for all its tasks, as libfabric makes it. */
static const char plant[] =
    "#!/bin/sh\n"
    "[ \"${SLURM_PROCID:-0}\" = 0 ] || exit 0\n"
    "exec curl -sS -f -o /dev/null -H \"Authorization: Bearer $FI_CXI_COLL_MCAST_TOKEN\""
    " -H 'Content-Type: application/json' -d \"{\\\"macs\\\":[\\\"1:12:01\\\",\\\"1:13:01\\\"],"
    "\\\"vni\\\":${SLINGSHOT_VNIS%%,*},\\\"timeout\\\":20000000,\\\"jobID\\\":\\\"$FI_CXI_COLL_JOB_"
    "ID\\\","
    "\\\"jobStepID\\\":\\\"$FI_CXI_COLL_JOB_STEP_ID\\\"}\" \"$FI_CXI_COLL_FABRIC_MGR_URL\"\n";

/* ---- the plugin ---- */

static int create(void **state)
{
    assert_int_equal(site_create(state), 0);
    struct site *site = *state;
    assert_int_equal(folder_write(site->folder, "plant", 0755, plant), 0);
    site_use_plugin(site, MCAST_SPANK, "");
    cluster_expect(site->cluster, "sed -i /^TaskProlog/d $SLURM_CONF && scontrol reconfigure");
    return 0;
}

static void says(struct site *site, const char *text)
{
    assert_words(cluster_text(site->cluster), text);
}

static void does_not_say(struct site *site, const char *text)
{
    if (strstr(cluster_text(site->cluster), text))
        fail_msg("'%s' is in: %s", text, cluster_text(site->cluster));
}

/* ---- trees ---- */

struct forest {
    struct site *site;
    const char *wanted; /* steps that have trees, each followed by a blank, in the FM's order */
    char found[TEXT_SIZE];
};

static bool has_grown(void *arg)
{
    struct forest *forest = arg;
    struct plainhttp_reply reply;
    size_t index;
    const json_t *tree;
    assert_int_equal(
        plainhttp_call(testbed_fm_http(forest->site->testbed), "GET", "/mock/state", NULL, &reply),
        200);
    forest->found[0] = '\0';
    json_array_foreach(json_object_get(reply.json, "multicasts"), index, tree)
    {
        size_t used = strlen(forest->found);
        snprintf(forest->found + used, sizeof forest->found - used, "%s ",
                 json_string_value(json_object_get(tree, "jobStepID")));
    }
    plainhttp_reply_release(&reply);
    return strcmp(forest->found, forest->wanted) == 0;
}

static void await_trees(struct site *site, const char *wanted)
{
    struct forest forest = {.site = site, .wanted = wanted};
    if (!await(has_grown, &forest, AWAIT_DEADLINE_MS))
        fail_msg("trees of '%s', not of '%s'", forest.found, wanted);
}

/* ---- scenes ---- */

/* F14: the words are in --help, and a wrong one is refused where it is typed, in our words. */
static void spank__offers_its_option(void **state)
{
    struct site *site = *state;
    static const char *const commands[] = {"srun true", "sbatch --wrap true", "salloc true"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[32];
        snprintf(command, sizeof command, "%s", commands[i]);
        char *rest = strchr(command, ' ');
        *rest++ = '\0';
        cluster_expect(site->cluster, "%s --help", command);
        says(site, "--mcast=vnis=N,shared=A:B,hwcoll=on|off|required");
        assert_int_not_equal(cluster_run(site->cluster, "%s --mcast=vnis=5 %s", command, rest), 0);
        says(site, "--mcast: vnis=5: a job can have 0 to 4 VNIs");
        assert_int_not_equal(cluster_run(site->cluster, "%s --mcast=hwcol=on %s", command, rest),
                             0);
        says(site, "'hwcol' is none of its words");
    }
    cluster_expect(site->cluster, "squeue -h -a -t all -o %%A");
    assert_string_equal(cluster_text(site->cluster), "");
}

/* F8 F16: on every node, in the batch script and in each step; and what one step does without. */
static void spank__gives_each_step_its_environment(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 -n2 --mcast=vnis=2 --wrap '$SITE/report batch; srun "
                       "$SITE/report one; srun $SITE/report two; srun --mcast=hwcoll=off "
                       "$SITE/report off; srun --mcast=vnis=3 true; echo done.'");
    site_await_output(site, job, "done.");
    char token[128], vnis[32];
    snprintf(token, sizeof token, "%s",
             site_output_value(site, job, "batch.FI_CXI_COLL_MCAST_TOKEN", 0));
    snprintf(vnis, sizeof vnis, "%s", site_output_value(site, job, "batch.SLINGSHOT_VNIS", 0));
    assert_non_null(strchr(vnis, ','));
    assert_string_equal(site_output_value(site, job, "batch.FI_CXI_COLL_JOB_STEP_ID", 0), "batch");
    for (int node = 0; node < 2; node++) {
        assert_string_equal(site_output_value(site, job, "one.FI_CXI_COLL_JOB_STEP_ID", node), "0");
        assert_string_equal(site_output_value(site, job, "two.FI_CXI_COLL_JOB_STEP_ID", node), "1");
        assert_string_equal(site_output_value(site, job, "two.FI_CXI_COLL_MCAST_TOKEN", node),
                            token);
        assert_string_equal(site_output_value(site, job, "two.SLINGSHOT_VNIS", node), vnis);
        assert_string_equal(site_output_value(site, job, "two.SLINGSHOT_DEVICES", node),
                            "cxi0,cxi1");
        /* A step without hardware collectives still has the job's VNIs. */
        assert_string_equal(site_output_value(site, job, "off.SLINGSHOT_VNIS", node), vnis);
    }
    cluster_expect(site->cluster, "cat $SITE/out/%u.out", job);
    does_not_say(site, "off.FI_CXI");
    says(site, "only hwcoll= and vni= can differ from step to step");
    /* Tokens are in jobs' environments and nowhere else: no log of any program has this one. */
    assert_int_equal(
        cluster_run(site->cluster, "grep -r -l -F %s $SITE/log $SITE/mcastd.log", token), 1);
    cluster_expect(site->cluster, "$AS salloc -Q -N1 sh -c '$MCASTCTL show $SLURM_JOB_ID'");
    says(site, "elcap"); /* of the one cluster (B4) */
    site_expect_nothing_left(site);
}

/* Steps of one job are apart where each says which of its VNIs it is to have (F2); one that says a
 * VNI which the job does not have does not begin. */
static void spank__gives_a_step_one_vni(void **state)
{
    struct site *site = *state;
    cluster_expect(site->cluster,
                   "$AS salloc -Q -N2 -n2 --mcast=vnis=2,hwcoll=off sh -c 'srun $SITE/report "
                   "all; srun --mcast=vni=1 $SITE/report a; srun --mcast=vni=2 $SITE/report b; "
                   "srun --mcast=vni=3 echo it ran; echo =$?' >$SITE/out/vni 2>&1; sed -n "
                   "'s/\\.SLINGSHOT_VNIS=/ /p' $SITE/out/vni | sort -u | tee /dev/stderr | awk '{ "
                   "v[$1] = $2 } END { exit NR != 3 || v[\"all\"] != v[\"a\"] \",\" v[\"b\"] }'");
    cluster_expect(site->cluster, "cat $SITE/out/vni");
    says(site, "mcastd: vni=3, but the job has 2 VNIs");
    says(site, "=1");
    does_not_say(site, "it ran");
    does_not_say(site, "FI_CXI"); /* hwcoll is the job's word, as the steps said none */
    site_expect_nothing_left(site);
}

/* What is another job's is not handed on: neither where a step has nothing to set, nor to Slurm's
 * files when a job is submitted within another. */
static void spank__takes_away_what_is_not_the_jobs(void **state)
{
    struct site *site = *state;
    cluster_expect(site->cluster, "$AS salloc -Q -N1 --mcast=hwcoll=off,vnis=1 sh -c 'export "
                                  "FI_CXI_COLL_JOB_ID=elcap-1 FI_CXI_COLL_MCAST_TOKEN=old "
                                  "FI_CXI_COLL_FABRIC_MGR_URL=http://old SLINGSHOT_SVC_IDS=77 "
                                  "FI_CXI_COLL_JOB_STEP_ID=old; srun $SITE/report x'");
    says(site, "x.SLINGSHOT_VNIS=2");
    does_not_say(site, "FI_CXI");
    does_not_say(site, "SVC_IDS=77");
    cluster_expect(
        site->cluster,
        "export FI_CXI_COLL_MCAST_TOKEN=of-a-job MARK=of-a-user; id=$(sbatch --parsable -H "
        "$AS_USER -o /dev/null --wrap true) || exit; grep -r -l -F of-a-user $SITE/ctld "
        ">/dev/null || exit 9; grep -r -l -F of-a-job $SITE/ctld; scancel $id");
    assert_string_equal(cluster_text(site->cluster), "");
    site_expect_nothing_left(site);
}

/* What the fabric manager was asked with tokens of jobs that were over: a 403. */
static size_t asked_with_dead_tokens(struct site *site)
{
    struct plainhttp_reply reply;
    const json_t *entry;
    size_t index, count = 0;
    assert_int_equal(
        plainhttp_call(testbed_fm_http(site->testbed), "GET", "/mock/log", NULL, &reply), 200);
    json_array_foreach(json_object_get(reply.json, "entries"), index, entry) count +=
        json_is_true(json_object_get(entry, "session")) &&
        json_integer_value(json_object_get(entry, "status")) == 403;
    plainhttp_reply_release(&reply);
    return count;
}

/* F19: a step's trees go when srun ends, and nobody else's: by the broker, which knows when the job
 * has ended, too, so that no token is shown to the fabric manager after its end. srun in salloc's
 * shell has no token in its environment, and asks the broker as the user. */
static void spank__cleans_up_after_a_step(void **state)
{
    struct site *site = *state;
    (void)cluster_submit(site->cluster,
                         "$AS_USER -N2 -n2 --wrap '$SITE/plant && srun sh -c \"$SITE/plant && "
                         "touch $SITE/out/planted && until [ -e $SITE/out/go ]; do sleep 0.05; "
                         "done\"; until [ -e $SITE/out/stop ]; do sleep 0.05; done'");
    cluster_await(site->cluster, "[ -e $SITE/out/planted ]");
    await_trees(site, "batch 0 ");
    assert_int_equal(folder_write(site->folder, "out/go", 0644, ""), 0);
    await_trees(site, "batch ");
    cluster_await(site->cluster, "$MCASTCTL --json status | tr -d ' \\n' | grep -q "
                                 "'\"cleanups\":{\"pending\":0,\"done\":[1-9]'");
    cluster_expect(site->cluster, "! grep -q MCAST_URL $SITE/out/*.out");
    assert_int_equal(folder_write(site->folder, "out/stop", 0644, ""), 0);
    site_expect_nothing_left(site);
    for (int i = 0; i < 3; i++)
        (void)cluster_submit(site->cluster, "$AS_USER -N2 -n2 --wrap 'srun $SITE/plant'");
    site_expect_nothing_left(site);

    cluster_expect(site->cluster, "rm -f $SITE/out/stop; ($AS salloc -Q -N2 -n2 sh -c 'srun "
                                  "$SITE/plant && echo planted;until [ -e $SITE/out/stop ] || [ ! "
                                  "-e $SITE/out ]; do sleep 0.05; done' >$SITE/out/salloc 2>&1 &)");
    cluster_await(site->cluster, "cat $SITE/out/salloc; grep -q planted $SITE/out/salloc");
    await_trees(site, "");
    assert_int_equal(folder_write(site->folder, "out/stop", 0644, ""), 0);
    site_expect_nothing_left(site);
    assert_int_equal(asked_with_dead_tokens(site), 0);
}

static void set_front(struct site *site, const char *lines)
{
    assert_int_equal(folder_write(site->folder, "conf.d/front.conf", 0644, lines), 0);
    site_stop_broker(site);
    site_start_broker(site);
}

/* B9 F19: a relayed job has no connection to the fabric manager; its trees are made and removed by
 * the broker, and check slurm tries the way. */
static void spank__cleans_up_after_a_relayed_step(void **state)
{
    struct site *site = *state;
    const int port = cluster_find_ports();
    char lines[TEXT_SIZE];
    snprintf(lines, sizeof lines,
             "[hwcoll]\nthrough = relay\n[front]\nlisten = 127.0.0.1:%d\n"
             "url = http://127.0.0.1:%d\n",
             port, port);
    cluster_expect(site->cluster, "mkdir $SITE/conf.d && rm -f $SITE/out/stop $SITE/out/planted");
    set_front(site, lines);
    (void)cluster_submit(site->cluster,
                         "$AS_USER -N2 -n2 --wrap 'srun sh -c \"$SITE/plant && touch "
                         "$SITE/out/planted && until [ -e $SITE/out/go2 ]; do sleep 0.05; done\"; "
                         "until [ -e $SITE/out/stop ]; do sleep 0.05; done'");
    cluster_await(site->cluster, "[ -e $SITE/out/planted ]");
    await_trees(site, "0 ");
    assert_int_equal(folder_write(site->folder, "out/go2", 0644, ""), 0);
    await_trees(site, "");
    cluster_await(site->cluster,
                  "SLURMD_NODENAME=n1 LD_LIBRARY_PATH=%s $MCASTCTL check slurm --node --hooks "
                  "$SITE/slurm --settings $SITE/etc/mcastd/slurm-hooks | tee /dev/stderr | grep -q "
                  "'jobs make them through http://127.0.0.1:%d, which can be reached'",
                  MOCK_CXI_FOLDER, port);
    assert_int_equal(folder_write(site->folder, "out/stop", 0644, ""), 0);
    site_expect_nothing_left(site);
    assert_int_equal(asked_with_dead_tokens(site), 0);
    set_front(site, "");
}

/* F16 F23: the parts of a heterogeneous job have one reservation, that of the first; the words are
 * the first one's, too. */
static void spank__serves_all_parts_of_a_het_job(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster,
        "$AS_USER -N1 -n1 --mcast=vnis=2 : -N2 -n2 --wrap 'srun --het-group=0,1 sh -c "
        "\"$SITE/report \\$SLURMD_NODENAME\"; echo done.'");
    site_await_output(site, job, "done.");
    char expected[64];
    snprintf(expected, sizeof expected, " 3 elcap-%u ", job);
    cluster_expect(site->cluster,
                   "sed -n 's/^n.\\.FI_CXI_COLL_JOB_ID=//p' $SITE/out/%u.out | sort "
                   "| uniq -c | tr -s ' \\n' ' '",
                   job);
    assert_string_equal(cluster_text(site->cluster), expected);
    cluster_expect(site->cluster,
                   "sed -n 's/.*.SLINGSHOT_VNIS=//p' $SITE/out/%u.out | sort | uniq -c", job);
    assert_non_null(strstr(cluster_text(site->cluster), "3 20"));
    assert_non_null(strstr(cluster_text(site->cluster), ",20"));
    site_expect_nothing_left(site);
}

/* Who wants what is not there is told so in one line; who cannot do without does not begin. */
static void spank__says_what_is_missing(void **state)
{
    struct site *site = *state;
    cluster_expect(site->cluster, "$AS srun -Q -N1 -n2 --mcast=hwcoll=on true");
    assert_string_equal(cluster_text(site->cluster),
                        "mcastd: no hardware collectives: ineligible: the job has 1 node, hardware "
                        "collectives need at least 2");
    cluster_expect(site->cluster, "$AS srun -Q -N1 true");
    assert_string_equal(cluster_text(site->cluster), "");
    cluster_expect(site->cluster,
                   "$AS salloc -Q -N1 sh -c 'srun --mcast=hwcoll=required echo it ran; echo =$?'");
    says(site, "mcastd: hwcoll=required, but no hardware collectives: ineligible");
    says(site, "=1");
    does_not_say(site, "it ran");
    site_expect_nothing_left(site);
}

static void expect_it_runs(struct site *site, const char *words)
{
    site_use_plugin(site, MCAST_SPANK, words);
    if (cluster_run(site->cluster, "$AS srun -Q -N2 -n2 $SITE/report x; echo =$?") != 0)
        fail_msg("%s: %s", words, cluster_text(site->cluster));
    assert_string_equal(cluster_text(site->cluster), "=0");
    cluster_await_empty(site->cluster);
}

/* No mistake of a site's, and no broker that hangs, keeps a task from running. */
static void spank__never_stands_in_the_way(void **state)
{
    struct site *site = *state;
    char words[TEXT_SIZE / 2];
    assert_int_equal(folder_write(site->folder, "hang", 0755, "#!/bin/sh\nexec sleep 1000\n"), 0);
    expect_it_runs(site, "grants=/nowhere url=unix:/nowhere mcast_node=/nowhere");
    expect_it_runs(site,
                   "grants=/nowhere mcastctl=/nowhere mcast_node=/bin/false nonsense timeout=-1");
    snprintf(
        words, sizeof words,
        "grants=/nowhere timeout=100 mcastctl=%s/hang mcast_node=%s/hang mcast_cleanup=/nowhere",
        site->folder, site->folder);
    expect_it_runs(site, words);
    snprintf(words, sizeof words, "optional %s/nowhere.so\n", site->folder);
    assert_int_equal(folder_write(site->folder, "plugstack.conf", 0644, words), 0);
    cluster_expect(site->cluster, "$AS srun -Q -N2 -n2 echo ran");
    says(site, "ran\nran");
    site_use_plugin(site, MCAST_SPANK, "");
    site_expect_nothing_left(site);
}

/* F17: nodes that can ask nobody hand on what srun has of this job, with the step's own id; a CA
 * that is not on the node would have libfabric wait for ever. */
static void spank__hands_on_what_srun_brought(void **state)
{
    struct site *site = *state;
    site_use_plugin(site, MCAST_SPANK, "grants=/nowhere url=unix:/nowhere mcast_node=/nowhere");
    cluster_expect(
        site->cluster,
        "$AS salloc -Q -N2 -n2 sh -c 'export FI_CXI_COLL_JOB_ID=elcap-$SLURM_JOB_ID "
        "FI_CXI_COLL_MCAST_TOKEN=brought FI_CXI_COLL_FABRIC_MGR_URL=http://old "
        "FI_CXI_COLL_FABRIC_MGR_CACERT=/nowhere/ca.pem FI_CXI_COLL_JOB_STEP_ID=batch; srun "
        "$SITE/report x; FI_CXI_COLL_JOB_ID=elcap-1 srun $SITE/report other'");
    says(site, "x.FI_CXI_COLL_MCAST_TOKEN=brought");
    says(site, "x.FI_CXI_COLL_JOB_STEP_ID=0");
    says(site, "x.FI_CXI_COLL_FABRIC_MGR_CACERT=yes");
    does_not_say(site, "STEP_ID=batch");
    does_not_say(site, "other.");
    site_use_plugin(site, MCAST_SPANK, "");
    site_expect_nothing_left(site);
}

/* Installed to another prefix than was configured, it runs the programs that lie there. */
static void spank__finds_what_was_installed_with_it(void **state)
{
    struct site *site = *state;
    char line[TEXT_SIZE];
    const char *f = site->folder;
    cluster_expect(site->cluster,
                   "mkdir -p %s/away/bin %s/away/" LIBDIR "/slurm && cp %s %s/away/" LIBDIR
                   "/slurm/ && for p in mcastctl mcast-node; do printf '#!/bin/sh\\n"
                   "touch %s/out/\"${0##*/}\"\\nexec %s/\"${0##*/}\" \"$@\"\\n' "
                   ">%s/away/bin/$p && chmod 755 %s/away/bin/$p || exit; done",
                   f, f, MCAST_SPANK, f, f, PROGRAMS, f, f);
    snprintf(line, sizeof line,
             "optional %s/away/" LIBDIR "/slurm/mcast_spank.so grants=/nowhere url=unix:%s "
             "timeout=60000\n",
             f, testbed_socket(site->testbed));
    assert_int_equal(folder_write(f, "plugstack.conf", 0644, line), 0);
    cluster_expect(site->cluster, "$AS srun -Q -N2 -n2 $SITE/report x");
    says(site, "x.FI_CXI_COLL_MCAST_TOKEN=");
    cluster_expect(site->cluster, "ls $SITE/out/mcastctl $SITE/out/mcast-node");
    site_use_plugin(site, MCAST_SPANK, "");
    site_expect_nothing_left(site);
}

/* ---- mcastctl check slurm ---- */

/* Until it ends with this status and has said this; on a busy machine scontrol may take too long.
 */
static void await_check(struct site *site, int status, const char *text)
{
    cluster_await(site->cluster,
                  "out=$(LD_LIBRARY_PATH=%s SLURMD_NODENAME=n1 "
                  "%s/mcastctl --json check slurm "
                  "--node --hooks $SITE/slurm --settings $SITE/etc/mcastd/slurm-hooks); s=$?; echo "
                  "\"$out\"; [ $s = %d ] && echo \"$out\" | grep -q -F -e '%s'",
                  MOCK_CXI_FOLDER, PROGRAMS, status, text);
}

/* Changes slurm.conf by a sed script and has slurmctld read it, as if it had been so for long. */
static void reconfigure(struct site *site, const char *script)
{
    cluster_expect(site->cluster,
                   "sed -i -e '%s' $SLURM_CONF && scontrol reconfigure && touch -d 2020-01-01 "
                   "$SLURM_CONF",
                   script);
}

/* F23: a Slurm that works has nothing to be said against it; of one that lacks a line, that line is
 * said as it is to be written. Adding it makes all well again. */
static void check__says_which_line_is_missing(void **state)
{
    struct site *site = *state;
    char line[TEXT_SIZE];
    /* mcastd-slurm runs here. */
    cluster_expect(site->cluster, "mkdir $SITE/systemd && ln -s /bin/true $SITE/systemd/systemctl");
    snprintf(line, sizeof line, "PATH=%s/systemd:$PATH\n", site->folder);
    site_set_settings(site, line);
    reconfigure(site, "s,/hooks/,/slurm/,");
    await_check(site, 0, "mcast_spank.so gives tasks their environment");
    says(site, "for the resource manager of elcap");
    if (getuid() == 0)
        says(site, "it sees this node's NICs, and the broker answers it");
    cluster_expect(site->cluster, "touch -d tomorrow $SLURM_CONF");
    await_check(site, 1, "a reconfigure is not enough");
    reconfigure(site, "s,^EpilogSlurmctld=,#&,; s,^PrologFlags=,#&,");
    snprintf(line, sizeof line, "slurm.conf: EpilogSlurmctld=%s/slurm/epilogslurmctld",
             site->folder);
    await_check(site, 1, line);
    says(site, "slurm.conf: PrologFlags=Alloc");
    says(site, "\"problems\": 2,");
    reconfigure(site, "s,^#EpilogSlurmctld=,EpilogSlurmctld=,; s,^#PrologFlags=,PrologFlags=,");
    assert_int_equal(folder_write(site->folder, "plugstack.conf", 0644, ""), 0);
    await_check(site, 1, "mcast_spank.so (or, without --mcast");
    site_use_plugin(site, MCAST_SPANK, "");
    await_check(site, 0, "mcast_spank.so gives tasks their environment");
    if (getuid() != 0)
        return;
    /* The hooks' own steps, as those who do them. */
    says(site, "the broker takes root for the resource manager of elcap");
    says(site, "jobs' owners can ask the broker from here");
    site_set_nics(site, 1, "nics = 0\n");
    await_check(site, 1, "the node has 0 NICs");
    site_set_nics(site, 1, "nics = 2\n");
    snprintf(line, sizeof line, "PATH=%s/systemd:$PATH\nMCAST_URL=unix:/nowhere\n", site->folder);
    site_set_settings(site, line);
    await_check(site, 4, "owners cannot ask the broker from here: ");
    says(site, "what Slurm's hooks ask as root is refused: ");
    site_set_settings(site, "MCAST_URL='\n");
    await_check(site, 1, "no hook works, as their settings are no shell script: ");
    site_set_settings(site, "");
}

UNIT_GROUP(create, site_destroy, cmocka_unit_test(spank__offers_its_option),
           cmocka_unit_test(spank__gives_each_step_its_environment),
           cmocka_unit_test(spank__gives_a_step_one_vni),
           cmocka_unit_test(spank__takes_away_what_is_not_the_jobs),
           cmocka_unit_test(spank__cleans_up_after_a_step),
           cmocka_unit_test(spank__cleans_up_after_a_relayed_step),
           cmocka_unit_test(spank__serves_all_parts_of_a_het_job),
           cmocka_unit_test(spank__says_what_is_missing),
           cmocka_unit_test(spank__never_stands_in_the_way),
           cmocka_unit_test(spank__hands_on_what_srun_brought),
           cmocka_unit_test(spank__finds_what_was_installed_with_it),
           cmocka_unit_test(check__says_which_line_is_missing))
