/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/localfiles.h"
#include "cli/program.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 16384 };

/* What the files say about other files. Everything else about them is mcastd --check's to say. */
struct named {
    char fm_url[LOCALFILES_PATH_MAX];
    char auth[LOCALFILES_PATH_MAX], authdir[LOCALFILES_PATH_MAX];
    char mtls_key[LOCALFILES_PATH_MAX], tls_key[LOCALFILES_PATH_MAX];
    char key_file[LOCALFILES_PATH_MAX], munge_socket[LOCALFILES_PATH_MAX];
};

static int take_value(void *data, const char *section, const char *name, const char *value)
{
    struct named *named = data;
    const struct {
        const char *section, *name;
        char *place;
    } wanted[] = {
        {"fm", "url", named->fm_url},           {"fm", "auth", named->auth},
        {"fm", "authdir", named->authdir},      {"fm", "mtls_key", named->mtls_key},
        {"broker", "tls_key", named->tls_key},  {"broker", "munge_socket", named->munge_socket},
        {"state", "key_file", named->key_file},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (strcmp(section, wanted[i].section) == 0 && strcmp(name, wanted[i].name) == 0)
            snprintf(wanted[i].place, LOCALFILES_PATH_MAX, "%s", value);
    }
    return 1;
}

/* ---- one file ---- */

static void judge_secret(struct findings *findings, const char *what, const char *path)
{
    struct stat status;
    char advice[LOCALFILES_PATH_MAX + 64];
    if (stat(path, &status) < 0) {
        /* One that is missing is reported by mcastd, or is made by it. */
        if (errno == EACCES)
            findings_addf(findings, FINDING_OK, "files", "run this as root to have it looked at",
                          "%s %s is out of sight for uid %u", what, path, (unsigned)geteuid());
        return;
    }
    snprintf(advice, sizeof(advice),
             "chmod 0600 %s, and change the secret if others may have read it", path);
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        findings_addf(findings, FINDING_PROBLEM, "files", advice,
                      "%s %s is open to others (mode %04o)", what, path,
                      (unsigned)status.st_mode & 07777U);
    else
        findings_addf(findings, FINDING_OK, "files", NULL, "%s %s is its owner's alone", what,
                      path);
}

/* ---- all of them ---- */

static int is_conf(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > strlen(".conf") && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - strlen(".conf"), ".conf") == 0;
}

/* What is wrong in it, mcastd says. */
static void read_file(const char *path, struct named *named)
{
    (void)ini_parse(path, take_value, named);
}

/* The file, and then conf.d beside it, as mcastd reads them. */
static void read_all(const char *path, struct named *named)
{
    char folder[LOCALFILES_PATH_MAX], one[2 * LOCALFILES_PATH_MAX];
    struct dirent **entries = NULL;
    const char *slash = strrchr(path, '/');
    read_file(path, named);
    snprintf(folder, sizeof(folder), "%.*sconf.d", slash ? (int)(slash + 1 - path) : 0, path);
    int count = scandir(folder, &entries, is_conf, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(one, sizeof(one), "%s/%s", folder, entries[i]->d_name);
        read_file(one, named);
        free(entries[i]);
    }
    free(entries);
}

static void judge_login(struct findings *findings, const struct named *named)
{
    char path[LOCALFILES_PATH_MAX + 32];
    if (!named->fm_url[0] || strcmp(named->auth, "none") == 0)
        return;
    bool oauth = strcmp(named->auth, "oauth") == 0;
    const char *folder = named->authdir[0] ? named->authdir
                         : oauth           ? "/etc/wlm-client-auth"
                                           : "/etc/fmsim";
    snprintf(path, sizeof(path), "%s/%s", folder, oauth ? "client-secret" : "passwd");
    judge_secret(findings, oauth ? "the client secret" : "the password", path);
}

/* ---- mcastd --check ---- */

/* The one that was installed with this program, else what PATH finds. */
static void find_mcastd(char path[PROGRAM_PATH_SIZE])
{
    if (!program_locate("mcastd", path) && !program_locate("../sbin/mcastd", path))
        snprintf(path, PROGRAM_PATH_SIZE, "mcastd");
}

static bool cut_warning(char *line)
{
    static const char mark[] = " (warning)";
    size_t length = strlen(line);
    if (length < sizeof(mark) - 1 || strcmp(line + length - (sizeof(mark) - 1), mark) != 0)
        return false;
    line[length - (sizeof(mark) - 1)] = '\0';
    return true;
}

static void check_config(struct findings *findings, const char *path)
{
    char output[OUTPUT_SIZE], mcastd[PROGRAM_PATH_SIZE];
    find_mcastd(mcastd);
    const char *argv[] = {mcastd, "--check", "--config", path, NULL};
    int status = program_run(argv, NULL, output, sizeof(output));
    if (status < 0) {
        findings_addf(findings, FINDING_WARNING, "config",
                      "run this where mcastd is installed, or add its folder to PATH",
                      "%s could not be checked: mcastd %s", path,
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
        findings_add(findings, warning ? FINDING_WARNING : FINDING_PROBLEM, "config", line,
                     warning ? NULL
                             : "mend it; a broker that runs keeps its old configuration "
                               "until then, one that is started does not start");
    }
    if (!any && status == 0)
        findings_addf(findings, FINDING_OK, "config", NULL, "%s: mcastd finds nothing wrong in it",
                      path);
    else if (!any)
        findings_addf(findings, FINDING_PROBLEM, "config", "run mcastd --check and see",
                      "%s: mcastd --check ends with %d and says nothing", path, status);
}

void localfiles_judge(struct findings *findings, const char *path,
                      char munge_socket[LOCALFILES_PATH_MAX])
{
    struct named named = {.key_file = "/etc/mcastd/state.key"};
    const char *config = path ? path : LOCALFILES_CONFIG;
    munge_socket[0] = '\0';
    if (access(config, R_OK) < 0) {
        int cause = errno;
        if (cause == ENOENT && !path)
            findings_addf(findings, FINDING_OK, "config", NULL,
                          "there is no %s: this is no broker's machine", config);
        else
            findings_addf(findings, path ? FINDING_PROBLEM : FINDING_OK, "config",
                          cause == EACCES ? "run this as root to have it looked at" : NULL,
                          "%s cannot be read: %s", config, strerror(cause));
        return;
    }
    check_config(findings, config);
    read_all(config, &named);
    judge_secret(findings, "the state's key", named.key_file);
    judge_login(findings, &named);
    if (named.mtls_key[0])
        judge_secret(findings, "the fabric manager login's key", named.mtls_key);
    if (named.tls_key[0])
        judge_secret(findings, "the broker's TLS key", named.tls_key);
    snprintf(munge_socket, LOCALFILES_PATH_MAX, "%s", named.munge_socket);
}
