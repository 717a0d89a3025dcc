/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/change.h"

#include "broker/config/value.h"
#include "base/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* name: of the cluster or profile whose key it is; NULL: of a plain section. */
__attribute__((format(printf, 5, 6))) static void
add_change(struct config_changes *changes, const struct config_key *key, enum config_place place,
           const char *name, const char *format, ...)
{
    va_list args;
    changes->items = memory_resized(changes->items, changes->count + 1, sizeof *changes->items);
    struct config_change *change = &changes->items[changes->count++];
    const size_t size = sizeof change->words;
    *change = (struct config_change){.key = key};
    changes->fabric |= key && key->fabric;
    static const char *const sections[CONFIG_PLACES] = {"[%s] ", "[cluster \"%s\"] ",
                                                        "[profile \"%s\"] "};
    assert(name || key);
    int length = snprintf(change->words, size, sections[place], name ? name : key->section);
    va_start(args, format);
    (void)vsnprintf(change->words + length, size - (size_t)length, format, args);
    va_end(args);
}

static void compare_keys(struct config_changes *changes, enum config_place place, const char *name,
                         const void *before, const void *after)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (config_key_place(&keys[i]) != place)
            continue;
        char *was = config_value_text(&keys[i], before), *is = config_value_text(&keys[i], after);
        if (strcmp(was, is) != 0)
            add_change(changes, &keys[i], place, name, "%s = %.400s -> %.400s", keys[i].name, was,
                       is);
        free(was);
        free(is);
    }
}

static void compare_clusters(struct config_changes *changes, const struct config *before,
                             const struct config *after)
{
    for (uint32_t i = 0; i < before->core.cluster_count; i++) {
        const struct config_cluster *was = &before->clusters[i];
        const struct config_cluster *is = config_cluster_find(after, was->name);
        if (is)
            compare_keys(changes, CONFIG_CLUSTER, was->name, was, is);
        else
            add_change(changes, NULL, CONFIG_CLUSTER, was->name, "removed");
    }
    for (uint32_t i = 0; i < after->core.cluster_count; i++) {
        const struct config_cluster *is = &after->clusters[i];
        if (config_cluster_find(before, is->name))
            continue;
        add_change(changes, NULL, CONFIG_CLUSTER, is->name, "added");
        compare_keys(changes, CONFIG_CLUSTER, is->name, &before->clusters[CLUSTERS_MAX], is);
    }
}

static void compare_profiles(struct config_changes *changes, const struct config *before,
                             const struct config *after)
{
    for (uint32_t i = 0; i < before->core.profile_count; i++) {
        const struct config_profile *was = &before->profiles[i];
        const struct config_profile *is = config_profile_find(after, was->name);
        if (is)
            compare_keys(changes, CONFIG_PROFILE, was->name, was, is);
        else
            add_change(changes, NULL, CONFIG_PROFILE, was->name, "removed");
    }
    for (uint32_t i = 0; i < after->core.profile_count; i++) {
        const struct config_profile *is = &after->profiles[i];
        if (config_profile_find(before, is->name))
            continue;
        add_change(changes, NULL, CONFIG_PROFILE, is->name, "added");
        compare_keys(changes, CONFIG_PROFILE, is->name, &before->profiles[PROFILES_MAX], is);
    }
}

/* ---- files that the configuration names ---- */

static void stat_file(struct config *config, const struct config_key *key, const char *name)
{
    char path[CONFIG_PATH_SIZE + 32];
    assert(config->file_count < CONFIG_STATUSES_MAX);
    struct config_file_status *file = &config->files[config->file_count++];
    *file = (struct config_file_status){.key = key, .name = name};
    (void)snprintf(path, sizeof path, "%s%s%s", config_key_path(key, config), name ? "/" : "",
                   name ? name : "");
    if (stat(path, &file->status) < 0)
        file->status = (struct stat){0};
}

void config_files_stat(struct config *config)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    config->file_count = 0;
    /* A hashed folder of authorities changes when one is added or taken away. */
    for (size_t i = 0; i < count; i++) {
        if ((keys[i].file & CONFIG_FILE_RELOADED) != 0)
            stat_file(config, &keys[i], NULL);
    }
    for (const char *const *name = config_login_files(config); *name; name++)
        stat_file(config, config_key_find("fm", "authdir"), *name);
}

static bool same_contents(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* NULL: not read yet. */
static const struct config_file_status *find_file(const struct config *config,
                                                  const struct config_key *key, const char *name)
{
    for (size_t i = 0; i < config->file_count; i++) {
        if (config->files[i].key == key && config->files[i].name == name)
            return &config->files[i];
    }
    return NULL;
}

static void compare_files(struct config_changes *changes, const struct config *before,
                          const struct config *after)
{
    for (size_t i = 0; i < after->file_count; i++) {
        const struct config_file_status *is = &after->files[i];
        const struct config_file_status *was = find_file(before, is->key, is->name);
        if (!was || same_contents(&was->status, &is->status))
            continue;
        add_change(changes, is->key, CONFIG_PLAIN, NULL, "%s%s%s was read again", is->key->name,
                   is->name ? ": the file " : "", is->name ? is->name : "");
        changes->items[changes->count - 1].contents = true;
    }
}

void config_changes_find(struct config_changes *changes, const struct config *before,
                         const struct config *after)
{
    *changes = (struct config_changes){0};
    compare_keys(changes, CONFIG_PLAIN, NULL, before, after);
    compare_clusters(changes, before, after);
    compare_profiles(changes, before, after);
    compare_files(changes, before, after);
}

void config_changes_release(struct config_changes *changes)
{
    free(changes->items);
    *changes = (struct config_changes){0};
}
