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
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { SYNC_LOT = 4000 /* reservations that one step compares with a sync */ };

/* Every default of plain sections, of a cluster, or of a profile. */
static void set_defaults(void *base, enum config_place place)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        struct error err = {0};
        if (config_key_place(&keys[i]) != place || !keys[i].initial)
            continue;
        int rc = config_value_set(&keys[i], base, keys[i].initial, false, &err);
        assert(rc == 0); /* a default that is not allowed is a bug */
        (void)rc;
    }
}

struct config *config_create(void)
{
    struct config *config = memory_zeroed(sizeof *config);
    config->core.sync_lot = SYNC_LOT;
    set_defaults(config, CONFIG_PLAIN);
    for (size_t i = 0; i <= CLUSTERS_MAX; i++)
        set_defaults(&config->clusters[i], CONFIG_CLUSTER);
    for (size_t i = 0; i <= PROFILES_MAX; i++)
        set_defaults(&config->profiles[i], CONFIG_PROFILE);
    return config;
}

void config_destroy(struct config *config)
{
    if (!config)
        return;
    config_words_destroy(config->admins);
    config_words_destroy(config->metrics_users);
    config_words_destroy(config->shared_users);
    nicbook_destroy(config->nicbook);
    for (size_t i = 0; i < CLUSTERS_MAX; i++) {
        config_words_destroy(config->clusters[i].users);
        config_words_destroy(config->clusters[i].list_command);
    }
    for (size_t i = 0; i < PROFILES_MAX; i++)
        config_words_destroy(config->profiles[i].clusters);
    free(config);
}

const struct config_cluster *config_cluster_find(const struct config *config, const char *name)
{
    for (uint32_t i = 0; i < config->core.cluster_count; i++) {
        if (strcmp(config->clusters[i].name, name) == 0)
            return &config->clusters[i];
    }
    return NULL;
}

const struct config_profile *config_profile_find(const struct config *config, const char *name)
{
    for (uint32_t i = 0; i < config->core.profile_count; i++) {
        if (strcmp(config->profiles[i].name, name) == 0)
            return &config->profiles[i];
    }
    return NULL;
}

const char *const *config_login_files(const struct config *config)
{
    static const char *const files[][4] = {
        [FMAPI_AUTH_BASIC] = {"passwd", NULL},
        [FMAPI_AUTH_OAUTH] = {"endpoint", "client-id", "client-secret", NULL},
        [FMAPI_AUTH_NONE] = {NULL},
    };
    return files[config->fm_auth];
}

static int is_drop_in(const struct dirent *entry)
{
    return fnmatch("*.conf", entry->d_name, FNM_PERIOD) == 0;
}

static void read_drop_ins(struct config_reading *reading, const char *folder)
{
    struct dirent **found;
    int count = scandir(folder, &found, is_drop_in, alphasort);
    if (count < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            config_fault(reading, true, NULL, "%s cannot be read: %s", folder, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        char *path = memory_format("%s/%s", folder, found[i]->d_name);
        (void)config_file_read(reading, path);
        free(path);
        free(found[i]);
    }
    free(found);
}

/* Who could have written it. */
static void check_trust(struct config_reading *reading, const char *folder, uid_t user)
{
    for (unsigned i = 0; i <= reading->file_count; i++) {
        const bool is_file = i < reading->file_count;
        const struct trustedpath wanted = {
            .path = is_file ? reading->files[i] : folder,
            .kind = is_file ? TRUSTEDPATH_FILE : TRUSTEDPATH_FOLDER,
            .user = user,
            .subject = "the configuration and its admins",
        };
        const struct config_origin origin = {.file = is_file ? i + 1 : 1};
        struct error err = {0};
        if (trustedpath_check(&wanted, &err) == ERROR_REFUSED)
            config_fault(reading, true, &origin, "%s", err.text);
    }
}

int config_load(struct config *config, const char *path, uid_t user, config_look_fn *look,
                config_report_fn *report, void *arg)
{
    struct config_reading *reading = memory_zeroed(sizeof *reading);
    const char *slash = strrchr(path, '/');
    char *folder = memory_format("%.*sconf.d", slash ? (int)(slash - path) + 1 : 0, path);
    bool understood = false;
    reading->config = config;
    reading->report = report;
    reading->arg = arg;
    /* Without the first file, every key would be reported as missing. */
    if (config_file_read(reading, path)) {
        read_drop_ins(reading, folder);
        understood = reading->faults == 0;
        config_check(reading);
    }
    if (user != CONFIG_ANY_OWNER)
        check_trust(reading, folder, user);
    if (understood && look)
        look(reading);
    unsigned faults = reading->faults;
    for (unsigned i = 0; i < reading->file_count; i++)
        free(reading->files[i]);
    free(folder);
    free(reading);
    return faults == 0 ? 0 : ERROR_INVALID;
}
