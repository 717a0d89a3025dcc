/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/pathcheck.h"

#include "broker/config/settings.h"
#include "trust/trustedpath.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A key, for the sentences. */
struct place {
    struct config_reading *reading;
    const char *section, *key;
    const char *subject; /* what others could change there */
};

static const struct config_origin *origin_of(const struct place *place)
{
    return config_origin(place->reading, place->section, place->key);
}

/* False: a fault was reported. What is missing is none here. */
static bool check_path(const struct place *place, const char *path, enum trustedpath_kind kind,
                       uid_t user, bool written)
{
    const struct trustedpath wanted = {
        .path = path, .kind = kind, .user = user, .written = written, .subject = place->subject};
    struct error err = {0};
    if (trustedpath_check(&wanted, &err) != ERROR_REFUSED)
        return true;
    config_fault(place->reading, true, origin_of(place), "[%s] %s: %s", place->section, place->key,
                 err.text);
    return false;
}

static bool check_file(const struct place *place, const char *path)
{
    return path[0] == '\0' || check_path(place, path, TRUSTEDPATH_FILE, geteuid(), false);
}

/* "DIR/FILE": DIR. False: it is too long. */
static bool folder_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    assert(slash != NULL); /* paths of the configuration are absolute */
    if (length >= PATH_MAX)
        return false;
    memcpy(out, path, length);
    out[length] = '\0';
    return true;
}

/* A file that the service may make, in a folder where others can make none. own_folder: that is the
 * service's, else it is root's. */
static bool check_made_file(const struct place *place, const char *path, bool own_folder)
{
    char folder[PATH_MAX];
    return check_path(place, path, TRUSTEDPATH_FILE, geteuid(), true) &&
           (!folder_of(path, folder) ||
            check_path(place, folder, TRUSTEDPATH_FOLDER, geteuid(), own_folder));
}

/* ---- the ledger and the keys ---- */

/* SQLite's own files lie beside what a link leads to. */
static bool check_ledger_at(const struct place *place, const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    char name[PATH_MAX];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        int length = snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        if (length > 0 && (size_t)length < sizeof name && !check_made_file(place, name, true))
            return false;
    }
    return true;
}

static void look_at_state(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const struct place ledger = {reading, "state", "path", "the ledger"};
    const struct place key = {reading, "state", "key_file", "the key that seals the ledger"};
    const struct place roots = {reading, "broker", "root_key_file", "the keys of tokens"};
    if (config->store == CONFIG_STORE_MEMORY)
        return;
    char *target = realpath(config->state_path, NULL);
    if (check_ledger_at(&ledger, config->state_path) && target != NULL &&
        strcmp(target, config->state_path) != 0)
        (void)check_ledger_at(&ledger, target);
    free(target);
    (void)check_made_file(&key, config->state_key_file, false);
    (void)check_made_file(&roots, config->root_key_file, true);
}

/* ---- certificates ---- */

/* What OpenSSL may open in it is found by names that can be worked out. */
static void look_at_folder(const struct place *place, const char *path)
{
    char name[PATH_MAX];
    const struct dirent *entry;
    DIR *folder =
        check_path(place, path, TRUSTEDPATH_FOLDER, geteuid(), false) ? opendir(path) : NULL;
    bool good = true;
    while (folder != NULL && good && (entry = readdir(folder)) != NULL) {
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        good = length < 0 || (size_t)length >= sizeof name || check_file(place, name);
    }
    if (folder != NULL)
        closedir(folder);
}

static void look_at_certificates(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const struct {
        struct place place;
        const char *path;
    } files[] = {
        {{reading, "broker", "tls_cert", "the broker's certificate"}, config->tls_cert},
        {{reading, "broker", "tls_key", "the broker's key"}, config->tls_key},
        {{reading, "broker", "tls_client_ca", "who signs for clients"}, config->tls_client_ca},
        {{reading, "fm", "mtls_cert", "the login's certificate"}, config->fm_mtls_cert},
        {{reading, "fm", "mtls_key", "the login's key"}, config->fm_mtls_key},
    };
    const struct place ca = {reading, "fm", "ca", "who signs for the fabric manager"};
    struct stat found;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        (void)check_file(&files[i].place, files[i].path);
    if (config->fm_ca[0] != '\0' && stat(config->fm_ca, &found) == 0 && S_ISDIR(found.st_mode))
        look_at_folder(&ca, config->fm_ca);
    else
        (void)check_file(&ca, config->fm_ca);
}

