/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/query.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVERY_S = 10, ANSWER_MS = 5000 };

struct query {
    struct jobtap *jobtap;
    flux_watcher_t *timer;
    json_t *broker; /* what it last said, or why it does not; NULL: nothing yet */
    bool asking;
};

/* Of the status those members that tell whether a job can get something. */
static json_t *digest(const char *json)
{
    static const char *const members[] = {"version", "role", "vnis", "addresses", "alarms"};
    json_t *status = json_loads(json, 0, NULL);
    json_t *fabric = json_object_get(status, "fabric_manager");
    json_t *broker = json_pack("{s:b}", "answers", 1);
    for (size_t i = 0; broker && i < sizeof members / sizeof *members; i++)
        if (json_object_get(status, members[i]))
            json_object_set(broker, members[i], json_object_get(status, members[i]));
    if (broker && json_object_get(fabric, "link"))
        json_object_set(broker, "link", json_object_get(fabric, "link"));
    json_decref(status);
    return broker;
}

static void on_status(const struct mcast_outcome *outcome, void *data)
{
    struct query *query = data;
    struct timespec now;
    if (outcome->code == MCAST_STOPPED)
        return;
    query->asking = false;
    json_t *broker = outcome->json
                         ? digest(outcome->json)
                         : json_pack("{s:b s:s}", "answers", 0, "error", outcome->error->text);
    if (!broker)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    json_object_set_new(broker, "as_of", json_real((double)now.tv_sec + (double)now.tv_nsec / 1e9));
    json_decref(query->broker);
    query->broker = broker;
}

static void ask(flux_reactor_t *reactor, flux_watcher_t *watcher, int events, void *data)
{
    struct query *query = data;
    (void)reactor, (void)watcher, (void)events;
    if (!query->asking && mcast_async_set_timeout(query->jobtap->once, ANSWER_MS, NULL) == 0)
        query->asking = mcast_async_status(query->jobtap->once, on_status, query, NULL, NULL) == 0;
}

struct query *query_create(struct jobtap *jobtap)
{
    struct query *query = calloc(1, sizeof *query);
    if (!query)
        return NULL;
    query->jobtap = jobtap;
    query->timer =
        flux_timer_watcher_create(flux_get_reactor(jobtap->flux), 0, EVERY_S, ask, query);
    if (!query->timer) {
        free(query);
        return NULL;
    }
    flux_watcher_start(query->timer);
    return query;
}

void query_destroy(struct query *query)
{
    if (!query)
        return;
    flux_watcher_destroy(query->timer);
    json_decref(query->broker);
    free(query);
}

int query_answer(struct query *query, flux_plugin_arg_t *args)
{
    struct jobtap *jobtap = query->jobtap;
    json_t *broker = query->broker ? json_incref(query->broker) : json_pack("{s:b}", "answers", 0);
    return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:s s:i s:b s:b s:o s:o}", "cluster",
                                jobtap->cluster, "patience", (int)jobtap->retry_timeout_ms / 1000,
                                "optional", jobtap->optional, "release_only", jobtap->release_only,
                                "jobs", hold_list(jobtap), "broker", broker);
}
