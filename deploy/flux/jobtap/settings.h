/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FLUX_SETTINGS_H
#define MCAST_FLUX_SETTINGS_H

/* What the plugin is told when it is loaded:
 *
 *   [job-manager]
 *   plugins = [{ load = "/usr/lib/mcastd/flux/mcast.so", conf = { cluster = "elcap" } }]
 *
 *   cluster    what mcastd.conf calls this Flux
 *   url        where mcastd is (MCAST_URL, or its default socket)
 *   patience   s, how long a job's start may wait for mcastd (30)
 *   optional   true: jobs run without VNIs and multicast addresses when mcastd does not answer in
 *              that time (false) */

#include <flux/core.h>
#include <stdbool.h>

struct settings {
    const char *cluster, *url; /* the plugin's; url may be NULL */
    unsigned patience_ms;
    bool optional;
};

enum { SETTINGS_WORDS_SIZE = 256 };

/* 0, or -1 with the reason in words. */
int settings_read(struct settings *settings, flux_plugin_t *plugin,
                  char words[SETTINGS_WORDS_SIZE]);

#endif
