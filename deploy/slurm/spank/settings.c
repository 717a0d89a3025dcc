/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 2000, TIMEOUT_MAX_MS = 60000 };

static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    {"grants", offsetof(struct settings, grants)},
    {"cluster", offsetof(struct settings, cluster)},
    {"url", offsetof(struct settings, url)},
    {"cacert", offsetof(struct settings, cacert)},
    {"munge_socket", offsetof(struct settings, munge_socket)},
    {"mcastctl", offsetof(struct settings, mcastctl)},
    {"mcast_node", offsetof(struct settings, mcast_node)},
    {"mcast_cleanup", offsetof(struct settings, mcast_cleanup)},
    {"node_config", offsetof(struct settings, node_config)},
};

static bool take_timeout(struct settings *settings, const char *value)
{
    char *end = NULL;
    const long ms = value[0] >= '0' && value[0] <= '9' ? strtol(value, &end, 10) : 0;
    if (ms < 1 || ms > TIMEOUT_MAX_MS || *end)
        return false;
    settings->timeout_ms = ms;
    return true;
}

static bool take(struct settings *settings, const char *word)
{
    const size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : "";
    if (!value[0])
        return false;
    if (length == strlen("timeout") && strncmp(word, "timeout", length) == 0)
        return take_timeout(settings, value);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strlen(texts[i].name) == length && memcmp(texts[i].name, word, length) == 0) {
            memcpy((char *)settings + texts[i].offset, &value, sizeof value);
            return true;
        }
    }
    return false;
}

int settings_read(struct settings *settings, const struct place *place, int count,
                  char *const words[], struct error *err)
{
    int rc = 0;
    *settings = (struct settings){.grants = "/run/mcast-slurm",
                                  .mcastctl = place->mcastctl,
                                  .mcast_node = place->mcast_node,
                                  .mcast_cleanup = place->mcast_cleanup,
                                  .timeout_ms = TIMEOUT_MS};
    for (int i = 0; i < count; i++) {
        if (words[i] && !take(settings, words[i]))
            rc = error_set(err, ERROR_INVALID,
                           "plugstack.conf: '%.80s' is not understood and left out: grants, "
                           "cluster, url, cacert, munge_socket, timeout (1 to %d ms), mcastctl, "
                           "mcast_node, mcast_cleanup, node_config, each =value",
                           words[i], TIMEOUT_MAX_MS);
    }
    return rc;
}
