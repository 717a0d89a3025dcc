/* What mcastctl check slurm says of a Slurm, on parsed inputs: each line that is missing is named
 * as it is to be written (F23). */

#include "cli/slurm/check.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_SIZE = 4096 };

static char top[FOLDER_PATH_SIZE], folder[FOLDER_PATH_SIZE + 16];
static struct findings *findings;
static struct slurmconf *conf;
static struct slurmcheck check;
static const char *const hooks[] = {"prologslurmctld", "epilogslurmctld", "prolog", "epilog",
                                    "taskprolog"};

/* What hooks of this release source, which look for mcastctl there. */
static void write_sourced(const char *release, const char *programs)
{
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "# What all hooks of mcastd %s need\nPATH=%s:/usr/bin\n", release,
             programs);
    assert_int_equal(folder_write(folder, "site.sh", 0644, text), 0);
}

static int setup(void **state)
{
    (void)state;
    char path[TEXT_SIZE];
    assert_int_equal(folder_create(top), 0);
    assert_int_equal(mkdir(folder_path(path, sizeof path, top, "mcastd"), 0755), 0);
    assert_int_equal(mkdir(folder_path(folder, sizeof folder, top, "mcastd/slurm"), 0755), 0);
    assert_int_equal(folder_write(folder, "mcastctl", 0755, ""), 0);
    write_sourced(MCAST_VERSION, folder);
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        assert_int_equal(folder_write(folder, hooks[i], 0755, "#!/bin/sh\n"), 0);
    findings = findings_create();
    conf = slurmconf_create();
    check = (struct slurmcheck){.conf = conf,
                                .hooks = folder,
                                .cluster = "elcap",
                                .controller = true,
                                .node = true,
                                .grants = "/run/mcast-slurm",
                                .patience_s = 299,
                                .plugin = {.file = "/etc/slurm/plugstack.conf",
                                           .grants = "/run/mcast-slurm",
                                           .own = "/usr/lib/slurm/mcast_spank.so"}};
    return findings && conf ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    findings_destroy(findings);
    slurmconf_destroy(conf);
    folder_destroy(top);
    return 0;
}

/* Words "Key=value" of slurm.conf; each %s: the folder. */
static void say(const char *line)
{
    char text[TEXT_SIZE] = "";
    for (const char *place; (place = strstr(line, "%s")); line = place + 2) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%.*s%s", (int)(place - line), line, folder);
    }
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s\n", line);
    slurmconf_take_file(conf, text);
}

static void expect(const char *word, const char *level, const char *finding, const char *advice)
{
    json_t *all = findings_json(findings), *one;
    size_t index, found = 0;
    json_array_foreach(json_object_get(all, "findings"), index, one)
    {
        const char *said = json_string_value(json_object_get(one, "finding"));
        const char *next = json_string_value(json_object_get(one, "advice"));
        if (strcmp(json_string_value(json_object_get(one, "check")), word) != 0)
            continue;
        found++;
        assert_string_equal(json_string_value(json_object_get(one, "level")), level);
        if (!strstr(said, finding))
            fail_msg("'%s' does not say '%s'", said, finding);
        if (advice && (!next || !strstr(next, advice)))
            fail_msg("'%s' does not advise '%s'", next ? next : "nothing", advice);
        assert_true(advice || !next);
    }
    assert_int_equal(found, 1);
    json_decref(all);
}

static void slurmcheck__all_is_well(void **state)
{
    (void)state;
    say("PrologSlurmctld=%s/prologslurmctld");
    say("EpilogSlurmctld=%s/epilogslurmctld");
    say("Prolog=%s/prolog PrologFlags=Contain ClusterName=elcap");
    say("HealthCheckProgram=%s/healthcheck PrivateData=jobs");
    check.sees_all_jobs = true;
    say("Epilog=%s/epilog SwitchType=switch/none PrologEpilogTimeout=300");
    check.plugin.named = check.plugin.known = check.plugin.offered = true;
    slurmcheck_hooks(findings, &check);
    slurmcheck_settings(findings, &check);
    slurmcheck_tasks(findings, &check);
    expect("HealthCheckProgram", "ok", "are ended", NULL);
    expect("hooks", "ok", "of mcastd " MCAST_VERSION, NULL);
    assert_int_equal(findings_count(findings, FINDING_PROBLEM), 0);
    assert_int_equal(findings_count(findings, FINDING_WARNING), 0);
}

