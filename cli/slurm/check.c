#include "cli/slurm/check.h"

#include "cli/slurm/hook.h"
#include "cli/slurm/switch.h"
#include "cli/doctor/stamp.h"
#include "base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LINE_SIZE = 1024 };

/* key of slurm.conf, our file, whether it runs where slurmctld does, and what it is for */
struct known_hook {
    const char *key, *file;
    bool controller;
    const char *without;
};

static const struct known_hook known_hooks[] = {
    {"PrologSlurmctld", "prologslurmctld", true, "nothing is reserved for any job"},
    {"EpilogSlurmctld", "epilogslurmctld", true, "what jobs had is not given back when they end"},
    {"Prolog", "prolog", false, "jobs get no CXI services on their nodes"},
    {"Epilog", "epilog", false, "CXI services stay on the nodes when jobs end"},
};

/* ---- hooks ---- */

static void judge_hook(struct findings *findings, const struct slurmcheck *check,
                       const struct known_hook *known)
{
    char own[LINE_SIZE], advice[2 * LINE_SIZE];
    struct slurmhook hook;
    const bool here = known->controller ? check->controller : check->node;
    const char *value = slurmconf_get(check->conf, known->key, 0);
    snprintf(own, sizeof(own), "%.900s/%s", check->hooks, known->file);
    slurmhook_look(&hook, check->conf, known->key, known->file, check->hooks);
    if (!hook.named) {
        snprintf(advice, sizeof(advice), "slurm.conf: %s=%s", known->key, own);
        findings_addf(findings, FINDING_PROBLEM, known->key, advice, "not set: %s", known->without);
    } else if (hook.ours && (hook.there || !here)) {
        findings_addf(findings, FINDING_OK, known->key, NULL, "%s%s", value,
                      here ? "" : " (not looked at: it runs on other hosts)");
    } else if (hook.ours) {
        findings_addf(findings, FINDING_PROBLEM, known->key,
                      "install mcastd's hooks on this host, or mend the path; chmod 755",
                      "it cannot be run here: %s", hook.not_there);
    } else if (!here && !hook.there) {
        snprintf(advice, sizeof(advice), "on a host where it runs: grep mcastd/slurm/%s %s",
                 known->file, value);
        findings_addf(findings, FINDING_WARNING, known->key, advice,
                      "%s is not on this host, so whether it calls mcastd's cannot be seen", value);
    } else {
        snprintf(advice, sizeof(advice), "add to that script: %s || exit 1", own);
        findings_addf(findings, FINDING_PROBLEM, known->key, advice,
                      "%s does not call mcastd's: %s", value, known->without);
    }
}

/* Where the hooks of this folder look for our programs: the first of PATH in what they source. */
static bool find_programs(const char *sourced, char out[LINE_SIZE])
{
    static const char key[] = "PATH=";
    FILE *file = fopen(sourced, "re");
    bool found = false;
    while (file && !found && fgets(out, LINE_SIZE, file)) {
        found = strncmp(out, key, sizeof(key) - 1) == 0;
        if (found)
            memmove(out, out + sizeof(key) - 1, strlen(out + sizeof(key) - 1) + 1);
    }
    if (file)
        fclose(file);
    out[found ? strcspn(out, ":\n") : 0] = '\0';
    return found;
}

/* One folder of hooks that slurm.conf names, on this host: are they whole, and of one release with
 * what looks at them? */
