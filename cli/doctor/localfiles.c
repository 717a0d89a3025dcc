/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/doctor.h"
#include "cli/age.h"
#include "cli/command.h"
#include "cli/program.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 16384 };

/* The one value that is needed here; all else about the configuration mcastd --check says. */
static int store_munge_socket(void *data, const char *section, const char *name, const char *value)
{
    if (strcmp(section, "broker") == 0 && strcmp(name, "munge_socket") == 0)
        snprintf(data, LOCALFILES_PATH_MAX, "%s", value);
    return 1;
}

static int is_conf(const struct dirent *entry)
{
    return fnmatch("?*.conf", entry->d_name, FNM_PERIOD) == 0;
}

/* The file, and then those of conf.d beside it. */
static void each_file(const char *path, void (*visit)(void *data, const char *file), void *data)
{
    char folder[LOCALFILES_PATH_MAX], one[2 * LOCALFILES_PATH_MAX];
    struct dirent **entries = NULL;
    const char *slash = strrchr(path, '/');
    visit(data, path);
    snprintf(folder, sizeof folder, "%.*sconf.d", slash ? (int)(slash + 1 - path) : 0, path);
    int count = scandir(folder, &entries, is_conf, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(one, sizeof one, "%s/%s", folder, entries[i]->d_name);
        visit(data, one);
        free(entries[i]);
    }
    free(entries);
}

struct parsing {
    int (*store)(void *data, const char *section, const char *name, const char *value);
    void *data;
};

static void parse_file(void *data, const char *file)
{
    const struct parsing *parsing = data;
    (void)ini_parse(file, parsing->store, parsing->data);
}

void localfiles_read(const char *path,
                     int (*store)(void *data, const char *section, const char *name,
                                  const char *value),
                     void *data)
{
    each_file(path, parse_file, &(struct parsing){store, data});
}

struct newest {
    char file[2 * LOCALFILES_PATH_MAX];
    time_t changed;
};

static void note_newest(void *data, const char *file)
{
    struct newest *newest = data;
    struct stat status;
    if (stat(file, &status) < 0 || status.st_mtime <= newest->changed)
        return;
    newest->changed = status.st_mtime;
    (void)snprintf(newest->file, sizeof newest->file, "%s", file);
}

void localfiles_judge_age(struct findings *findings, const char *path, const json_t *status)
{
    struct newest newest = {0};
    char age[AGE_SIZE], changed[32];
    const char *read = command_text(status, "reloaded");
    struct tm parts;
    if (!read)
        read = command_text(status, "started");
    each_file(path ? path : LOCALFILES_CONFIG, note_newest, &newest);
    if (!read || newest.changed == 0 || json_is_true(json_object_get(status, "reload_refused")))
        return; /* or the broker says it */
    (void)strftime(changed, sizeof changed, "%Y-%m-%dT%H:%M:%SZ",
                   gmtime_r(&newest.changed, &parts));
    age_between(changed, time(NULL), age);
    if (strncmp(changed, read, sizeof "2026-11-28T12:00:00" - 1) > 0)
        findings_add(findings, FINDING_WARNING, "config-age",
                     "mcastd --check, then: systemctl reload mcastd",
                     "%s was changed %s ago, after the broker has read it: what it says is not in "
                     "force",
                     newest.file, age);
}

/* ---- mcastd --check, mcast-node --check ---- */

static bool cut_warning(char *line)
{
    static const char mark[] = " (warning)";
    size_t length = strlen(line);
    if (length < sizeof mark - 1 || strcmp(line + length - (sizeof mark - 1), mark) != 0)
        return false;
    line[length - (sizeof mark - 1)] = '\0';
    return true;
}

/* advice: on what is wrong. */
static void check_config(struct findings *findings, const char *name, const char *path,
                         const char *advice)
{
    char output[OUTPUT_SIZE], program[PROGRAM_PATH_SIZE], elsewhere[64];
    snprintf(elsewhere, sizeof elsewhere, "../sbin/%s", name);
    /* The one that was installed with this program, else what PATH finds. */
    if (!program_locate(name, program) && !program_locate(elsewhere, program))
        snprintf(program, sizeof program, "%s", name);
    const char *argv[] = {program, "--check", "--config", path, NULL};
    int status = program_run(argv, NULL, output, sizeof output);
    if (status < 0) {
        findings_add(findings, FINDING_WARNING, "config",
                     "run this where it is installed, or add its folder to PATH",
                     "%s could not be checked: %s %s", path, name,
                     status == PROGRAM_NOT_FOUND ? "is not there" : "did not end well");
        return;
    }
    bool any = false;
    char *rest = output;
    for (char *line; (line = strsep(&rest, "\n"));) {
        bool warning = cut_warning(line);
        if (!line[0] || (status == 0 && !warning))
            continue;
        any = true;
        findings_add(findings, warning ? FINDING_WARNING : FINDING_PROBLEM, "config",
                     warning ? NULL : advice, "%s", line);
    }
    if (!any && status == 0)
        findings_add(findings, FINDING_OK, "config", NULL, "%s: %s finds nothing wrong in it", path,
                     name);
    else if (!any)
        findings_add(findings, FINDING_PROBLEM, "config", "run it and see",
                     "%s: %s --check ends with %d and says nothing", path, name, status);
}

void localfiles_judge_node(struct findings *findings, const char *path)
{
    /* The files that it names are for root alone to read. */
    if (path || (geteuid() == 0 && access(LOCALFILES_NODE_CONFIG, R_OK) == 0))
        check_config(findings, "mcast-node", path ? path : LOCALFILES_NODE_CONFIG,
                     "correct it: until then no job with VNIs starts here, or the broker is asked "
                     "before it");
}

void localfiles_judge(struct findings *findings, const char *path,
                      char munge_socket[LOCALFILES_PATH_MAX])
{
    const char *config = path ? path : LOCALFILES_CONFIG;
    munge_socket[0] = '\0';
    if (access(config, R_OK) < 0) {
        int cause = errno;
        if (cause == ENOENT && !path)
            findings_add(findings, FINDING_OK, "config", NULL,
                         "there is no %s: no broker is here, or --config names its file", config);
        else
            findings_add(findings, path ? FINDING_PROBLEM : FINDING_OK, "config",
                         cause == EACCES ? "run this as root to have it looked at" : NULL,
                         "%s cannot be read: %s", config, strerror(cause));
        return;
    }
    localfiles_read(config, store_munge_socket, munge_socket);
    if (!path && geteuid() != 0) { /* mcastd --check would take this user for the service's */
        findings_add(findings, FINDING_OK, "config", "run this as root to have it looked at",
                     "%s is not checked: that is done as mcastd's user, which root can become",
                     config);
        return;
    }
    check_config(findings, "mcastd", config,
                 "correct it; a broker that runs keeps its old configuration until then, one that "
                 "is started does not start");
}
