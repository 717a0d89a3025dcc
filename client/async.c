/* SPDX-License-Identifier: Apache-2.0 */
/* The form of the library that never waits (mcast.h, "Without waiting"). */

#include "client/calls/field.h"
#include "client/handle.h"
#include "client/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* At first: what the broker grants to one who is no manager (its shares are 64 on the Unix socket,
 * and 16 over TCP for one address, until its certificate is seen), with some left for others. */
enum { CONNECTIONS_SOCKET = 32, CONNECTIONS_TCP = 8, CONNECTIONS_MAX = 1024 };

static const char no_munge[] = "requests without waiting carry no MUNGE credential: set a client "
                               "certificate and its key (MCAST_CERT and MCAST_KEY)";

struct mcast_async {
    struct broker broker;
    unsigned timeout_ms;
    bool retries; /* MCAST_PATIENT */
    bool dispatching;
};

/* The handle settles its credentials, so that the environment is read once. */
static int copy_settings(struct mcast_async *async, struct mcast *handle, struct mcast_error *error)
{
    struct peer *given = &handle->broker.peer, *mine = &async->broker.peer;
    bool tcp = endpoints_remote(&given->endpoints);
    int rc;
    if (tcp && given->credentials.munge == MCAST_MUNGE_ALWAYS)
        return fault_set(error, MCAST_USAGE,
                         "MUNGE credentials are not available without waiting for munged: set a "
                         "client certificate (cert and key), or use the broker's Unix socket");
    if ((tcp && (rc = credentials_settle(&given->credentials, error)) < 0) ||
        (rc = credentials_copy(&mine->credentials, &given->credentials, error)) < 0)
        return rc;
    mine->credentials.munge = MCAST_MUNGE_NEVER;
    async->timeout_ms = handle->timeout_ms;
    async->broker.unproved = no_munge;
    return 0;
}

int mcast_async_open(struct mcast_async **out, struct mcast *handle, unsigned flags,
                     struct mcast_error *error)
{
    const struct endpoints *endpoints = &handle->broker.peer.endpoints;
    if (flags & ~(unsigned)MCAST_PATIENT)
        return fault_set(error, MCAST_USAGE,
                         "the program asks for more than libmcast %s knows; update libmcast",
                         MCAST_VERSION);
    struct mcast_async *async = calloc(1, sizeof *async);
    if (!async)
        return fault_nomem(error);
    async->broker.peer.endpoints = *endpoints;
    async->retries = flags & MCAST_PATIENT;
    async->broker.connections = endpoints_remote(endpoints) ? CONNECTIONS_TCP : CONNECTIONS_SOCKET;
    int rc = broker_init(&async->broker, error);
    if (rc == 0)
        rc = copy_settings(async, handle, error);
    if (rc == 0)
        *out = async;
    else
        mcast_async_close(async);
    return rc;
}

void mcast_async_close(struct mcast_async *async)
{
    if (!async)
        return;
    if (async->dispatching) {
        async->broker.ending = true;
        return;
    }
    int saved = errno;
    async->dispatching = true; /* to callbacks it looks like a turn: they cannot close it twice */
    broker_release(&async->broker);
    free(async);
    errno = saved;
}

int mcast_async_fd(const struct mcast_async *async)
{
    return broker_fd(&async->broker);
}

size_t mcast_async_dispatch(struct mcast_async *async)
{
    if (async->dispatching)
        return async->broker.count;
    async->dispatching = true;
    broker_turn(&async->broker);
    async->dispatching = false;
    if (!async->broker.ending)
        return async->broker.count;
    mcast_async_close(async);
    return 0;
}

size_t mcast_async_under_way(const struct mcast_async *async)
{
    return async->broker.count;
}

int mcast_async_set_timeout(struct mcast_async *async, unsigned milliseconds,
                            struct mcast_error *error)
{
    return handle_set_timeout(&async->timeout_ms, milliseconds, error);
}

int mcast_async_set_connections(struct mcast_async *async, unsigned connections,
                                struct mcast_error *error)
{
    struct broker *broker = &async->broker;
    if (connections == 0 || connections > CONNECTIONS_MAX)
        return fault_set(error, MCAST_USAGE, "%u connections are not allowed: 1 to %d", connections,
                         CONNECTIONS_MAX);
    if (broker->width == broker->connections || broker->width > connections)
        broker->width = connections;
    broker->connections = connections;
    return 0;
}

/* ---- requests ---- */

struct begun {
    struct request request; /* first, so that the two have one address */
    mcast_done_fn *done;
    void *arg;
};

static void on_done(struct request *request)
{
    struct begun *begun = (struct begun *)request;
    struct mcast_outcome outcome = {.code = request->rc, .error = &request->error};
    char *json = NULL;
    if (request->call.read != call_read_root) {
        outcome.reservation = request->document;
    } else if (request->document) {
        outcome.json = json = json_dumps(document_root(request->document), JSON_COMPACT);
        if (!json)
            outcome.code = fault_nomem(&request->error);
    }
    begun->done(&outcome, begun->arg);
    free(json);
    document_free(request->document);
    call_release(&request->call);
    free(begun);
}

int async_begin(struct mcast_async *async, struct call call, mcast_done_fn *done, void *arg,
                uint64_t *number, struct mcast_error *error)
{
    struct begun *begun = NULL;
    int rc = call.rc;
    if (rc == 0 && !(begun = calloc(1, sizeof *begun)))
        rc = fault_nomem(error);
    if (rc == 0) {
        begun->request = (struct request){.call = call, .done = on_done};
        begun->request.limit_ms = (int64_t)async->timeout_ms + call.wait_ms;
        begun->request.retry_until_ms = async->retries ? INT64_MAX : 0;
        begun->done = done;
        begun->arg = arg;
        rc = broker_begin(&async->broker, &begun->request, error);
    }
    if (rc < 0) {
        free(begun);
        call_release(&call);
    } else if (number) {
        *number = begun->request.number;
    }
    return rc;
}

bool mcast_async_cancel(struct mcast_async *async, uint64_t number)
{
    struct request *request = broker_find(&async->broker, number);
    bool outer = async->dispatching;
    if (!request)
        return false;
    async->dispatching = true; /* so that the callback's close comes after it */
    broker_cancel(&async->broker, request);
    async->dispatching = outer;
    if (!outer && async->broker.ending)
        mcast_async_close(async);
    return true;
}