static void judge_folder(struct findings *findings, const struct slurmcheck *check,
                         const char *folder)
{
    char path[2 * LINE_SIZE], release[STAMP_SIZE], programs[LINE_SIZE], advice[2 * LINE_SIZE];
    snprintf(path, sizeof(path), "%s/site.sh", folder);
    if (!find_programs(path, programs)) {
        findings_addf(findings, FINDING_PROBLEM, "hooks",
                      "install mcastd here (cmake --install), instead of copying single files",
                      "%s is not there, or is none of mcastd's: the hooks beside it do nothing",
                      path);
        return;
    }
    stamp_read(path, release);
    snprintf(path, sizeof(path), "%s/mcastctl", programs);
    snprintf(advice, sizeof(advice), "slurm.conf: name the hooks in %.900s", check->hooks);
    if (access(path, X_OK) < 0)
        findings_addf(findings, FINDING_PROBLEM, "hooks",
                      "install them where they are to be: cmake --install build --prefix PREFIX",
                      "those in %s look for %s, which is not there: they were made for another "
                      "place",
                      folder, path);
    else if (strcmp(release, MCAST_VERSION) != 0)
        findings_addf(findings, FINDING_WARNING, "hooks", advice,
                      "those in %s are of mcastd %s, mcastctl is of %s", folder,
                      release[0] ? release : "another release", MCAST_VERSION);
    else
        findings_addf(findings, FINDING_OK, "hooks", NULL, "%s: of mcastd %s", folder, release);
}

static void judge_folders(struct findings *findings, const struct slurmcheck *check)
{
    enum { COUNT = sizeof(known_hooks) / sizeof(known_hooks[0]) };
    char folders[COUNT][SLURMHOOK_PATH_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        struct slurmhook hook;
        slurmhook_look(&hook, check->conf, known_hooks[i].key, known_hooks[i].file, check->hooks);
        char *slash = strrchr(hook.path, '/');
        bool known = !slash || access(hook.path, F_OK) < 0;
        if (slash)
            *slash = '\0';
        for (size_t n = 0; n < count; n++)
            known = known || strcmp(folders[n], hook.path) == 0;
        if (!known)
            memcpy(folders[count++], hook.path, sizeof(hook.path));
    }
    for (size_t n = 0; n < count; n++)
        judge_folder(findings, check, folders[n]);
    if (count > 1)
        findings_addf(findings, FINDING_WARNING, "hooks",
                      "slurm.conf: name all of them in one folder, and remove the other",
                      "slurm.conf names some in %s, some in %s: two installations", folders[0],
                      folders[1]);
}

void slurmcheck_hooks(struct findings *findings, const struct slurmcheck *check)
{
    for (size_t i = 0; i < sizeof(known_hooks) / sizeof(known_hooks[0]); i++)
        judge_hook(findings, check, &known_hooks[i]);
    judge_folders(findings, check);
}

/* ---- settings ---- */

/* The whole line, as it is to be. */
static void advise_flags(const struct slurmcheck *check, char *out, size_t size)
{
    const char *value = slurmconf_get(check->conf, "PrologFlags", 0);
    char *flags = strdup(value ? value : ""), *rest = flags;
    size_t used = (size_t)snprintf(out, size, "slurm.conf: PrologFlags=Alloc");
    for (char *flag; flags && (flag = strsep(&rest, ",")) && used < size;) {
        if (flag[0] && strcasecmp(flag, "NoHold") != 0 && strcasecmp(flag, "Alloc") != 0)
            used += (size_t)snprintf(out + used, size - used, ",%s", flag);
    }
    free(flags);
}

static void judge_flags(struct findings *findings, const struct slurmcheck *check)
{
    char advice[LINE_SIZE];
    const struct slurmconf *conf = check->conf;
    const bool alloc = slurmconf_has(conf, "PrologFlags", "Alloc") ||
                       slurmconf_has(conf, "PrologFlags", "Contain") ||
                       slurmconf_has(conf, "PrologFlags", "X11");
    advise_flags(check, advice, sizeof(advice));
    if (!alloc)
        findings_add(findings, FINDING_PROBLEM, "PrologFlags",
                     "without Alloc, Prolog does not run on nodes before a step does, and Epilog "
                     "runs where Prolog never did",
                     advice);
    else if (slurmconf_has(conf, "PrologFlags", "NoHold"))
        findings_add(findings, FINDING_PROBLEM, "PrologFlags",
                     "with NoHold, tasks can begin before Prolog has made their CXI services",
                     advice);
    else
        findings_add(findings, FINDING_OK, "PrologFlags", "Prolog runs on all nodes of a job first",
                     NULL);
}

