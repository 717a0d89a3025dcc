/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/service/hostcheck.h"

#include "broker/config/settings.h"
#include "broker/http/auth/pluginlogin.h"
#include "broker/http/listen/tls.h"
#include "launch/sealed.h"
#include "state/store.h"
#include "tokens/rootkeys.h"
#include "tokens/seal_key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DAY_S = 24 * 3600 };

/* RuntimeDirectory=, which is there only while the unit runs. */
#define MADE_BY_UNIT "/run/mcastd"

/* About the file that a key names: "[broker] socket = /run/…", and then what is wrong. */
__attribute__((format(printf, 4, 5))) static void report_file(struct config_reading *reading,
                                                              bool fault,
                                                              const struct config_key *key,
                                                              const char *format, ...)
{
    char words[ERROR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    config_fault(reading, fault, config_origin(reading, key->section, key->name), "[%s] %s = %s%s",
                 key->section, key->name, config_key_path(key, reading->config), words);
}

/* ---- folders ---- */

/* The mcastd of packages finds them there; without packages the administrator
 * makes them, with the owner and mode that the site wants. */
static void check_folder(struct config_reading *reading, const char *section, const char *name)
{
    const struct config_key *key = config_key_find(section, name);
    char folder[PATH_MAX];
    struct stat found;
    config_folder_of(config_key_path(key, reading->config), folder);
    int code = stat(folder, &found) < 0 ? errno : 0;
    if (code == ENOENT && strcmp(folder, MADE_BY_UNIT) == 0)
        report_file(reading, false, key,
                    ": %s is not there: the unit makes it when it starts; without systemd: "
                    "install -d -o USER %s",
                    folder, folder);
    else if (code != 0)
        report_file(reading, true, key, ": %s: %s; make it with install -d -o USER %s", folder,
                    strerror(code), folder);
    else if (!S_ISDIR(found.st_mode))
        report_file(reading, true, key, ": %s is not a folder", folder);
    /* Root always may: that is why --check becomes the service's user. */
    else if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0)
        report_file(reading, true, key,
                    ": uid %ju may not make files in %s: it has to belong to the user of mcastd",
                    (uintmax_t)geteuid(), folder);
}

/* ---- the key of the ledger ---- */

static void check_key(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const struct config_key *key = config_key_find("state", "key_file");
    struct seal_key seal;
    struct error err = {0};
    int rc = seal_key_read(config->state_key_file, &seal, &err);
    if (rc == 0)
        seal_key_wipe(&seal);
    else if (rc == ERROR_NOT_FOUND && store_sqlite_sealed(config->state_path))
        report_file(reading, true, key,
                    " is missing, and secrets in %s are sealed with it: restore it from its "
                    "backup, else see \"A lost key\" in share/doc/mcastd/state.md",
                    config->state_path);
    else if (rc == ERROR_NOT_FOUND)
        report_file(reading, false, key,
                    " is not there yet: mcastd --make-key=USER makes it for the user of mcastd, "
                    "and the unit does so before the first start");
    else
        config_fault(reading, true, config_origin(reading, "state", "key_file"),
                     "[state] key_file: %s", err.text);
}

/* Several brokers: one that made a key for itself could read nothing that the others sealed. */
static void check_shared_key(struct config_reading *reading)
{
    struct seal_key seal;
    struct error err = {0};
    int rc = seal_key_read(reading->config->state_key_file, &seal, &err);
    seal_key_wipe(&seal);
    if (rc < 0)
        config_fault(reading, true, config_origin(reading, "state", "key_file"),
                     "[state] key_file: %s%s", err.text,
                     rc == ERROR_NOT_FOUND ? "; with store = etcd all brokers need the same key: "
                                             "copy it from another one, or make the first with "
                                             "openssl rand -hex 32, mode 0600"
                                           : "");
}

/* ---- the keys of tokens ---- */

/* One that is missing is made at the start, where that can be done. */
static void check_root_keys(struct config_reading *reading)
{
    const char *path = reading->config->root_key_file;
    char folder[PATH_MAX], ledger[PATH_MAX];
    struct rootkeys keys;
    struct error err = {0};
    int rc = rootkeys_read(path, &keys, &err);
    rootkeys_wipe(&keys);
    config_folder_of(path, folder);
    config_folder_of(reading->config->state_path, ledger);
    if (rc == ERROR_NOT_FOUND && strcmp(folder, ledger) != 0)
        check_folder(reading, "broker", "root_key_file");
    else if (rc < 0 && rc != ERROR_NOT_FOUND)
        config_fault(reading, true, config_origin(reading, "broker", "root_key_file"),
                     "[broker] root_key_file: %s", err.text);
}

