/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/reload.h"

#include "base/memory.h"
#include "broker/config/change.h"
#include "broker/log/log.h"
#include "broker/config/file.h"
#include "broker/config/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reading_line {
    bool fault;
    char *text;
};

/* A reload in progress. What it reads, the configuration, the files that it names and the site's
 * users, takes its time, because of disks and name services: so that is done in a thread of its
 * own, which touches nothing that is in force (F5). */
struct reading {
    struct reload *reload;
    uint64_t rotations; /* of the ring when it began */
    uv_work_t work;

    struct config *config; /* NULL: it has faults, see lines */
    struct reading_line *lines;
    size_t line_count;
    struct error err; /* code 0: what the configuration names can be used. Then these are there: */
    struct http_change *http;
    struct rootkeys keys;
};

/* The command line counts for more than the configuration. */
static void settle_log_level(struct config *config, int log_level)
{
    config->core.trace_level = log_level >= 0 ? log_level : config->log_level;
}

void reload_init(struct reload *reload, struct config *config, const char *path, int log_level)
{
    *reload = (struct reload){.path = path, .log_level = log_level, .config = config};
    settle_log_level(config, log_level);
}

void reload_release(struct reload *reload)
{
    config_destroy(reload->config);
    reload->config = NULL;
}

/* True when some key can only be changed by a restart; each is named. */
static bool need_restart(struct reload *reload, const struct config_changes *changes)
{
    bool needed = false;
    for (size_t i = 0; i < changes->count; i++) {
        const struct config_change *change = &changes->items[i];
        if (!change->key || change->contents || !change->key->restart)
            continue;
        log_line(LOG_ERR, "reload: %s needs a restart", change->words);
        if (!needed)
            (void)snprintf(reload->refusal, sizeof reload->refusal, "%.280s needs a restart",
                           change->words);
        needed = true;
    }
    return needed;
}

/* 0 for a broker that is alone. */
static int change_etcd(const struct reload *reload, const struct config *config, struct error *err)
{
    const char *endpoints[ETCD_ENDPOINTS_MAX];
    if (!reload->etcd)
        return 0;
    char *shared = settings_shared(config);
    struct etcd_options options = settings_etcd(config, endpoints);
    options.configuration = shared;
    const int code = etcd_change(reload->etcd, &options, err);
    free(shared);
    return code;
}

/* Everything that can fail comes before everything that changes something. */
static int apply_changes(struct reload *reload, struct reading *reading,
                         const struct config_changes *changes, struct error *err)
{
    const struct config *config = reading->config;
    *err = reading->err;
    int rc = err->code == 0 ? http_change_check(reload->http, reading->http, err) : err->code;
    if (rc == 0)
        rc = change_etcd(reload, config, err);
    if (rc < 0)
        return rc;
    rc = engine_configure(reload->engine, config, !changes->fabric, err);
    if (rc < 0) {
        (void)change_etcd(reload, reload->config, &(struct error){0});
        return rc;
    }
    if (keyring_rotations(reload->keyring) == reading->rotations)
        keyring_adopt(reload->keyring, &reading->keys);
    http_adopt(reload->http, reading->http);
    reading->http = NULL;
    log_set_level(config->core.trace_level);
    return 0;
}

static void log_applied(const struct reload *reload, const struct config_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct config_key *key = changes->items[i].key;
        bool overruled = reload->log_level >= 0 && key && strcmp(key->name, "log_level") == 0;
        log_line(LOG_NOTICE, "reload: %s%s", changes->items[i].words,
                 overruled ? " (--log-level counts for more)" : "");
    }
    if (changes->count > 0)
        log_line(LOG_NOTICE, "reloaded: all of it is in force changes=%zu", changes->count);
    else
        log_line(LOG_NOTICE, "reloaded: the configuration is the same as before");
}

/* A file of nodes that cannot be read now takes away no address that is known. */
static void keep_nodes(struct config *before, struct config *now)
{
    if (!now->nicbook_unread || !before->nicbook)
        return;
    nicbook_destroy(now->nicbook);
    now->nicbook = before->nicbook;
    before->nicbook = NULL;
    log_line(LOG_WARNING,
             "reload: the addresses of %zu nodes that were in force stay: see that %s can be read "
             "and reload again",
             nicbook_count(now->nicbook), now->inventory_file);
}