/* ---- the login at the fabric manager ---- */

static bool look_at_authdir(struct config_reading *reading)
{
    static const char *const basic[] = {"passwd", NULL};
    static const char *const oauth[] = {"endpoint", "client-id", "client-secret", NULL};
    static const char *const none[] = {NULL};
    const struct config *config = reading->config;
    const struct place place = {reading, "fm", "authdir", "the login at the fabric manager"};
    const char *const *names = config->fm_auth == CONFIG_AUTH_BASIC   ? basic
                               : config->fm_auth == CONFIG_AUTH_OAUTH ? oauth
                                                                      : none;
    char path[PATH_MAX];
    for (; *names != NULL; names++) {
        int length = snprintf(path, sizeof path, "%s/%s", config->fm_authdir, *names);
        if (length > 0 && (size_t)length < sizeof path && !check_file(&place, path))
            return false;
    }
    return true;
}

/* The key that names the file which a sentence is about. */
static const char *key_named(const struct config *config, const char *sentence)
{
    const struct {
        const char *key, *path;
    } files[] = {{"mtls_cert", config->fm_mtls_cert}, {"mtls_key", config->fm_mtls_key}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path[0] != '\0' && strstr(sentence, files[i].path) != NULL)
            return files[i].key;
    }
    return "authdir";
}

/* One that is not there yet, or that is wrong, is no reason not to start: jobs get their VNIs
 * without it. One that others can read or change has to be mended before it is used (F13). */
static void look_at_login(struct config_reading *reading)
{
    const struct config *config = reading->config;
    struct fmapi_options fabric;
    struct error err = {0};
    if (!settings_fabric(config, &fabric) || !look_at_authdir(reading))
        return;
    int rc = fmapi_check(&fabric, &err);
    const struct place place = {reading, "fm", key_named(config, err.text), ""};
    if (rc < 0)
        config_fault(reading, rc == ERROR_REFUSED, origin_of(&place), "%s", err.text);
}

/* ---- sockets ---- */

/* munged's is its own user's; no other user must be able to answer there, because
 * its answers decide who a client is. */
static void look_at_sockets(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const struct place own = {reading, "broker", "socket", "where clients ask"};
    const struct place munge = {reading, "broker", "munge_socket", "who clients are taken for"};
    struct error err = {0};
    uid_t owner = 0;
    (void)check_path(&own, config->socket, TRUSTEDPATH_ENTRY, geteuid(), true);
    if (config->munge_socket[0] == '\0')
        return;
    int rc = trustedpath_socket_owner(config->munge_socket, &owner, &err);
    if (rc == ERROR_REFUSED)
        config_fault(reading, true, origin_of(&munge), "[broker] munge_socket: %s", err.text);
    else if (rc == 0)
        (void)check_path(&munge, config->munge_socket, TRUSTEDPATH_ENTRY, owner, false);
}

/* ---- list_command ---- */

/* What others than root and this user can change is a fault. A command that is missing or cannot be
 * executed is a warning: jobs start without it. */
static void look_at_commands(struct config_reading *reading)
{
    for (uint32_t i = 0; i < reading->config->core.cluster_count; i++) {
        char *const *words = reading->config->clusters[i].list_command;
        struct error err = {0};
        int rc = words != NULL ? trustedcommand_check(words, &err) : 0;
        if (rc == ERROR_REFUSED)
            config_fault(reading, true, config_cluster_origin(reading, i, "list_command"),
                         "list_command: %s", err.text);
        else if (rc < 0)
            config_fault(reading, false, config_cluster_origin(reading, i, "list_command"),
                         "list_command: %s; until that is mended, jobs whose end was missed are "
                         "not found",
                         err.text);
    }
}

void pathcheck_run(struct config_reading *reading)
{
    look_at_commands(reading);
    look_at_sockets(reading);
    look_at_state(reading);
    look_at_certificates(reading);
    look_at_login(reading);
}
