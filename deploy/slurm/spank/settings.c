/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/settings.h"

#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 2000, TIMEOUT_MAX_MS = 60000 };

#define CLEANUP "/mcastd/mcast-cleanup"

static const struct {
    const char *name;
    size_t offset;
    const char *relative, *configured; /* of a program: from the plugin's folder, and as built */
} texts[] = {
    {"mcastctl", offsetof(struct settings, mcastctl), MCAST_SPANK_TO_BIN "/mcastctl",
     MCAST_SPANK_BIN "/mcastctl"},
    {"mcast_node", offsetof(struct settings, mcast_node), MCAST_SPANK_TO_BIN "/mcast-node",
     MCAST_SPANK_BIN "/mcast-node"},
    {"mcast_cleanup", offsetof(struct settings, mcast_cleanup), MCAST_SPANK_TO_LIBEXEC CLEANUP,
     MCAST_SPANK_LIBEXEC CLEANUP},
    {"grants", offsetof(struct settings, grants), NULL, NULL},
    {"cluster", offsetof(struct settings, cluster), NULL, NULL},
    {"url", offsetof(struct settings, url), NULL, NULL},
    {"cacert", offsetof(struct settings, cacert), NULL, NULL},
    {"munge_socket", offsetof(struct settings, munge_socket), NULL, NULL},
    {"node_config", offsetof(struct settings, node_config), NULL, NULL},
};

static void store_text(struct settings *settings, size_t i, const char *value)
{
    memcpy((char *)settings + texts[i].offset, &value, sizeof value);
}

static void locate_programs(struct settings *settings, const char *plugin)
{
    char folder[PATH_MAX], path[PATH_MAX], whole[PATH_MAX];
    /* A name without a folder would be looked for in the user's. */
    const bool known = plugin[0] == '/' && realpath(plugin, folder);
    if (known)
        *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < SETTINGS_PROGRAMS; i++) {
        char *out = settings->installed[i];
        if (known &&
            snprintf(path, sizeof path, "%s/%s", folder, texts[i].relative) < (int)sizeof path &&
            realpath(path, whole) && strlen(whole) < SETTINGS_PATH_SIZE && access(whole, X_OK) == 0)
            memcpy(out, whole, strlen(whole) + 1);
        else
            snprintf(out, SETTINGS_PATH_SIZE, "%s", texts[i].configured);
        store_text(settings, i, out);
    }
}

static bool read_timeout(struct settings *settings, const char *value)
{
    uint64_t ms = 0;
    if (!text_number(value, 10, TIMEOUT_MAX_MS, &ms) || ms < 1)
        return false;
    settings->timeout_ms = (int64_t)ms;
    return true;
}

static bool read_word(struct settings *settings, const char *word)
{
    const size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : "";
    if (!value[0])
        return false;
    if (length == strlen("timeout") && strncmp(word, "timeout", length) == 0)
        return read_timeout(settings, value);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strlen(texts[i].name) == length && memcmp(texts[i].name, word, length) == 0) {
            store_text(settings, i, value);
            return true;
        }
    }
    return false;
}

int settings_read(struct settings *settings, const char *plugin, int count, char *const words[],
                  struct error *err)
{
    int rc = 0;
    *settings = (struct settings){.grants = "/run/mcast-slurm", .timeout_ms = TIMEOUT_MS};
    locate_programs(settings, plugin);
    for (int i = 0; i < count; i++) {
        if (words[i] && !read_word(settings, words[i]))
            rc = error_set(err, ERROR_INVALID,
                           "plugstack.conf: '%.80s' is not understood and left out: grants, "
                           "cluster, url, cacert, munge_socket, timeout (1 to %d ms), mcastctl, "
                           "mcast_node, mcast_cleanup, node_config, each =value",
                           words[i], TIMEOUT_MAX_MS);
    }
    return rc;
}
