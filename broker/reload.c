/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/reload.h"

#include "base/memory.h"
#include "broker/config/change.h"
#include "broker/log/log.h"
#include "broker/config/pathcheck.h"
#include "broker/config/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHANGE_SIZE = 1024 };

/* What a reload reads: the configuration, the files that it names, the site's users (F5). Disks and
 * name services take their time, so it is done in a thread of its own and touches nothing that is
 * in force. */

struct reread_line {
    bool fault;
    char *text;
};

struct reread {
    /* What to read, and for which user: both as they were at the start. */
    const char *path;
    const struct keyring *keyring;

    struct config *config; /* NULL: it has faults, see lines */
    struct reread_line *lines;
    size_t line_count;
    struct namedfiles files;
    struct error err; /* code 0: what the configuration names can be used. Then these are there: */
    struct http_change *http;
    struct rootkeys keys;
};

/* A reload in progress: a thread has the files. */
struct reading {
    struct reload *reload;
    struct reread files;
    uint64_t rotations; /* of the ring when it began */
    uv_work_t work;
    void (*applied)(void *arg, bool applied);
    void *arg;
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

void reload_look(struct reload *reload)
{
    namedfiles_stat(&reload->files, reload->config);
}

void reload_release(struct reload *reload)
{
    config_destroy(reload->config);
    reload->config = NULL;
}

/* True when some key can only be changed by a restart; each is named. */
static bool need_restart(const struct config_changes *changes)
{
    char words[CHANGE_SIZE];
    bool needed = false;
    for (size_t i = 0; i < changes->count; i++) {
        const struct config_change *change = &changes->items[i];
        if (change->key == NULL || !change->key->restart)
            continue;
        log_line(LOG_ERR, "reload: %s needs a restart",
                 config_change_words(change, words, sizeof words));
        needed = true;
    }
    return needed;
}

static bool fabric_kept(const struct reload *reload, const struct config_changes *changes,
                        const struct namedfiles *files)
{
    const struct namedfile *file;
    size_t at = 0;
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].key != NULL && changes->items[i].key->fabric)
            return false;
    }
    while ((file = namedfiles_next_changed(&reload->files, files, &at)) != NULL) {
        if (file->key->fabric)
            return false;
    }
    return true;
}

/* Everything that can fail comes before everything that changes something. */
static int apply_changes(struct reload *reload, struct reading *reading,
                         const struct config_changes *changes, struct error *err)
{
    struct reread *files = &reading->files;
    const struct config *config = files->config;
    struct fmapi_options fabric;
    struct listcommand_spec lists[CLUSTERS_MAX];
    bool present = settings_fabric(config, &fabric);
    struct engine_settings settings = {
        .core = &config->core,
        .fabric = present ? &fabric : NULL,
        .lists = lists,
        .list_count = settings_lists(config, lists),
        .keep_fabric = fabric_kept(reload, changes, &files->files),
    };
    *err = files->err;
    int rc = err->code == 0 ? http_change_check(reload->http, files->http, err) : err->code;
    if (rc == 0)
        rc = engine_configure(reload->engine, &settings, err);
    if (rc < 0)
        return rc;
    if (keyring_rotations(reload->keyring) == reading->rotations)
        keyring_adopt(reload->keyring, &files->keys);
    http_adopt(reload->http, files->http);
    files->http = NULL;
    log_set_level(config->core.trace_level);
    return 0;
}

static size_t log_files(const struct reload *reload, const struct namedfiles *files)
{
    const struct namedfile *file;
    size_t at = 0, count = 0;
    while ((file = namedfiles_next_changed(&reload->files, files, &at)) != NULL) {
        log_line(LOG_NOTICE, "reload: [%s] %s%s%s was read again", file->key->section,
                 file->key->name, file->name != NULL ? ": the file " : "",
                 file->name != NULL ? file->name : "");
        count++;
    }
    return count;
}

static void log_applied(const struct reload *reload, const struct config_changes *changes,
                        const struct namedfiles *files)
{
    char words[CHANGE_SIZE];
    size_t count = changes->count + log_files(reload, files);
    for (size_t i = 0; i < changes->count; i++) {
        const struct config_key *key = changes->items[i].key;
        bool overruled =
            reload->log_level >= 0 && key != NULL && strcmp(key->name, "log_level") == 0;
        log_line(LOG_NOTICE, "reload: %s%s",
                 config_change_words(&changes->items[i], words, sizeof words),
                 overruled ? " (--log-level counts for more)" : "");
    }
    if (count > 0)
        log_line(LOG_NOTICE, "reloaded: all of it is in force changes=%zu", count);
    else
        log_line(LOG_NOTICE, "reloaded: nothing has changed");
}

