/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/file.h"

#include "broker/config/settings.h"
#include "trust/trustedpath.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* False: a fault was reported. What is missing is none here. */
static bool check_path(struct config_reading *reading, const struct config_key *key,
                       const char *path, enum trustedpath_kind kind, uid_t user, bool written)
{
    const struct trustedpath wanted = {
        .path = path, .kind = kind, .user = user, .written = written, .subject = key->subject};
    struct error err = {0};
    if (trustedpath_check(&wanted, &err) != ERROR_REFUSED)
        return true;
    config_fault(reading, true, config_origin(reading, key->section, key->name), "[%s] %s: %s",
                 key->section, key->name, err.text);
    return false;
}

static bool check_file(struct config_reading *reading, const struct config_key *key,
                       const char *path)
{
    return path[0] == '\0' || check_path(reading, key, path, TRUSTEDPATH_FILE, geteuid(), false);
}

/* False: longer than any path can be. */
static bool join_path(char out[PATH_MAX], const char *path, const char *between, const char *name)
{
    int length = snprintf(out, PATH_MAX, "%s%s%s", path, between, name);
    return length > 0 && length < PATH_MAX;
}

void config_folder_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    assert(slash); /* paths of the configuration are absolute */
    (void)snprintf(out, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* A file that the service may make, in a folder where others can make none. own_folder: that is the
 * service's, else it is root's. */
static bool check_made_file(struct config_reading *reading, const struct config_key *key,
                            const char *path, bool own_folder)
{
    char folder[PATH_MAX];
    config_folder_of(path, folder);
    return check_path(reading, key, path, TRUSTEDPATH_FILE, geteuid(), true) &&
           check_path(reading, key, folder, TRUSTEDPATH_FOLDER, geteuid(), own_folder);
}

/* ---- the ledger and the keys ---- */

/* SQLite's own files lie beside what a link leads to. */
static bool check_ledger_at(struct config_reading *reading, const struct config_key *key,
                            const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    char name[PATH_MAX];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (join_path(name, path, "", suffixes[i]) && !check_made_file(reading, key, name, true))
            return false;
    }
    return true;
}

static void check_state(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const struct config_key *ledger = config_key_find("state", "path");
    const struct config_key *key = config_key_find("state", "key_file");
    const struct config_key *roots = config_key_find("broker", "root_key_file");
    if (config->store == CONFIG_STORE_ETCD)
        (void)check_made_file(reading, key, config->state_key_file, false);
    if (config->store != CONFIG_STORE_SQLITE)
        return;
    char *target = realpath(config->state_path, NULL);
    if (check_ledger_at(reading, ledger, config->state_path) && target &&
        strcmp(target, config->state_path) != 0)
        (void)check_ledger_at(reading, ledger, target);
    free(target);
    (void)check_made_file(reading, key, config->state_key_file, false);
    (void)check_made_file(reading, roots, config->root_key_file, true);
}

/* ---- certificates ---- */

/* What OpenSSL may open in it is found by names that can be worked out. */
static void check_folder(struct config_reading *reading, const struct config_key *key,
                         const char *path)
{
    char name[PATH_MAX];
    const struct dirent *entry;
    DIR *folder =
        check_path(reading, key, path, TRUSTEDPATH_FOLDER, geteuid(), false) ? opendir(path) : NULL;
    bool good = true;
    while (folder && good && (entry = readdir(folder)))
        good = !join_path(name, path, "/", entry->d_name) || check_file(reading, key, name);
    if (folder)
        closedir(folder);
}

static void check_read_files(struct config_reading *reading)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        struct stat found;
        if ((keys[i].file & CONFIG_FILE_TRUSTED) == 0)
            continue;
        const char *path = config_key_path(&keys[i], reading->config);
        if ((keys[i].file & CONFIG_FILE_CERTIFICATE) != 0 && stat(path, &found) == 0 &&
            S_ISDIR(found.st_mode))
            check_folder(reading, &keys[i], path);
        else
            (void)check_file(reading, &keys[i], path);
    }
}

/* ---- the login at the fabric manager ---- */

static bool check_authdir(struct config_reading *reading)
{
    const struct config_key *key = config_key_find("fm", "authdir");
    char path[PATH_MAX];
    for (const char *const *name = config_login_files(reading->config); *name; name++) {
        if (join_path(path, reading->config->fm_authdir, "/", *name) &&
            !check_file(reading, key, path))
            return false;
    }
    return true;
}

/* The key that names the file which a sentence is about. */
static const char *key_named(const struct config *config, const char *sentence)
{
    if (config->fm_mtls_cert[0] != '\0' && strstr(sentence, config->fm_mtls_cert))
        return "mtls_cert";
    if (config->fm_mtls_key[0] != '\0' && strstr(sentence, config->fm_mtls_key))
        return "mtls_key";
    return "authdir";
}

/* One that is not there yet, or that is wrong, is no reason not to start: jobs get their VNIs
 * without it. One that others can read or change has to be mended before it is used (F13). */
static void check_login(struct config_reading *reading)
{
    const struct config *config = reading->config;
    struct fmapi_options fabric;
    struct error err = {0};
    if (!settings_fabric(config, &fabric) || !check_authdir(reading))
        return;
    int rc = fmapi_check(&fabric, &err);
    if (rc < 0)
        config_fault(reading, rc == ERROR_REFUSED,
                     config_origin(reading, "fm", key_named(config, err.text)), "%s", err.text);
}

/* ---- sockets ---- */

/* munged's is its own user's; no other user must be able to answer there, because
 * its answers decide who a client is. */
static void check_sockets(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const struct config_key *own = config_key_find("broker", "socket");
    const struct config_key *munge = config_key_find("broker", "munge_socket");
    struct error err = {0};
    uid_t owner = 0;
    (void)check_path(reading, own, config->socket, TRUSTEDPATH_ENTRY, geteuid(), true);
    if (config->munge_socket[0] == '\0')
        return;
    int rc = trustedpath_socket_owner(config->munge_socket, &owner, &err);
    if (rc == ERROR_REFUSED)
        config_fault(reading, true, config_origin(reading, "broker", "munge_socket"),
                     "[broker] munge_socket: %s", err.text);
    else if (rc == 0)
        (void)check_path(reading, munge, config->munge_socket, TRUSTEDPATH_ENTRY, owner, false);
}

/* ---- list_command ---- */

/* What others than root and this user can change is a fault. A command that is missing or cannot be
 * executed is a warning: jobs start without it. */
static void check_commands(struct config_reading *reading)
{
    for (uint32_t i = 0; i < reading->config->core.cluster_count; i++) {
        char *const *words = reading->config->clusters[i].list_command;
        struct error err = {0};
        int rc = words ? trustedcommand_check(words, &err) : 0;
        if (rc < 0)
            config_fault(reading, rc == ERROR_REFUSED,
                         config_cluster_origin(reading, i, "list_command"), "list_command: %s%s",
                         err.text,
                         rc == ERROR_REFUSED ? ""
                                             : "; until that is mended, jobs whose end was missed "
                                               "are not found");
    }
}

void pathcheck_run(struct config_reading *reading)
{
    check_commands(reading);
    check_sockets(reading);
    check_state(reading);
    check_read_files(reading);
    check_login(reading);
}
