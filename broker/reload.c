#include "broker/reload.h"

#include "broker/commandcheck.h"
#include "broker/config_change.h"
#include "broker/log.h"
#include "broker/settings.h"

#include <string.h>

enum { CHANGE_SIZE = 1024 };

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
    namedfiles_look(&reload->files, reload->config);
}

void reload_release(struct reload *reload)
{
    config_destroy(reload->config);
    reload->config = NULL;
}

static void log_fault(void *arg, bool fault, const char *line)
{
    (void)arg;
    log_line(fault ? LOG_ERR : LOG_WARNING, "reload: %s", line);
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

static bool fabric_kept(const struct reload *reload, const struct config *config,
                        const struct namedfiles *files)
{
    const struct namedfile *file;
    size_t at = 0;
    if (!settings_same_fabric(reload->config, config))
        return false;
    while ((file = namedfiles_next_changed(&reload->files, files, &at)) != NULL) {
        if (strcmp(file->section, "fm") == 0)
            return false;
    }
    return true;
}

/* Everything that can fail comes before everything that changes something. */
static int apply(struct reload *reload, const struct config *config, const struct namedfiles *files,
                 struct rootkeys *keys, struct error *err)
{
    struct fmapi_options fabric;
    struct listcommand_spec lists[CLUSTERS_MAX];
    struct settings_http http;
    bool present = settings_fabric(config, &fabric);
    /* At the start it is only warned of; here it would end a link that works. */
    int rc = present ? fmapi_check(&fabric, err) : 0;
    if (rc < 0)
        return rc;
    settings_http(config, &http);
    struct http_change *change = http_prepare(reload->http, &http.options, err);
    if (change == NULL)
        return err->code;
    struct engine_settings settings = {
        .core = &config->core,
        .fabric = present ? &fabric : NULL,
        .lists = lists,
        .list_count = settings_lists(config, lists),
        .keep_fabric = fabric_kept(reload, config, files),
    };
    rc = keyring_read(reload->keyring, keys, err);
    if (rc == 0)
        rc = engine_configure(reload->engine, &settings, err);
    if (rc < 0) {
        http_discard(reload->http, change);
        return rc;
    }
    keyring_adopt(reload->keyring, keys);
    http_adopt(reload->http, change);
    log_set_level(config->core.trace_level);
    return 0;
}

static size_t log_files(const struct reload *reload, const struct namedfiles *files)
{
    const struct namedfile *file;
    size_t at = 0, count = 0;
    while ((file = namedfiles_next_changed(&reload->files, files, &at)) != NULL) {
        log_line(LOG_NOTICE, "reload: [%s] %s%s%s was read again", file->section, file->key,
                 file->name != NULL ? ": the file " : "", file->name != NULL ? file->name : "");
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

static bool replace(struct reload *reload, struct config *config)
{
    struct config_changes changes;
    struct namedfiles files;
    struct rootkeys keys = {0};
    struct error err = {0};
    if (config_changes_find(&changes, reload->config, config) < 0) {
        log_line(LOG_ERR, "reload: nothing was changed: memory is exhausted");
        return false;
    }
    namedfiles_look(&files, config);
    bool applied = false;
    if (need_restart(&changes))
        log_line(LOG_ERR, "reload: nothing was changed: restart mcastd, or take back what needs a "
                          "restart (above) and reload again");
    else if (apply(reload, config, &files, &keys, &err) < 0)
        log_line(LOG_ERR, "reload: nothing was changed: %s", err.text);
    else
        applied = true;
    if (applied) {
        log_applied(reload, &changes, &files);
        reload->files = files;
    }
    rootkeys_wipe(&keys);
    config_changes_release(&changes);
    return applied;
}

bool reload_apply(struct reload *reload)
{
    struct config *config = config_create();
    if (config == NULL) {
        log_line(LOG_ERR, "reload: nothing was changed: memory is exhausted");
        return false;
    }
    if (config_load_and_look(config, reload->path, commandcheck_look, log_fault, NULL) < 0) {
        log_line(LOG_ERR,
                 "reload: nothing was changed: correct what is said above (mcastd --check says it "
                 "too) and reload again");
        config_destroy(config);
        return false;
    }
    settle_log_level(config, reload->log_level);
    if (!replace(reload, config)) {
        config_destroy(config);
        return false;
    }
    config_destroy(reload->config);
    reload->config = config;
    return true;
}