static bool replace_config(struct reload *reload, struct reading *reading)
{
    const struct reread *read = &reading->files;
    struct config_changes changes;
    struct error err = {0};
    config_changes_find(&changes, reload->config, read->config);
    bool applied = false;
    if (need_restart(&changes))
        log_line(LOG_ERR, "reload: nothing was changed: restart mcastd, or take back what needs a "
                          "restart (above) and reload again");
    else if (apply_changes(reload, reading, &changes, &err) < 0)
        log_line(LOG_ERR, "reload: nothing was changed: %s", err.text);
    else
        applied = true;
    if (applied) {
        log_applied(reload, &changes, &read->files);
        reload->files = read->files;
    }
    config_changes_release(&changes);
    return applied;
}

/* What was read is put into force, or refused. */
static bool finish_reload(struct reload *reload, struct reading *reading)
{
    struct reread *read = &reading->files;
    for (size_t i = 0; i < read->line_count; i++)
        log_line(read->lines[i].fault ? LOG_ERR : LOG_WARNING, "reload: %s", read->lines[i].text);
    if (read->config == NULL) {
        log_line(LOG_ERR, "reload: nothing was changed: correct the faults above (mcastd --check "
                          "shows them too) and reload again");
        return false;
    }
    settle_log_level(read->config, reload->log_level);
    if (!replace_config(reload, reading))
        return false;
    config_destroy(reload->config);
    reload->config = read->config;
    read->config = NULL;
    return true;
}

/* ---- the thread ---- */

static void keep_line(void *arg, bool fault, const char *line)
{
    struct reread *reread = arg;
    reread->lines = memory_resized(reread->lines, reread->line_count + 1, sizeof *reread->lines);
    reread->lines[reread->line_count++] =
        (struct reread_line){.fault = fault, .text = memory_text(line)};
}

static int read_config(struct reread *reread)
{
    struct config *config = config_create();
    int rc = config_load_as(config, reread->path, geteuid(), pathcheck_run, keep_line, reread);
    if (rc < 0)
        config_destroy(config);
    else
        reread->config = config;
    return rc;
}

/* What it names: the login at the fabric manager, certificates, users, root keys. */
static int read_named(struct reread *reread)
{
    struct error *err = &reread->err;
    struct fmapi_options fabric;
    struct settings_http http;
    /* At the start it is only warned of; here it would end a link that works. */
    int rc = settings_fabric(reread->config, &fabric) ? fmapi_check(&fabric, err) : 0;
    if (rc < 0)
        return rc;
    settings_http(reread->config, &http);
    reread->http = http_change_read(&http.options, err);
    if (reread->http == NULL)
        return err->code;
    return keyring_read(reread->keyring, &reread->keys, err);
}

static void reread_files(struct reread *reread)
{
    if (read_config(reread) < 0)
        return;
    namedfiles_stat(&reread->files, reread->config);
    reread->err.code = read_named(reread);
}

static void reread_release(struct reread *reread)
{
    for (size_t i = 0; i < reread->line_count; i++)
        free(reread->lines[i].text);
    free(reread->lines);
    http_change_discard(reread->http);
    rootkeys_wipe(&reread->keys);
    config_destroy(reread->config);
    *reread = (struct reread){.path = NULL};
}

static void on_thread(uv_work_t *work)
{
    struct reading *reading = work->data;
    reread_files(&reading->files);
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
        reading->applied(reading->arg, applied);
    }
    if (reload->again && !reload->stopped)
        reload_begin(reload, work->loop, reading->applied, reading->arg);
    reread_release(&reading->files);
    free(reading);
}

void reload_begin(struct reload *reload, uv_loop_t *loop, void (*applied)(void *arg, bool applied),
                  void *arg)
{
    reload->again = reload->reading != NULL;
    if (reload->again)
        return;
    struct reading *reading = memory_zeroed(sizeof *reading);
    *reading = (struct reading){.reload = reload,
                                .files = {.path = reload->path, .keyring = reload->keyring},
                                .rotations = keyring_rotations(reload->keyring),
                                .applied = applied,
                                .arg = arg};
    reading->work.data = reading;
    reload->reading = reading;
    (void)uv_queue_work(loop, &reading->work, on_thread,
                        on_read); /* fails without a function only */
}

void reload_stop(struct reload *reload)
{
    reload->stopped = true;
}