static void slurmcheck__nothing_is_there(void **state)
{
    (void)state;
    char line[TEXT_SIZE];
    slurmcheck_hooks(findings, &check);
    slurmcheck_settings(findings, &check);
    slurmcheck_tasks(findings, &check);
    snprintf(line, sizeof line, "slurm.conf: PrologSlurmctld=%s/prologslurmctld", folder);
    expect("PrologSlurmctld", "problem", "nothing is reserved", line);
    snprintf(line, sizeof line, "slurm.conf: Epilog=%s/epilog", folder);
    expect("Epilog", "problem", "stay on the nodes", line);
    expect("PrologFlags", "problem", "without Alloc", "slurm.conf: PrologFlags=Alloc");
    expect("plugstack", "problem", "neither",
           "/etc/slurm/plugstack.conf: optional /usr/lib/slurm/mcast_spank.so");
    expect("ClusterName", "ok", "elcap", NULL);
    expect("HealthCheckProgram", "ok", "never came", "/healthcheck HealthCheckInterval=300");
    expect("SwitchType", "ok", "nobody but mcastd", NULL);
}

/* A site has its own scripts, which call ours, or are ours in a folder of patterns. */
static void slurmcheck__scripts_of_the_site(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "#!/bin/sh\n\"%s/prolog\" || exit 1\n", folder);
    assert_int_equal(folder_write(folder, "own", 0755, text), 0);
    assert_int_equal(folder_write(folder, "other", 0755, "#!/bin/sh\nexit 0\n"), 0);
    assert_int_equal(folder_write(folder, "unable", 0644, "exec $D/mcastd/slurm/epilogslurmctld\n"),
                     0);
    say("Prolog=%s/ow*");
    say("Epilog=%s/other");
    say("EpilogSlurmctld=%s/unable");
    say("PrologSlurmctld=/nowhere/mcastd/slurm/prologslurmctld");
    slurmcheck_hooks(findings, &check);
    expect("Prolog", "ok", "ow*", NULL);
    expect("Epilog", "problem", "does not call mcastd's", "/epilog || exit 1");
    expect("EpilogSlurmctld", "problem", "cannot be run here", "chmod");
    expect("PrologSlurmctld", "problem", "No such file", "install");
}

/* What a script calls is looked for, too; what it calls no more counts for nothing. */
static void slurmcheck__scripts_that_call_nothing(void **state)
{
    (void)state;
    assert_int_equal(folder_write(folder, "gone", 0755,
                                  "#!/bin/sh\nexec /nowhere/mcastd/slurm/prolog || exit 1\n"),
                     0);
    assert_int_equal(folder_write(folder, "not", 0755,
                                  "#!/bin/sh\n # /usr/libexec/mcastd/slurm/epilog\n"
                                  "/usr/libexec/mcastd/slurm/epilogslurmctld\n"),
                     0);
    say("Prolog=%s/gone Epilog=%s/not");
    slurmcheck_hooks(findings, &check);
    expect("Prolog", "problem", "cannot be run here: /nowhere/mcastd/slurm/prolog: No such file",
           "install");
    expect("Epilog", "problem", "does not call mcastd's", "/epilog || exit 1");
}

static void expect_hooks(const char *level, const char *finding, const char *advice)
{
    say("PrologSlurmctld=%s/prologslurmctld");
    slurmcheck_hooks(findings, &check);
    expect("hooks", level, finding, advice);
    teardown(NULL);
    setup(NULL);
}