static void check_launch_keys(struct config_reading *reading)
{
    const struct config_key *key = config_key_find("broker", "launch_key_file");
    const char *path = reading->config->launch_key_file;
    struct launch_keys keys;
    struct error err = {0};
    if (path[0] == '\0')
        return;
    if (launch_keys_read(&keys, path, false, &err) < 0)
        config_fault(reading, true, config_origin(reading, key->section, key->name),
                     "[broker] launch_key_file: %s", err.text);
    else if (keys.count > 1)
        report_file(reading, false, key,
                    " has a next key, which is not used yet: give it to the nodes (mcastd "
                    "--node-launch-key), then mcastd --rotate-launch-key and reload");
    launch_keys_wipe(&keys);
}

static void check_plugin_logins(struct config_reading *reading)
{
    struct error err = {0};
    struct pluginlogins *logins = pluginlogins_read(reading->config, &err);
    if (!logins)
        config_fault(reading, true, NULL, "%s", err.text);
    pluginlogins_destroy(logins);
}

/* ---- certificates ---- */

/* Unix seconds at which the first certificate in a file of PEM ends; -1: there is none. Of a chain
 * that is the one which is shown; in a bundle of authorities there may well be old ones. */
static int64_t end_of(const char *path)
{
    gnutls_datum_t pem = {NULL, 0};
    gnutls_x509_crt_t first;
    int64_t end = -1;
    if (gnutls_load_file(path, &pem) < 0)
        return -1;
    if (gnutls_x509_crt_init(&first) == 0) {
        if (gnutls_x509_crt_import(first, &pem, GNUTLS_X509_FMT_PEM) == 0)
            end = (int64_t)gnutls_x509_crt_get_expiration_time(first);
        gnutls_x509_crt_deinit(first);
    }
    gnutls_free(pem.data);
    return end;
}

static void check_certificate(struct config_reading *reading, const struct config_key *key)
{
    const char *path = config_key_path(key, reading->config);
    struct stat found;
    char day[32];
    struct tm utc;
    if (path[0] == '\0' || stat(path, &found) < 0 || !S_ISREG(found.st_mode))
        return; /* a folder of authorities; a missing file is reported by check.c */
    const time_t now = time(NULL), end = (time_t)end_of(path);
    if (end < 0) {
        report_file(reading, true, key, ": no certificate can be read from it");
        return;
    }
    (void)strftime(day, sizeof day, "%F", gmtime_r(&end, &utc));
    if (end <= now)
        report_file(reading, true, key, " ended on %s: put a new one in its place", day);
    else if (end - now <= (time_t)HOSTCHECK_DAYS * DAY_S)
        report_file(reading, false, key,
                    " ends in %d days, on %s: put a new one in its place and reload",
                    (int)((end - now) / DAY_S), day);
}

/* As the broker will load them: the key fits, and no other user can read it. */
static void check_tls(struct config_reading *reading)
{
    const struct config *config = reading->config;
    struct error err = {0};
    if (config->tls_cert[0] == '\0' || config->tls_key[0] == '\0')
        return;
    struct tls *tls = tls_load(config, &err);
    if (!tls)
        config_fault(reading, true, config_origin(reading, "broker", "tls_cert"), "[broker] %s",
                     err.text);
    tls_drop(tls);
}

/* As the broker will read them; nothing is asked of etcd. */
static void check_etcd(struct config_reading *reading)
{
    const char *endpoints[ETCD_ENDPOINTS_MAX];
    const struct etcd_options options = settings_etcd(reading->config, endpoints);
    struct error err = {0};
    if (reading->config->store != CONFIG_STORE_ETCD)
        return;
    struct etcd *etcd = etcd_open(&options, &err);
    if (!etcd)
        config_fault(reading, true, config_origin(reading, "state", "store"), "[state] %s",
                     err.text);
    etcd_close(etcd);
}

void hostcheck_run(struct config_reading *reading)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    const struct config *config = reading->config;
    check_folder(reading, "broker", "socket");
    if (config->store == CONFIG_STORE_ETCD)
        check_shared_key(reading);
    if (config->store == CONFIG_STORE_SQLITE) {
        check_folder(reading, "state", "path");
        check_key(reading);
        check_root_keys(reading);
    }
    check_launch_keys(reading);
    check_plugin_logins(reading);
    for (size_t i = 0; i < count; i++) {
        if ((keys[i].file & CONFIG_FILE_CERTIFICATE) != 0)
            check_certificate(reading, &keys[i]);
    }
    pathcheck_run(reading);
    if (reading->faults == 0) { /* else it may be the same fault once more */
        check_tls(reading);
        check_etcd(reading);
    }
}
