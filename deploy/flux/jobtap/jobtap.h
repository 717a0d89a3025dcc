/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The plugin of Flux's job manager. It runs in the job manager's own process and thread, so nothing
 * in it may wait: libmcast is used in its form that does not, on Flux's reactor
 * (deploy/flux/jobtap/README.md). */

#include "client/mcast.h"

#include <flux/core.h>
#include <flux/jobtap.h>
#include <jansson.h>

struct hold;
struct query;

/* What all jobs share. */
struct jobtap {
    flux_plugin_t *plugin;
    flux_t *flux;
    struct mcast_async *broker;
    flux_watcher_t *watcher; /* of the broker's descriptor */
    /* The same without retries, for reserves with a launch document. */
    struct mcast_async *once;
    flux_watcher_t *once_watcher;
    double launch_after;       /* no document is asked for before this time of the reactor */
    char *cluster;             /* what mcastd.conf calls this Flux */
    unsigned retry_timeout_ms; /* how long a reserve may take, broker away or not */
    bool optional;             /* jobs run without, when the broker does not answer in that time */
    bool release_only;         /* a job that starts is none of its business */
    struct hold *holds;        /* all there are */
    struct query *query;       /* what flux jobtap query prints */
};

/* Asks the broker to release a job, with retries: it may be down, and a release that is lost is
 * found by list_command only. No call waits for the answer; a refusal is logged. */
void jobtap_release(struct jobtap *jobtap, const char *job);

/* ---- One job: holds its start until its reservation is made and published, and gives that back
 * when the job has ended (hold.c) ---- */

/* The job got its resources (job.state.run): asks for what its jobspec wants. A job that cannot
 * have what it needs gets a fatal exception with our sentence. */
void hold_begin(struct jobtap *jobtap, flux_plugin_arg_t *args);

/* A job that has been running since before the plugin was loaded: only its end is seen to. */
void hold_adopt(struct jobtap *jobtap, flux_plugin_arg_t *args);

/* Its processes have ended (job.event.finish). */
void hold_finish(struct jobtap *jobtap, flux_plugin_arg_t *args);

/* It is over (job.state.cleanup): one that never started has no finish. */
void hold_clean_up(struct jobtap *jobtap, flux_plugin_arg_t *args);

/* The service mcast.clean, data: the jobtap: nothing of a job is left on a node. */
void hold_hear(flux_t *flux, flux_msg_handler_t *handler, const flux_msg_t *word, void *data);

/* All jobs that are seen to, {"f2fRx":{…}}, with what they were granted as far as it is known. The
 * caller's; NULL: memory is exhausted. */
json_t *hold_list(const struct jobtap *jobtap);

/* The plugin is unloaded: gives up what is under way. Jobs whose start is held stay held, as with
 * any prolog of a plugin that goes. */
void hold_give_up_all(struct jobtap *jobtap);