/* Hooks that were copied, moved, or forgotten when mcastd was upgraded. */
static void slurmcheck__hooks_of_another_installation(void **state)
{
    (void)state;
    char path[TEXT_SIZE];
    write_sourced("0.0.9", folder);
    expect_hooks("warning", "are of mcastd 0.0.9, mcastctl is of " MCAST_VERSION, folder);
    write_sourced(MCAST_VERSION, "/nowhere/bin");
    expect_hooks("problem", "look for /nowhere/bin/mcastctl, which is not there", "--prefix");
    assert_int_equal(unlink(folder_path(path, sizeof path, folder, "site.sh")), 0);
    expect_hooks("problem", "/site.sh is not there", "install mcastd here");
}

/* On a host where it does not run, a script of the site's may not be. */
static void slurmcheck__scripts_elsewhere(void **state)
{
    (void)state;
    check.controller = check.node = false;
    say("PrologSlurmctld=/nowhere/ctld.sh Prolog=/nowhere/mcastd/slurm/prolog");
    slurmcheck_hooks(findings, &check);
    expect("PrologSlurmctld", "warning", "is not on this host",
           "grep mcastd/slurm/prologslurmctld /nowhere/ctld.sh");
    expect("Prolog", "ok", "not looked at", NULL);
}

static void slurmcheck__settings_that_break_it(void **state)
{
    (void)state;
    say("PrologFlags=Alloc,NoHold,X11 SwitchType=switch/hpe_slingshot PrologEpilogTimeout=30");
    say("PrivateData=accounts,jobs ClusterName=El-Cap");
    check.cluster = "el-cap";
    slurmcheck_settings(findings, &check);
    expect("PrologFlags", "problem", "NoHold", "slurm.conf: PrologFlags=Alloc,X11");
    expect("SwitchType", "problem", "VNIs as well", "slurm.conf: SwitchType=switch/none");
    expect("PrologEpilogTimeout", "problem", "after 30 s", "slurm.conf: PrologEpilogTimeout=598");
    expect("PrivateData", "warning", "their own jobs only", "MCAST_SEES_ALL_JOBS=yes");
    expect("ClusterName", "problem", "'el-cap'", "MCAST_CLUSTER=NAME");
}

/* A Slurm that asks the fabric manager itself deletes what is mcastd's (B4). */
static void expect_switch(const char *cluster, const char *level, const char *finding)
{
    check.cluster = cluster;
    slurmcheck_settings(findings, &check);
    expect("SwitchParameters", level, finding, "no fm_url in SwitchParameters");
    teardown(NULL);
    setup(NULL);
}

static void slurmcheck__two_at_the_fabric_manager(void **state)
{
    static const char *const both =
        "SwitchType=switch/hpe_slingshot SwitchParameters=vnis=1-2,fm_url=https://fmn:8000 "
        "ClusterName=elcap";
    (void)state;
    say(both);
    expect_switch("elcap", "problem", "deletes those of running jobs");
    say(both);
    expect_switch("elcap2", "problem", "takes what begins with its name elcap");
    say(both);
    expect_switch("other", "problem", "once more");
    say("SwitchType=switch/none SwitchParameters=fm_url=https://fmn:8000 ClusterName=elcap");
    expect_switch("elcap", "warning", "is ignored");
}

static void slurmcheck__jobs_that_begin_again(void **state)
{
    (void)state;
    say("RequeueExit=100,0-2,142");
    check.stale = true;
    slurmcheck_settings(findings, &check);
    expect("slurmctld", "warning", "a reconfigure is not enough", "restart slurmctld");
    expect("RequeueExit", "warning", "without end", "RequeueExitHold=1");
    teardown(NULL);
    setup(NULL);
    say("JobRequeue=0 RequeueExit=1");
    slurmcheck_settings(findings, &check);
    expect("JobRequeue", "ok", "end instead of being held", "JobRequeue=1");
    expect("RequeueExit", "warning", "without end", "RequeueExitHold=1");
}

