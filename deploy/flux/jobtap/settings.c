/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/settings.h"
#include "base/names.h"

#include <stdio.h>

enum { PATIENCE_S = 30, PATIENCE_MAX_S = 86400 };

int settings_read(struct settings *settings, flux_plugin_t *plugin, char words[SETTINGS_WORDS_SIZE])
{
    int patience = PATIENCE_S, optional = 0;
    *settings = (struct settings){0};
    if (!flux_plugin_get_conf(plugin) ||
        flux_plugin_conf_unpack(plugin, "{s?s s?s s?i s?b !}", "cluster", &settings->cluster, "url",
                                &settings->url, "patience", &patience, "optional", &optional) < 0) {
        snprintf(words, SETTINGS_WORDS_SIZE,
                 "its conf needs cluster = \"NAME\", and can have url, patience (s) and optional "
                 "(true or false): %s",
                 flux_plugin_get_conf(plugin) ? flux_plugin_strerror(plugin) : "it has none");
        return -1;
    }
    if (!settings->cluster || !cluster_name_valid(settings->cluster)) {
        snprintf(words, SETTINGS_WORDS_SIZE,
                 "conf.cluster is what mcastd.conf calls this Flux: 1 to %d of a-z, 0-9 and _",
                 CLUSTER_NAME_MAX);
        return -1;
    }
    if (patience < 1 || patience > PATIENCE_MAX_S) {
        snprintf(words, SETTINGS_WORDS_SIZE, "conf.patience is 1 to %d seconds", PATIENCE_MAX_S);
        return -1;
    }
    settings->patience_ms = (unsigned)patience * 1000;
    settings->optional = optional;
    return 0;
}
