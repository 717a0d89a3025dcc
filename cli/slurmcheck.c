#include "cli/slurmcheck.h"

#include "core/names.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LINE_SIZE = 1024, SCRIPT_SIZE = 65536 };

/* key of slurm.conf, our file, whether it runs where slurmctld does, and what it is for */
struct hook {
    const char *key, *file;
    bool controller;
    const char *without;
};

static const struct hook hooks[] = {
    {"PrologSlurmctld", "prologslurmctld", true, "nothing is reserved for any job"},
    {"EpilogSlurmctld", "epilogslurmctld", true, "what jobs had is not given back when they end"},
    {"Prolog", "prolog", false, "jobs get no CXI services on their nodes"},
    {"Epilog", "epilog", false, "CXI services stay on the nodes when jobs end"},
};

/* ---- hooks ---- */

/* A script of the site's may call ours, by its whole path or by its folder's usual name. */
static bool calls_ours(const char *path, const struct hook *hook)
{
    char text[SCRIPT_SIZE], ours[128];
    snprintf(ours, sizeof(ours), "mcastd/slurm/%s", hook->file);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    return strstr(text, ours) != NULL;
}

static bool ends_in(const char *path, const char *end)
{
    const size_t length = strlen(path), wanted = strlen(end);
    return length >= wanted && strcmp(path + length - wanted, end) == 0;
}

struct look {
    bool ours, there; /* one of them is, or calls, ours; all can be run */
    char not_there[LINE_SIZE];
};

static void look_at(const char *path, const char *own, const struct hook *hook, struct look *look)
{
    char usual[128];
    snprintf(usual, sizeof(usual), "/mcastd/slurm/%s", hook->file);
    look->ours =
        look->ours || strcmp(path, own) == 0 || ends_in(path, usual) || calls_ours(path, hook);
    if (access(path, X_OK) == 0)
        return;
    look->there = false;
    snprintf(look->not_there, sizeof(look->not_there), "%.900s: %s", path, strerror(errno));
}

/* All values of the key, which may be patterns; false: it has none. */
static bool look_at_all(const struct slurmcheck *check, const char *own, const struct hook *hook,
                        struct look *look)
{
    const char *value;
    size_t n = 0;
    *look = (struct look){.there = true};
    for (; (value = slurmconf_get(check->conf, hook->key, n)); n++) {
        glob_t found;
        const bool any = glob(value, 0, NULL, &found) == 0;
        for (size_t i = 0; any && i < found.gl_pathc; i++)
            look_at(found.gl_pathv[i], own, hook, look);
        if (any)
            globfree(&found);
        else
            look_at(value, own, hook, look);
    }
    return n > 0;
}

static void judge_hook(struct findings *findings, const struct slurmcheck *check,
                       const struct hook *hook)
{
    char own[LINE_SIZE], advice[2 * LINE_SIZE];
    struct look look;
    const bool here = hook->controller ? check->controller : check->node;
    snprintf(own, sizeof(own), "%.900s/%s", check->hooks, hook->file);
    if (!look_at_all(check, own, hook, &look)) {
        snprintf(advice, sizeof(advice), "slurm.conf: %s=%s", hook->key, own);
        findings_addf(findings, FINDING_PROBLEM, hook->key, advice, "not set: %s", hook->without);
    } else if (look.ours && (look.there || !here)) {
        findings_addf(findings, FINDING_OK, hook->key, NULL, "%s%s",
                      slurmconf_get(check->conf, hook->key, 0),
                      here ? "" : " (not looked at: it runs on other hosts)");
    } else if (look.ours) {
        findings_addf(findings, FINDING_PROBLEM, hook->key,
                      "install mcastd's hooks on this host, or mend the path; chmod 755",
                      "it cannot be run here: %s", look.not_there);
    } else if (!here && !look.there) {
        snprintf(advice, sizeof(advice), "on a host where it runs: grep mcastd/slurm/%s %s",
                 hook->file, slurmconf_get(check->conf, hook->key, 0));
        findings_addf(findings, FINDING_WARNING, hook->key, advice,
                      "%s is not on this host, so whether it calls mcastd's cannot be seen",
                      slurmconf_get(check->conf, hook->key, 0));
    } else {
        snprintf(advice, sizeof(advice), "add to that script: %s || exit 1", own);
        findings_addf(findings, FINDING_PROBLEM, hook->key, advice, "%s does not call mcastd's: %s",
                      slurmconf_get(check->conf, hook->key, 0), hook->without);
    }
}