static void slurmcheck__how_tasks_are_told(void **state)
{
    (void)state;
    check.plugin.named = check.plugin.required = true;
    slurmcheck_tasks(findings, &check);
    expect("plugstack", "warning", "required", "optional /usr/lib/slurm/mcast_spank.so");
    teardown(NULL);
    setup(NULL);
    check.plugin.named = check.plugin.known = true;
    slurmcheck_tasks(findings, &check);
    expect("plugstack", "problem", "does not offer --mcast", "built with this Slurm's headers");
    teardown(NULL);
    setup(NULL);
    check.plugin.named = true;
    check.grants = "/run/elsewhere";
    slurmcheck_tasks(findings, &check);
    expect("plugstack", "problem", "looks in /run/mcast-slurm",
           "optional /usr/lib/slurm/mcast_spank.so grants=/run/elsewhere");
    teardown(NULL);
    setup(NULL);
    say("TaskProlog=%s/taskprolog");
    slurmcheck_tasks(findings, &check);
    expect("plugstack", "ok", "--comment=mcast:", NULL);
    teardown(NULL);
    setup(NULL);
    say("TaskProlog=%s/taskprolog");
    check.plugin.named = true;
    slurmcheck_tasks(findings, &check);
    expect("TaskProlog", "warning", "hwcoll=off", "no TaskProlog");
    teardown(NULL);
    setup(NULL);
    check.plugin.named = true;
    strcpy(check.plugin.path, "/opt/slurm/lib/mcast_spank.so");
    strcpy(check.plugin.release, "0.0.9");
    slurmcheck_tasks(findings, &check);
    expect("plugstack", "warning", "/opt/slurm/lib/mcast_spank.so is of mcastd 0.0.9",
           "optional /usr/lib/slurm/mcast_spank.so");
}

static void judge_broker(const char *whoami, const char *status)
{
    json_t *who = json_loads(whoami, 0, NULL), *how = json_loads(status, 0, NULL);
    slurmcheck_broker(findings, &check, who, how);
    json_decref(who);
    json_decref(how);
}

static void slurmcheck__the_broker(void **state)
{
    (void)state;
    say("SlurmUser=slurm(64030)");
    judge_broker("{\"identity\":\"uid 64030\",\"clusters\":[\"a\",\"elcap\"]}",
                 "{\"clusters\":[{\"name\":\"elcap\",\"list_command\":true,\"list_failures\":0}]}");
    expect("broker", "ok", "uid 64030 for the resource manager of elcap", NULL);
    expect("list_command", "ok", "asks Slurm", NULL);
    teardown(NULL);
    setup(NULL);
    say("SlurmUser=slurm(64030)");
    judge_broker("{\"identity\":\"uid 64030\",\"clusters\":[]}",
                 "{\"clusters\":[{\"name\":\"elcap\",\"list_command\":false}]}");
    expect("broker", "problem", "is not the resource manager of elcap",
           "mcastd.conf: [cluster \"elcap\"] users = slurm");
    expect("list_command", "problem", "never given back", "/jobs");
    teardown(NULL);
    setup(NULL);
    judge_broker("{\"clusters\":[\"elcap\"]}",
                 "{\"clusters\":[{\"name\":\"elcap\",\"list_command\":true,\"list_failures\":3,"
                 "\"list_error\":\"it ended with 1\"}]}");
    expect("list_command", "problem", "it ended with 1", "mcastd's user");
    teardown(NULL);
    setup(NULL);
    judge_broker("{\"clusters\":[]}", "{\"clusters\":[]}");
    expect("list_command", "problem", "shows no cluster elcap", "[cluster \"elcap\"]");
    teardown(NULL);
    setup(NULL);
    say("SlurmUser=slurm(64030)"); /* root has no say about it */
    check.node = false;
    judge_broker("{\"uid\":0,\"clusters\":[]}", "{}");
    expect("broker", "warning", "only slurm can see", "runuser -u slurm");
    teardown(NULL);
    setup(NULL);
    check.controller = false; /* a node is nobody's resource manager */
    judge_broker("{\"clusters\":[]}", "{}");
    expect("broker", "ok", "it answers", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slurmcheck__all_is_well, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__nothing_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__scripts_of_the_site, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__scripts_that_call_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__hooks_of_another_installation, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__scripts_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__settings_that_break_it, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__two_at_the_fabric_manager, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__jobs_that_begin_again, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__how_tasks_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmcheck__the_broker, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
