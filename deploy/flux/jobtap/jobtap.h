/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FLUX_JOBTAP_H
#define MCAST_FLUX_JOBTAP_H

/* The plugin of Flux's job manager: what all its jobs share. It runs in the job manager's own
 * process and thread, so nothing in it may wait: libmcast is used in its form that does not, on
 * Flux's reactor (deploy/flux/jobtap/README.md). */

#include "client/mcast.h"

#include <flux/core.h>
#include <flux/jobtap.h>

struct hold;

struct jobtap {
    flux_plugin_t *plugin;
    flux_t *flux;
    struct mcast_async *broker;
    flux_watcher_t *watcher; /* of the broker's descriptor */
    char *cluster;           /* what mcastd.conf calls this Flux */
    unsigned patience_ms;    /* how long a reserve may take, broker away or not */
    bool optional;           /* jobs run without, when the broker does not answer in that time */
    struct hold *holds;      /* all there are (hold.h) */
};

/* Asks the broker to release a job, with retries: it may be down, and a release that is lost is
 * found by list_command only. No call waits for the answer; a refusal is logged. */
void jobtap_release(struct jobtap *jobtap, const char *job);

#endif
