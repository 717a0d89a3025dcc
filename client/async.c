/* The form of the library that never waits (mcast.h, "Without waiting"). */

#include "client/carrier.h"
#include "client/fault.h"
#include "client/handle.h"
#include "client/libcurl.h"

#include <errno.h>
#include <stdlib.h>

/* At first: what the broker grants to one who is no manager (its shares are 64 on the Unix socket,
 * and 16 over TCP for one address, until its certificate is seen), with room for others. */
enum { CONNECTIONS_SOCKET = 32, CONNECTIONS_TCP = 8, CONNECTIONS_MAX = 1024 };

struct mcast_async {
    struct carrier carrier;
    bool dispatching;
};

/* What would have to be waited for. */
static int check(const struct endpoint *endpoint, const struct credentials *credentials,
                 struct mcast_error *error)
{
    if (endpoint->socket[0])
        return 0;
    if (credentials->munge == MCAST_MUNGE_ALWAYS)
        return fault_set(error, MCAST_USAGE,
                         "MUNGE credentials are not to be had without waiting for munged: set a "
                         "client certificate (cert and key), or use the broker's Unix socket");
    const struct libcurl *curl = libcurl_open(error);
    if (!curl)
        return MCAST_UNREACHABLE;
    if (endpoint_named(endpoint) &&
        !(curl->version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS))
        return fault_set(error, MCAST_USAGE,
                         "this libcurl waits when it looks a name up: give the address of %s",
                         endpoint_name(endpoint));
    return 0;
}

/* The handle settles its credentials, so that what the environment says is read once. */
static int take_over(struct carrier *carrier, struct mcast *handle, struct mcast_error *error)
{
    const struct flight_peer *peer = transport_flights(handle->transport);
    struct credentials *credentials = transport_credentials(handle->transport);
    int rc = peer->endpoint.socket[0] ? 0 : credentials_settle(credentials, error);
    if (rc < 0 || (rc = check(&peer->endpoint, credentials, error)) < 0 ||
        (rc = credentials_copy(&carrier->peer.credentials, credentials, error)) < 0)
        return rc;
    carrier->peer.endpoint = peer->endpoint;
    carrier->peer.credentials.munge = MCAST_MUNGE_NEVER;
    carrier->timeout_ms = transport_timeout(handle->transport);
    carrier->connections = peer->endpoint.socket[0] ? CONNECTIONS_SOCKET : CONNECTIONS_TCP;
    return handle_copy_token(handle, &carrier->token, error);
}

int mcast_async_open(struct mcast_async **out, struct mcast *handle, unsigned flags,
                     struct mcast_error *error)
{
    if (flags & ~(unsigned)MCAST_PATIENT)
        return fault_set(error, MCAST_USAGE,
                         "the program asks for more than libmcast %s knows; update libmcast",
                         MCAST_VERSION);
    struct mcast_async *async = calloc(1, sizeof(*async));
    if (!async)
        return fault_nomem(error);
    async->carrier.patient = flags & MCAST_PATIENT;
    int rc = take_over(&async->carrier, handle, error);
    if (rc == 0)
        rc = carrier_init(&async->carrier, error);
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
        async->carrier.ending = true;
        return;
    }
    int saved = errno;
    async->dispatching = true; /* to callbacks it looks like a turn: they cannot close it twice */
    carrier_release(&async->carrier);
    free(async);
    errno = saved;
}

int mcast_async_fd(const struct mcast_async *async)
{
    return reactor_fd(async->carrier.reactor);
}

size_t mcast_async_dispatch(struct mcast_async *async)
{
    if (async->dispatching)
        return async->carrier.asks.count;
    async->dispatching = true;
    carrier_turn(&async->carrier);
    async->dispatching = false;
    if (!async->carrier.ending)
        return async->carrier.asks.count;
    mcast_async_close(async);
    return 0;
}

size_t mcast_async_under_way(const struct mcast_async *async)
{
    return async->carrier.asks.count;
}

int mcast_async_set_timeout(struct mcast_async *async, unsigned milliseconds,
                            struct mcast_error *error)
{
    if (milliseconds == 0 || milliseconds > INT32_MAX)
        return fault_set(error, MCAST_USAGE, "a timeout of %u ms is not allowed: 1 to %d",
                         milliseconds, INT32_MAX);
    async->carrier.timeout_ms = milliseconds;
    return 0;
}

int mcast_async_set_connections(struct mcast_async *async, unsigned connections,
                                struct mcast_error *error)
{
    struct carrier *carrier = &async->carrier;
    if (connections == 0 || connections > CONNECTIONS_MAX)
        return fault_set(error, MCAST_USAGE, "%u connections are not allowed: 1 to %d", connections,
                         CONNECTIONS_MAX);
    if (carrier->width == carrier->connections || carrier->width > connections)
        carrier->width = connections;
    carrier->connections = connections;
    return 0;
}

/* rc: of making the errand ready. */
static int begin(struct mcast_async *async, struct errand *errand, int rc, mcast_done_fn *done,
                 void *arg, uint64_t *request, struct mcast_error *error)
{
    if (rc == 0 && errand->borne && secret_none(async->carrier.token))
        rc = handle_no_token(error);
    if (rc == 0)
        return carrier_take(&async->carrier, errand, done, arg, request, error);
    errand_release(errand);
    return rc;
}

int mcast_async_reserve(struct mcast_async *async, const struct mcast_request *what,
                        mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = jobs_errand_reserve(&errand, what, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_release(struct mcast_async *async, const char *cluster, const char *job,
                        mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = jobs_errand_release(&errand, cluster, job, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_show(struct mcast_async *async, const char *cluster, const char *job,
                     mcast_done_fn *done, void *arg, uint64_t *request, struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = jobs_errand_show(&errand, cluster, job, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_env(struct mcast_async *async, const char *cluster, const char *job,
                    const char *step, mcast_done_fn *done, void *arg, uint64_t *request,
                    struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = env_errand(&errand, cluster, job, step, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_steps(struct mcast_async *async, const char *cluster, const char *job,
                      unsigned wait_ms, mcast_done_fn *done, void *arg, uint64_t *request,
                      struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = steps_errand(&errand, cluster, job, wait_ms, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_report_node(struct mcast_async *async, const struct mcast_node_report *report,
                            mcast_done_fn *done, void *arg, uint64_t *request,
                            struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = node_errand(&errand, report, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_own(struct mcast_async *async, mcast_done_fn *done, void *arg, uint64_t *request,
                    struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = cleanup_errand_own(&errand, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_cleanup(struct mcast_async *async, const char *step, unsigned flags,
                        unsigned wait_ms, mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = cleanup_errand(&errand, step, flags, wait_ms, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_sync(struct mcast_async *async, const char *cluster, const char *const *jobs,
                     size_t job_count, mcast_done_fn *done, void *arg, uint64_t *request,
                     struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = sync_errand(&errand, cluster, jobs, job_count, error);
    return begin(async, &errand, rc, done, arg, request, error);
}

int mcast_async_status(struct mcast_async *async, mcast_done_fn *done, void *arg, uint64_t *request,
                       struct mcast_error *error)
{
    struct errand errand = {0};
    int rc = status_errand(&errand, "/v1/status", error);
    return begin(async, &errand, rc, done, arg, request, error);
}

bool mcast_async_cancel(struct mcast_async *async, uint64_t request)
{
    bool outer = async->dispatching;
    async->dispatching = true; /* so that the callback's close comes after it */
    bool cancelled = carrier_cancel(&async->carrier, request);
    async->dispatching = outer;
    if (!outer && async->carrier.ending)
        mcast_async_close(async);
    return cancelled;
}