/* What was read is put into force, or refused. */
static bool finish_reload(struct reload *reload, struct reading *reading)
{
    struct config_changes changes;
    struct error err = {0};
    reload->refusal[0] = '\0';
    for (size_t i = reading->line_count; i-- > 0;) /* the first fault stays */
        if (reading->lines[i].fault)
            (void)snprintf(reload->refusal, sizeof reload->refusal, "%s", reading->lines[i].text);
    for (size_t i = 0; i < reading->line_count; i++)
        log_line(reading->lines[i].fault ? LOG_ERR : LOG_WARNING, "reload: %s",
                 reading->lines[i].text);
    if (!reading->config) {
        log_line(LOG_ERR, "reload: nothing was changed: correct the faults above (mcastd --check "
                          "shows them too) and reload again");
        return false;
    }
    settle_log_level(reading->config, reload->log_level);
    config_changes_find(&changes, reload->config, reading->config);
    bool applied = false;
    if (need_restart(reload, &changes))
        log_line(LOG_ERR, "reload: nothing was changed: restart mcastd, or take back what needs a "
                          "restart (above) and reload again");
    else if (apply_changes(reload, reading, &changes, &err) < 0) {
        log_line(LOG_ERR, "reload: nothing was changed: %s", err.text);
        (void)snprintf(reload->refusal, sizeof reload->refusal, "%s", err.text);
    } else
        applied = true;
    if (applied) {
        log_applied(reload, &changes);
        keep_nodes(reload->config, reading->config);
        config_destroy(reload->config);
        reload->config = reading->config;
        reading->config = NULL;
    }
    config_changes_release(&changes);
    return applied;
}

/* ---- the thread ---- */

static void keep_line(void *arg, bool fault, const char *line)
{
    struct reading *reading = arg;
    reading->lines =
        memory_resized(reading->lines, reading->line_count + 1, sizeof *reading->lines);
    reading->lines[reading->line_count++] = (struct reading_line){fault, memory_text(line)};
}

/* What the configuration names: the login at the fabric manager, certificates, users, root keys. */
static int read_named(struct reading *reading)
{
    struct error *err = &reading->err;
    struct fmapi_options fabric;
    /* At the start it is only warned of; here it would end a link that works. */
    int rc = settings_fabric(reading->config, &fabric) ? fmapi_check(&fabric, err) : 0;
    if (rc < 0)
        return rc;
    reading->http = http_change_read(reading->config, err);
    if (!reading->http)
        return err->code;
    return keyring_read(reading->reload->keyring, &reading->keys, err);
}

static void read_files(uv_work_t *work)
{
    struct reading *reading = work->data;
    struct config *config = config_create();
    if (config_load(config, reading->reload->path, geteuid(), pathcheck_run, keep_line, reading) <
        0) {
        config_destroy(config);
        return;
    }
    reading->config = config;
    config_files_stat(config);
    reading->err.code = read_named(reading);
}

static void on_read(uv_work_t *work, int status)
{
    struct reading *reading = work->data;
    struct reload *reload = reading->reload;
    (void)status; /* is never cancelled */
    reload->reading = NULL;
    if (!reload->stopped) {
        const char *before = turn_enter(engine_turn(reload->engine), "the reload");
        bool applied = finish_reload(reload, reading);
        turn_leave(engine_turn(reload->engine), before);
        reload->ended(reload->arg, applied);
    }
    if (reload->again && !reload->stopped)
        reload_begin(reload);
    for (size_t i = 0; i < reading->line_count; i++)
        free(reading->lines[i].text);
    free(reading->lines);
    http_change_discard(reading->http);
    rootkeys_wipe(&reading->keys);
    config_destroy(reading->config);
    free(reading);
}

void reload_begin(struct reload *reload)
{
    reload->again = reload->reading;
    if (reload->again)
        return;
    struct reading *reading = memory_zeroed(sizeof *reading);
    reading->reload = reload;
    reading->rotations = keyring_rotations(reload->keyring);
    reading->work.data = reading;
    reload->reading = reading;
    /* It fails without a function only. */
    (void)uv_queue_work(reload->loop, &reading->work, read_files, on_read);
}