/* "1,3-5" */
static bool has_number(const char *list, unsigned long wanted)
{
    while (list && *list) {
        char *end;
        const unsigned long first = strtoul(list, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (end != list && first <= wanted && wanted <= last)
            return true;
        list = end + strcspn(end, ",");
        list += *list == ',';
    }
    return false;
}

/* A refused batch job is requeued, held. */
static void judge_requeue(struct findings *findings, const struct slurmcheck *check)
{
    const char *value = slurmconf_get(check->conf, "JobRequeue", 0);
    if (value && strcmp(value, "0") == 0)
        findings_add(findings, FINDING_OK, "JobRequeue",
                     "batch jobs that are refused, or cannot begin on a node, end instead of being "
                     "held, unless they were submitted with --requeue",
                     "better: slurm.conf: JobRequeue=1");
    if (has_number(slurmconf_get(check->conf, "RequeueExit", 0), 1))
        findings_add(findings, FINDING_WARNING, "RequeueExit",
                     "with 1, a batch script that ends as a step does that must have hardware "
                     "collectives and has none (hwcoll=required) is begun again without end",
                     "slurm.conf: RequeueExitHold=1, and RequeueExit without 1");
}

static void judge_timeout(struct findings *findings, const struct slurmcheck *check)
{
    const char *value = slurmconf_get(check->conf, "PrologEpilogTimeout", 0);
    const unsigned long seconds = value ? strtoul(value, NULL, 10) : 0;
    char advice[LINE_SIZE];
    snprintf(
        advice, sizeof(advice),
        "slurm.conf: PrologEpilogTimeout=%lu; or less of MCAST_PATIENCE and MCAST_RETRY_BUSY in "
        "/etc/mcastd/slurm-hooks",
        2 * check->patience_s);
    if (value && seconds > 0 && seconds <= check->patience_s)
        findings_addf(findings, FINDING_PROBLEM, "PrologEpilogTimeout", advice,
                      "after %lu s Slurm kills hooks that may wait for %lu s, and drains the node",
                      seconds, check->patience_s);
    else
        findings_add(findings, FINDING_OK, "PrologEpilogTimeout", "hooks have the time they need",
                     NULL);
}

static void judge_cluster(struct findings *findings, const struct slurmcheck *check)
{
    const char *name = slurmconf_get(check->conf, "ClusterName", 0);
    if (!cluster_name_valid(check->cluster))
        findings_addf(
            findings, FINDING_PROBLEM, "ClusterName",
            "/etc/mcastd/slurm-hooks: MCAST_CLUSTER=NAME, and mcast_spank.so cluster=NAME",
            "'%.64s' can be no cluster's name for mcastd, which takes 1 to %d of a-z, 0-9 "
            "and _",
            check->cluster, CLUSTER_NAME_MAX);
    else if (name && strcmp(name, check->cluster) != 0)
        findings_addf(findings, FINDING_OK, "ClusterName", NULL, "%s; mcastd knows it as %s", name,
                      check->cluster);
    else
        findings_addf(findings, FINDING_OK, "ClusterName", NULL, "%s", check->cluster);
}

/* For what no Epilog comes after: a node that was down, a job that slurmctld forgot. */
static void judge_health(struct findings *findings, const struct slurmcheck *check)
{
    static const char key[] = "HealthCheckProgram";
    char advice[2 * LINE_SIZE];
    struct slurmhook hook;
    snprintf(advice, sizeof(advice),
             "better: slurm.conf: HealthCheckProgram=%.900s/healthcheck HealthCheckInterval=300",
             check->hooks);
    slurmhook_look(&hook, check->conf, key, "healthcheck", check->hooks);
    if (hook.ours)
        findings_add(findings, FINDING_OK, key,
                     "services of jobs whose Epilog never came are ended", NULL);
    else
        findings_add(
            findings, FINDING_OK, key,
            "services of jobs whose Epilog never came stay until the node is started anew, "
            "or mcast-node clean",
            advice);
}

void slurmcheck_settings(struct findings *findings, const struct slurmcheck *check)
{
    judge_cluster(findings, check);
    judge_flags(findings, check);
    if (check->stale)
        findings_add(findings, FINDING_WARNING, "slurmctld",
                     "slurm.conf was changed after it was started: a hook of a kind that it had "
                     "none of before is not run, whatever scontrol shows; a reconfigure is not "
                     "enough",
                     "systemctl restart slurmctld");
    slurmswitch_judge(findings, check->conf, check->cluster);
    judge_requeue(findings, check);
    judge_timeout(findings, check);
    judge_health(findings, check);
    if (slurmconf_has(check->conf, "PrivateData", "jobs") && !check->sees_all_jobs)
        findings_add(findings, FINDING_WARNING, "PrivateData",
                     "users see their own jobs only; so does mcastd, and releases nothing by it",
                     "make mcastd's user an operator, then /etc/mcastd/slurm-hooks: "
                     "MCAST_SEES_ALL_JOBS=yes");
}

/* ---- tasks ---- */

void slurmcheck_tasks(struct findings *findings, const struct slurmcheck *check)
{
    const struct slurmcheck_plugin *plugin = &check->plugin;
    char advice[2 * LINE_SIZE];
    struct slurmhook hook;
    slurmhook_look(&hook, check->conf, "TaskProlog", "taskprolog", check->hooks);
    const bool by_hook = hook.ours;
    if (!plugin->named && !by_hook) {
        snprintf(advice, sizeof(advice),
                 "%s: optional %s (or, without --mcast, slurm.conf: TaskProlog=%.900s/taskprolog)",
                 plugin->file, plugin->own, check->hooks);
        findings_add(findings, FINDING_PROBLEM, "plugstack",
                     "neither mcast_spank.so nor TaskProlog: tasks are not told what their job has",
                     advice);
    } else if (plugin->named && plugin->required) {
        snprintf(advice, sizeof(advice), "%s: optional %s", plugin->file, plugin->own);
        findings_add(findings, FINDING_WARNING, "plugstack",
                     "mcast_spank.so is required: hosts without it start no srun at all", advice);
    } else if (plugin->named && plugin->known && !plugin->offered) {
        snprintf(advice, sizeof(advice),
                 "%s: optional %s, built with this Slurm's headers; srun --help shows --mcast then",
                 plugin->file, plugin->own);
        findings_add(findings, FINDING_PROBLEM, "plugstack",
                     "srun does not offer --mcast: mcast_spank.so is not where the line says (a "
                     "name without a folder means Slurm's PluginDir), or was built for another "
                     "release of Slurm",
                     advice);
    } else if (plugin->named && plugin->release[0] && strcmp(plugin->release, MCAST_VERSION) != 0) {
        snprintf(advice, sizeof(advice), "%s: optional %s", plugin->file, plugin->own);
        findings_addf(findings, FINDING_WARNING, "plugstack", advice,
                      "%s is of mcastd %s, mcastctl is of %s: a copy that was not renewed",
                      plugin->path, plugin->release, MCAST_VERSION);
    } else if (plugin->named && strcmp(plugin->grants, check->grants) != 0) {
        snprintf(advice, sizeof(advice), "%s: optional %s grants=%.400s", plugin->file, plugin->own,
                 check->grants);
        findings_addf(findings, FINDING_PROBLEM, "plugstack", advice,
                      "mcast_spank.so looks in %s for what Prolog puts down in %s (MCAST_GRANTS)",
                      plugin->grants, check->grants);
    } else if (plugin->named && by_hook) {
        findings_add(findings, FINDING_WARNING, "TaskProlog",
                     "each task is told once more what mcast_spank.so has told it, and a step with "
                     "hwcoll=off has hardware collectives again",
                     "slurm.conf: no TaskProlog, or one that does not call mcastd's");
    } else {
        findings_addf(findings, FINDING_OK, "plugstack", NULL, "%s",
                      plugin->named ? "mcast_spank.so gives tasks their environment, and --mcast"
                                    : "TaskProlog gives tasks their environment; --mcast is not "
                                      "offered, only --comment=mcast:…");
    }
}

/* ---- the broker ---- */

static const json_t *find_named(const json_t *list, const char *name)
{
    size_t index;
    const json_t *one;
    json_array_foreach(list, index, one)
    {
        const char *text = json_is_string(one) ? json_string_value(one)
                                               : json_string_value(json_object_get(one, "name"));
        if (text && strcmp(text, name) == 0)
            return one;
    }
    return NULL;
}

/* Whether somebody else than SlurmUser, "slurm(64030)", has asked. */
static bool is_other(const char *user, const json_t *whoami)
{
    const char *number = user ? strchr(user, '(') : NULL;
    const json_t *uid = json_object_get(whoami, "uid");
    return number && json_is_integer(uid) && json_integer_value(uid) != atoll(number + 1);
}

static void judge_manager(struct findings *findings, const struct slurmcheck *check,
                          const json_t *whoami)
{
    const char *user = slurmconf_get(check->conf, "SlurmUser", 0);
    const char *identity = json_string_value(json_object_get(whoami, "identity"));
    const int length = user ? (int)strcspn(user, "(") : 0;
    char advice[LINE_SIZE];
    if (find_named(json_object_get(whoami, "clusters"), check->cluster)) {
        findings_addf(findings, FINDING_OK, "broker", NULL,
                      "it answers, and takes %s for the resource manager of %s",
                      identity ? identity : "you", check->cluster);
    } else if (check->controller && is_other(user, whoami)) {
        snprintf(advice, sizeof(advice), "runuser -u %.*s -- mcastctl check slurm", length, user);
        findings_addf(findings, check->node ? FINDING_OK : FINDING_WARNING, "broker", advice,
                      "it answers; whether it takes %.*s for the resource manager of %s only %.*s "
                      "can see",
                      length, user, check->cluster, length, user);
    } else if (check->controller) {
        snprintf(advice, sizeof(advice), "mcastd.conf: [cluster \"%.32s\"] users = %.*s",
                 check->cluster, length, user ? user : "");
        findings_addf(findings, FINDING_PROBLEM, "broker", advice,
                      "it answers, but %s is not the resource manager of %s",
                      identity ? identity : "who asks", check->cluster);
    } else {
        findings_add(findings, FINDING_OK, "broker", "it answers", NULL);
    }
}

static void judge_list(struct findings *findings, const struct slurmcheck *check,
                       const json_t *cluster)
{
    char advice[2 * LINE_SIZE];
    const json_int_t failures = json_integer_value(json_object_get(cluster, "list_failures"));
    const char *error = json_string_value(json_object_get(cluster, "list_error"));
    snprintf(advice, sizeof(advice), "mcastd.conf: [cluster \"%.32s\"] list_command = %.900s/jobs",
             check->cluster, check->hooks);
    if (!json_is_true(json_object_get(cluster, "list_command")))
        findings_add(findings, FINDING_PROBLEM, "list_command",
                     "not set: jobs whose epilog Slurm never ran are never given back", advice);
    else if (failures > 0 && error && error[0])
        findings_addf(findings, FINDING_PROBLEM, "list_command",
                      "run it as mcastd's user and see; docs/operations.md",
                      "it fails (%lld times so far): %s", (long long)failures, error);
    else
        findings_add(findings, FINDING_OK, "list_command",
                     "mcastd asks Slurm which jobs are active", NULL);
}

void slurmcheck_broker(struct findings *findings, const struct slurmcheck *check,
                       const json_t *whoami, const json_t *status)
{
    const json_t *clusters = json_object_get(status, "clusters");
    const json_t *cluster = find_named(clusters, check->cluster);
    char advice[LINE_SIZE];
    if (whoami)
        judge_manager(findings, check, whoami);
    snprintf(advice, sizeof(advice), "mcastd.conf: a section [cluster \"%.32s\"]", check->cluster);
    if (cluster)
        judge_list(findings, check, cluster);
    else if (clusters && check->controller)
        findings_addf(findings, FINDING_PROBLEM, "list_command", advice,
                      "the broker shows no cluster %s", check->cluster);
}