void slurmcheck_hooks(struct findings *findings, const struct slurmcheck *check)
{
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        judge_hook(findings, check, &hooks[i]);
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

static void judge_switch(struct findings *findings, const struct slurmcheck *check)
{
    const char *type = slurmconf_get(check->conf, "SwitchType", 0);
    if (type && strcmp(type, "switch/hpe_slingshot") == 0)
        findings_add(
            findings, FINDING_PROBLEM, "SwitchType",
            "switch/hpe_slingshot gives out VNIs as well, and neither knows of the other's",
            "slurm.conf: SwitchType=switch/none");
    else
        findings_add(findings, FINDING_OK, "SwitchType", "nobody but mcastd gives out VNIs", NULL);
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
    static const struct hook health = {"HealthCheckProgram", "healthcheck", false, ""};
    char own[LINE_SIZE], advice[2 * LINE_SIZE];
    struct look look;
    snprintf(own, sizeof(own), "%.900s/%s", check->hooks, health.file);
    snprintf(advice, sizeof(advice),
             "better: slurm.conf: HealthCheckProgram=%s HealthCheckInterval=300", own);
    if (look_at_all(check, own, &health, &look) && look.ours)
        findings_add(findings, FINDING_OK, health.key,
                     "services of jobs whose Epilog never came are ended", NULL);
    else
        findings_add(
            findings, FINDING_OK, health.key,
            "services of jobs whose Epilog never came stay until the node is started anew, "
            "or mcast-node clean",
            advice);
}

void slurmcheck_settings(struct findings *findings, const struct slurmcheck *check)
{
    judge_cluster(findings, check);
    judge_flags(findings, check);
    judge_switch(findings, check);
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
    static const struct hook task = {"TaskProlog", "taskprolog", false, ""};
    const struct slurmcheck_plugin *plugin = &check->plugin;
    char own[LINE_SIZE], advice[2 * LINE_SIZE];
    struct look look;
    snprintf(own, sizeof(own), "%.900s/%s", check->hooks, task.file);
    const bool by_hook = look_at_all(check, own, &task, &look) && look.ours;
    if (!plugin->named && !by_hook) {
        snprintf(advice, sizeof(advice),
                 "%s: optional %s (or, without --mcast, slurm.conf: TaskProlog=%.900s)",
                 plugin->file, plugin->own, own);
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

static void judge_manager(struct findings *findings, const struct slurmcheck *check,
                          const json_t *whoami)
{
    const char *user = slurmconf_get(check->conf, "SlurmUser", 0);
    const char *identity = json_string_value(json_object_get(whoami, "identity"));
    const int length = user ? (int)strcspn(user, "(") : 0; /* "slurm(64030)" */
    char advice[LINE_SIZE];
    snprintf(advice, sizeof(advice), "mcastd.conf: [cluster \"%.32s\"] users = %.*s",
             check->cluster, length, user ? user : "");
    if (find_named(json_object_get(whoami, "clusters"), check->cluster))
        findings_addf(findings, FINDING_OK, "broker", NULL,
                      "it answers, and takes %s for the resource manager of %s",
                      identity ? identity : "you", check->cluster);
    else if (check->controller)
        findings_addf(findings, FINDING_PROBLEM, "broker", advice,
                      "it answers, but %s is not the resource manager of %s",
                      identity ? identity : "who asks", check->cluster);
    else
        findings_add(findings, FINDING_OK, "broker", "it answers", NULL);
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
