/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/localfiles.h"
#include "cli/program.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 16384 };

/* What the files say about other files. Everything else about them is mcastd --check's to say. */
enum { FM_URL, AUTH, AUTHDIR, MTLS_KEY, TLS_KEY, MUNGE_SOCKET, KEY_FILE, VALUE_COUNT };

static const struct {
    const char *section, *name;
} keys[VALUE_COUNT] = {
    [FM_URL] = {"fm", "url"},           [AUTH] = {"fm", "auth"},
    [AUTHDIR] = {"fm", "authdir"},      [MTLS_KEY] = {"fm", "mtls_key"},
    [TLS_KEY] = {"broker", "tls_key"},  [MUNGE_SOCKET] = {"broker", "munge_socket"},
    [KEY_FILE] = {"state", "key_file"},
};

struct values {
    char text[VALUE_COUNT][LOCALFILES_PATH_MAX];
};

static int store_value(void *data, const char *section, const char *name, const char *value)
{
    struct values *values = data;
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        if (strcmp(section, keys[i].section) == 0 && strcmp(name, keys[i].name) == 0)
            snprintf(values->text[i], LOCALFILES_PATH_MAX, "%s", value);
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
    snprintf(advice, sizeof advice,
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
    return fnmatch("?*.conf", entry->d_name, FNM_PERIOD) == 0;
}

/* The file, and then conf.d beside it, as mcastd reads them; what is wrong in them, mcastd says. */
static void read_all(const char *path, struct values *values)
{
    char folder[LOCALFILES_PATH_MAX], one[2 * LOCALFILES_PATH_MAX];
    struct dirent **entries = NULL;
    const char *slash = strrchr(path, '/');
    (void)ini_parse(path, store_value, values);
    snprintf(folder, sizeof folder, "%.*sconf.d", slash ? (int)(slash + 1 - path) : 0, path);
    int count = scandir(folder, &entries, is_conf, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(one, sizeof one, "%s/%s", folder, entries[i]->d_name);
        (void)ini_parse(one, store_value, values);
        free(entries[i]);
    }
    free(entries);
}

static void judge_login(struct findings *findings, const struct values *values)
{
    char path[LOCALFILES_PATH_MAX + 32];
    const char *folder = values->text[AUTHDIR];
    if (!values->text[FM_URL][0] || strcmp(values->text[AUTH], "none") == 0)
        return;
    bool oauth = strcmp(values->text[AUTH], "oauth") == 0;
    if (!folder[0])
        folder = oauth ? "/etc/wlm-client-auth" : "/etc/fmsim";
    snprintf(path, sizeof path, "%s/%s", folder, oauth ? "client-secret" : "passwd");
    judge_secret(findings, oauth ? "the client secret" : "the password", path);
}

/* ---- mcastd --check ---- */

static bool cut_warning(char *line)
{
    static const char mark[] = " (warning)";
    size_t length = strlen(line);
    if (length < sizeof mark - 1 || strcmp(line + length - (sizeof mark - 1), mark) != 0)
        return false;
    line[length - (sizeof mark - 1)] = '\0';
    return true;
}

static void check_config(struct findings *findings, const char *path)
{
    char output[OUTPUT_SIZE], mcastd[PROGRAM_PATH_SIZE];
    /* The one that was installed with this program, else what PATH finds. */
    if (!program_locate("mcastd", mcastd) && !program_locate("../sbin/mcastd", mcastd))
        snprintf(mcastd, sizeof mcastd, "mcastd");
    const char *argv[] = {mcastd, "--check", "--config", path, NULL};
    int status = program_run(argv, NULL, output, sizeof output);
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
                             : "correct it; a broker that runs keeps its old configuration "
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
    struct values values = {.text[KEY_FILE] = "/etc/mcastd/state.key"};
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
    read_all(config, &values);
    judge_secret(findings, "the state's key", values.text[KEY_FILE]);
    judge_login(findings, &values);
    if (values.text[MTLS_KEY][0])
        judge_secret(findings, "the fabric manager login's key", values.text[MTLS_KEY]);
    if (values.text[TLS_KEY][0])
        judge_secret(findings, "the broker's TLS key", values.text[TLS_KEY]);
    snprintf(munge_socket, LOCALFILES_PATH_MAX, "%s", values.text[MUNGE_SOCKET]);
}
