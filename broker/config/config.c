/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/config.h"

#include "base/memory.h"
#include "broker/config/file.h"
#include "trust/trustedpath.h"
#include "broker/config/table.h"
#include "broker/config/value.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every default of a plain section, or of a cluster. */
static void set_defaults(void *base, bool in_cluster)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        struct error err;
        if (config_key_of_cluster(&keys[i]) != in_cluster || keys[i].initial == NULL)
            continue;
        int rc = config_value_set(&keys[i], base, keys[i].initial, false, &err);
        assert(rc == 0); /* a default that is not allowed is a bug */
        (void)rc;
    }
}

void config_cluster_init(struct config_cluster *cluster)
{
    *cluster = (struct config_cluster){0};
    set_defaults(cluster, true);
}

void config_cluster_release(struct config_cluster *cluster)
{
    config_words_destroy(cluster->users);
    config_words_destroy(cluster->list_command);
    cluster->users = cluster->list_command = NULL;
}

struct config *config_create(void)
{
    struct config *config = memory_zeroed(sizeof *config);
    core_config_init(&config->core);
    set_defaults(config, false);
    for (size_t i = 0; i < CLUSTERS_MAX; i++)
        config_cluster_init(&config->clusters[i]);
    return config;
}

void config_destroy(struct config *config)
{
    if (config == NULL)
        return;
    config_words_destroy(config->admins);
    config_words_destroy(config->metrics_users);
    for (size_t i = 0; i < CLUSTERS_MAX; i++)
        config_cluster_release(&config->clusters[i]);
    free(config);
}

const char *const *config_login_files(const struct config *config)
{
    static const char *const files[][4] = {
        [CONFIG_AUTH_BASIC] = {"passwd", NULL},
        [CONFIG_AUTH_OAUTH] = {"endpoint", "client-id", "client-secret", NULL},
        [CONFIG_AUTH_NONE] = {NULL},
    };
    return files[config->fm_auth];
}

static int is_drop_in(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".conf") == 0;
}

static void read_drop_in(struct config_reading *reading, const char *folder, const char *name)
{
    char path[CONFIG_PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        config_fault(reading, true, NULL, "%s/%s: the path is too long", folder, name);
    else
        config_file_read(reading, path);
}

/* Beside the file. False: its path is too long. */
static bool drop_in_folder(const char *path, char folder[CONFIG_PATH_SIZE])
{
    const char *slash = strrchr(path, '/');
    int length = snprintf(folder, CONFIG_PATH_SIZE, "%.*sconf.d",
                          slash != NULL ? (int)(slash - path) + 1 : 0, path);
    return length >= 0 && length < CONFIG_PATH_SIZE;
}

static void read_drop_ins(struct config_reading *reading, const char *path)
{
    char folder[CONFIG_PATH_SIZE];
    if (!drop_in_folder(path, folder)) {
        config_fault(reading, true, NULL, "the path is longer than %zu bytes", sizeof folder - 1);
        return;
    }
    struct dirent **found;
    int count = scandir(folder, &found, is_drop_in, alphasort);
    if (count < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            config_fault(reading, true, NULL, "%s cannot be read: %s", folder, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        read_drop_in(reading, folder, found[i]->d_name);
        free(found[i]);
    }
    free(found);
}

/* ---- who could have written it ---- */

static void check_trust(struct config_reading *reading, const char *path,
                        enum trustedpath_kind kind, uid_t user, unsigned file)
{
    const struct trustedpath wanted = {
        .path = path,
        .kind = kind,
        .user = user,
        .subject = "the configuration and its admins",
    };
    struct error err = {0};
    if (trustedpath_check(&wanted, &err) == ERROR_REFUSED)
        config_fault(reading, true, &(struct config_origin){.file = file}, "%s", err.text);
}

static void check_all_trust(struct config_reading *reading, const char *path, uid_t user)
{
    char folder[CONFIG_PATH_SIZE];
    for (unsigned i = 0; i < reading->file_count; i++)
        check_trust(reading, reading->files[i], TRUSTEDPATH_FILE, user, i + 1);
    if (drop_in_folder(path, folder))
        check_trust(reading, folder, TRUSTEDPATH_FOLDER, user, 1);
}

/* ---- all of it ---- */

static int load_files(struct config *config, const char *path, bool judge, uid_t user,
                      config_look_fn *look, config_report_fn *report, void *arg)
{
    struct config_reading *reading = memory_zeroed(sizeof *reading);
    bool understood = false;
    reading->config = config;
    reading->report = report;
    reading->arg = arg;
    /* Without the first file, every key would be reported as missing. */
    if (config_file_read(reading, path)) {
        read_drop_ins(reading, path);
        understood = reading->faults == 0;
        config_check(reading);
    }
    if (judge)
        check_all_trust(reading, path, user);
    if (understood && look != NULL)
        look(reading);
    unsigned faults = reading->faults;
    config_file_release(reading);
    free(reading);
    return faults == 0 ? 0 : ERROR_INVALID;
}

int config_load(struct config *config, const char *path, config_report_fn *report, void *arg)
{
    return load_files(config, path, false, 0, NULL, report, arg);
}

int config_load_as(struct config *config, const char *path, uid_t user, config_look_fn *look,
                   config_report_fn *report, void *arg)
{
    return load_files(config, path, true, user, look, report, arg);
}
