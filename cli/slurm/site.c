#include "cli/slurm/site.h"

#include "base/duration.h"
#include "cli/doctor/place.h"
#include "cli/slurm/plugstack.h"
#include "cli/program.h"
#include "cli/doctor/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of the hooks and of the plugin alike. */
#define SLURMSITE_GRANTS "/run/mcast-slurm"

enum {
    TEXT_SIZE = 262144,
    PATH_SIZE = 400,
    LINE_SIZE = 1024,
    DEPTH_MAX = 4,
    PATIENCE_S = 60,
    RETRY_BUSY_S = 300
};

/* ---- files ---- */

/* For free(); NULL with errno. Longer ones are cut. */
static char *read_text(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = file < 0 ? NULL : malloc(TEXT_SIZE);
    size_t used = 0;
    ssize_t got = text ? 1 : -1;
    while (got > 0 && used < TEXT_SIZE - 1) {
        got = read(file, text + used, TEXT_SIZE - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    const int cause = errno;
    if (file >= 0)
        close(file);
    if (got < 0) {
        free(text);
        errno = cause;
        return NULL;
    }
    text[used] = '\0';
    return text;
}

static void find_hooks(struct slurmsite *site, const char *given)
{
    if (given)
        snprintf(site->hooks, sizeof(site->hooks), "%s", given);
    else if (!place_find(MCAST_TO_LIBEXEC "/mcastd/slurm", site->hooks))
        snprintf(site->hooks, sizeof(site->hooks), "/usr/libexec/mcastd/slurm");
    site->check.hooks = site->hooks;
}

/* ---- slurm.conf ---- */

static int read_conf_file(struct slurmsite *site, const char *path, struct findings *findings)
{
    char *text = read_text(path);
    if (!text) {
        findings_addf(findings, FINDING_PROBLEM, "slurm.conf", NULL, "%s cannot be read: %s", path,
                      strerror(errno));
        return -1;
    }
    slurmconf_take_file(site->conf, text);
    free(text);
    findings_addf(findings, FINDING_OK, "slurm.conf", NULL,
                  "%s is read; whether slurmctld has read it since it was changed is not known",
                  path);
    return 0;
}

static int ask_scontrol(struct slurmsite *site, struct findings *findings)
{
    static const char *const argv[] = {"scontrol", "show", "config", NULL};
    char *text = malloc(TEXT_SIZE);
    const int rc = text ? program_run(argv, NULL, text, TEXT_SIZE) : PROGRAM_FAILED;
    if (rc == 0)
        slurmconf_take_shown(site->conf, text);
    else if (rc == PROGRAM_NOT_FOUND)
        findings_add(findings, FINDING_PROBLEM, "slurm.conf", "there is no scontrol here",
                     "run this on a host of the Slurm cluster, or with --conf FILE");
    else
        findings_addf(findings, FINDING_PROBLEM, "slurm.conf",
                      "start slurmctld, or judge the file alone: --conf FILE",
                      "scontrol show config fails: %.*s", text ? (int)strcspn(text, "\n") : 0,
                      text ? text : "");
    free(text);
    return rc == 0 ? 0 : -1;
}

/* ---- plugstack.conf ---- */

struct stack {
    struct slurmsite *site;
    int depth;
};

static void read_stack(struct stack *stack, const char *path);

/* As Slurm does: a name without a folder is one of PluginDir. */
static void find_plugin(struct slurmsite *site, const char *named)
{
    struct slurmcheck_plugin *plugin = &site->check.plugin;
    const char *folders = named[0] == '/' ? "" : slurmconf_get(site->conf, "PluginDir", 0);
    snprintf(plugin->path, sizeof(plugin->path), "%s", named[0] == '/' ? named : "");
    while (folders && *folders && !plugin->path[0]) {
        const size_t length = strcspn(folders, ":");
        snprintf(plugin->path, sizeof(plugin->path), "%.*s/%s",
                 (int)(length < PATH_SIZE ? length : PATH_SIZE), folders, named);
        if (access(plugin->path, F_OK) < 0)
            plugin->path[0] = '\0';
        folders += length + (folders[length] ? 1 : 0);
    }
    stamp_read(plugin->path, plugin->release);
}

/* As the plugin does: the last one counts. */
static void take_grants(struct slurmcheck_plugin *plugin, const char *words)
{
    static const char key[] = "grants=", blanks[] = " \t\r";
    snprintf(plugin->grants, sizeof(plugin->grants), SLURMSITE_GRANTS);
    for (words += strspn(words, blanks); *words; words += strspn(words, blanks)) {
        const size_t length = strcspn(words, blanks);
        if (strncmp(words, key, sizeof(key) - 1) == 0 && length > sizeof(key) - 1)
            snprintf(plugin->grants, sizeof(plugin->grants), "%.*s",
                     (int)(length - (sizeof(key) - 1)), words + sizeof(key) - 1);
        words += length;
    }
}

static void take_line(const struct plugstack_line *line, void *data)
{
    struct stack *stack = data;
    struct slurmcheck_plugin *plugin = &stack->site->check.plugin;
    const char *name = strrchr(line->path, '/');
    glob_t found;
    if (line->kind != PLUGSTACK_INCLUDE) {
        if (strcmp(name ? name + 1 : line->path, "mcast_spank.so") == 0) {
            plugin->named = true;
            plugin->required = line->kind == PLUGSTACK_REQUIRED;
            take_grants(plugin, line->words);
            find_plugin(stack->site, line->path);
        }
        return;
    }
    if (stack->depth == DEPTH_MAX || glob(line->path, 0, NULL, &found) != 0)
        return;
    struct stack below = {stack->site, stack->depth + 1};
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_stack(&below, found.gl_pathv[i]);
    globfree(&found);
}

static void read_stack(struct stack *stack, const char *path)
{
    char *text = read_text(path);
    if (text)
        (void)plugstack_read(text, take_line, stack);
    free(text);
}

static void read_plugins(struct slurmsite *site, const char *given)
{
    static const char *const argv[] = {"srun", "--help", NULL};
    struct slurmcheck_plugin *plugin = &site->check.plugin;
    struct stack stack = {site, 0};
    char own[PLACE_SIZE];
    const char *path = slurmconf_get(site->conf, "PlugStackConfig", 0);
    const char *conf = given ? given : slurmconf_get(site->conf, "SLURM_CONF", 0);
    const char *slash = conf ? strrchr(conf, '/') : NULL;
    if (path)
        snprintf(plugin->file, sizeof(plugin->file), "%.500s", path);
    else
        snprintf(plugin->file, sizeof(plugin->file), "%.*s/plugstack.conf",
                 slash ? (int)(slash - conf) : (int)strlen("/etc/slurm"),
                 slash ? conf : "/etc/slurm");
    if (place_find(MCAST_TO_SLURM "/mcast_spank.so", own))
        snprintf(plugin->own, sizeof(plugin->own), "%.500s", own);
    else
        snprintf(plugin->own, sizeof(plugin->own), "mcast_spank.so");
    read_stack(&stack, plugin->file);
    char *text = malloc(TEXT_SIZE);
    plugin->known = text && program_run(argv, NULL, text, TEXT_SIZE) == 0;
    plugin->offered = plugin->known && strstr(text, "--mcast=");
    free(text);
}

/* ---- this host ---- */

/* SlurmctldHost=name(address), one or several. */
static bool is_controller(const struct slurmconf *conf)
{
    char host[256] = "";
    const char *value;
    (void)gethostname(host, sizeof(host) - 1);
    host[strcspn(host, ".")] = '\0';
    for (size_t n = 0; (value = slurmconf_get(conf, "SlurmctldHost", n)); n++) {
        const size_t length = strcspn(value, "(.");
        if (length == strlen(host) && strncmp(value, host, length) == 0)
            return true;
    }
    return false;
}

/* slurmctld says when it began, in local time; a reconfigure leaves that as it is. */
static bool is_stale(const struct slurmconf *conf)
{
    const char *path = slurmconf_get(conf, "SLURM_CONF", 0);
    const char *begun = slurmconf_get(conf, "BOOT_TIME", 0);
    struct tm date = {.tm_isdst = -1};
    struct stat status;
    return path && begun && strptime(begun, "%Y-%m-%dT%H:%M:%S", &date) &&
           stat(path, &status) == 0 && status.st_mtime > mktime(&date);
}

static bool has_slurmd(void)
{
    static const char *const argv[] = {"slurmd", "-V", NULL};
    char text[256];
    return program_run(argv, NULL, text, sizeof(text)) == 0;
}

static void name_cluster(struct slurmsite *site, const char *given)
{
    const char *name = given ? given : slurmsite_setting(site, "MCAST_CLUSTER");
    if (!name)
        name = slurmconf_get(site->conf, "ClusterName", 0);
    snprintf(site->cluster, sizeof(site->cluster), "%.120s", name ? name : "");
    site->check.cluster = site->cluster;
}

/* For a broker that is away, and for services that are busy: as the hooks take it. */
static unsigned long longest_patience(const struct slurmsite *site)
{
    const char *broker = slurmsite_setting(site, "MCAST_PATIENCE");
    const char *busy = slurmsite_setting(site, "MCAST_RETRY_BUSY");
    const unsigned long first = broker ? strtoul(broker, NULL, 10) : PATIENCE_S;
    const int64_t ms = busy ? duration_parse(busy, DURATION_DAYS, 3650 * DURATION_DAY_MS) : -1;
    const unsigned long second = ms > 0 ? (unsigned long)(ms / 1000) : RETRY_BUSY_S;
    return first > second ? first : second;
}

static void read_settings(struct slurmsite *site, const char *path)
{
    char *text = read_text(path ? path : "/etc/mcastd/slurm-hooks");
    if (text)
        slurmconf_take_file(site->settings, text);
    free(text);
}

int slurmsite_read(struct slurmsite *site, const struct slurmsite_options *options,
                   const char *cluster, struct findings *findings)
{
    *site = (struct slurmsite){.conf = slurmconf_create(), .settings = slurmconf_create()};
    if (!site->conf || !site->settings)
        return -1;
    site->check.conf = site->conf;
    find_hooks(site, options->hooks);
    read_settings(site, options->settings);
    if (options->conf ? read_conf_file(site, options->conf, findings) < 0
                      : ask_scontrol(site, findings) < 0)
        return -1;
    name_cluster(site, cluster);
    read_plugins(site, options->conf);
    const char *grants = slurmsite_setting(site, "MCAST_GRANTS");
    site->check.grants = grants ? grants : SLURMSITE_GRANTS;
    const char *sees_all = slurmsite_setting(site, "MCAST_SEES_ALL_JOBS");
    site->check.sees_all_jobs = sees_all && strcmp(sees_all, "yes") == 0;
    site->check.patience_s = longest_patience(site);
    site->check.controller = is_controller(site->conf);
    site->check.stale = site->check.controller && is_stale(site->conf);
    site->check.node = options->node || (!site->check.controller && has_slurmd());
    return 0;
}

void slurmsite_release(struct slurmsite *site)
{
    slurmconf_destroy(site->conf);
    slurmconf_destroy(site->settings);
}

const char *slurmsite_setting(const struct slurmsite *site, const char *name)
{
    return slurmconf_get(site->settings, name, 0);
}

/* As the hooks have it. */
static void set_surroundings(const struct slurmsite *site)
{
    static const char *const names[] = {"MCAST_URL", "MCAST_CACERT",       "MCAST_CERT",
                                        "MCAST_KEY", "MCAST_MUNGE_SOCKET", "MCAST_SERVER_USER"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = slurmsite_setting(site, names[i]);
        if (value)
            (void)setenv(names[i], value, 0);
    }
}

/* Asks for a job that no Slurm has, as a prolog would: a broker that knows of no such job has let
 * this node ask. */
static void judge_standing(struct findings *findings, const struct slurmsite *site,
                           const char *program)
{
    enum { NO_SUCH_JOB = 3 };
    const char *const argv[] = {program, "prolog", "--cluster", site->cluster,
                                "--job", "0",      "--dry-run", NULL};
    char text[LINE_SIZE];
    set_surroundings(site);
    const int rc = program_run(argv, NULL, text, sizeof(text));
    if (rc == NO_SUCH_JOB)
        findings_addf(findings, FINDING_OK, "mcast-node", NULL,
                      "it sees this node's NICs, and the broker answers it");
    else
        findings_addf(findings, FINDING_PROBLEM, "mcast-node",
                      "both sides of it: docs/mcast-node.md, Nodes that report", "%.*s",
                      (int)strcspn(text, "\n"), text);
}

void slurmsite_judge_node(struct findings *findings, const struct slurmsite *site)
{
    char path[PLACE_SIZE], text[LINE_SIZE];
    if (!place_find("mcast-node", path))
        snprintf(path, sizeof(path), "mcast-node");
    const char *const argv[] = {path, "list", NULL};
    const int rc = program_run(argv, NULL, text, sizeof(text));
    if (rc == PROGRAM_NOT_FOUND)
        findings_add(findings, FINDING_PROBLEM, "mcast-node",
                     "it is not on this host, so no job gets services here",
                     "install mcastd on nodes, too");
    else if (rc != 0)
        findings_addf(findings, FINDING_PROBLEM, "mcast-node", "mcast-node list; man mcast-node",
                      "%.*s", (int)strcspn(text, "\n"), text);
    else if (geteuid() != 0)
        findings_add(findings, FINDING_OK, "mcast-node",
                     "it sees this node's NICs; whether the broker answers it only root can see",
                     "run this as root on nodes");
    else
        judge_standing(findings, site, path);
}
