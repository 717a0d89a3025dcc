/* SPDX-License-Identifier: Apache-2.0 */
#include "client/handle.h"
#include "base/names.h"
#include "client/calls/field.h"
#include "client/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mcast_open(struct mcast **out, const char *url, struct mcast_error *error)
{
    struct endpoints endpoints;
    int rc = endpoints_find(&endpoints, url, error);
    if (rc < 0)
        return rc;
    struct mcast *handle = calloc(1, sizeof *handle);
    if (!handle)
        return fault_nomem(error);
    handle->timeout_ms = REQUEST_TIMEOUT_MS;
    handle->broker.peer.endpoints = endpoints;
    handle->broker.connections = 1;
    handle->broker.limits_attempts = true;
    rc = broker_init(&handle->broker, error);
    handle->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (rc == 0 && handle->stop_fd < 0)
        rc = fault_set(error, MCAST_NOMEM, "no descriptor to be had: %s (ulimit -n)",
                       strerror(errno));
    if (rc < 0)
        mcast_close(handle);
    else
        *out = handle;
    return rc;
}

void mcast_close(struct mcast *handle)
{
    if (!handle)
        return;
    int saved = errno;
    broker_release(&handle->broker);
    if (handle->stop_fd >= 0)
        close(handle->stop_fd);
    free(handle);
    errno = saved;
}

int handle_set_timeout(unsigned *place, unsigned milliseconds, struct mcast_error *error)
{
    if (milliseconds == 0 || milliseconds > INT32_MAX)
        return fault_set(error, MCAST_USAGE, "a timeout of %u ms is not allowed: 1 to %d",
                         milliseconds, INT32_MAX);
    *place = milliseconds;
    return 0;
}

int mcast_set_timeout(struct mcast *handle, unsigned milliseconds, struct mcast_error *error)
{
    return handle_set_timeout(&handle->timeout_ms, milliseconds, error);
}

int mcast_set_retry_timeout(struct mcast *handle, unsigned milliseconds, mcast_wait_fn *on_wait,
                            void *data, struct mcast_error *error)
{
    if (milliseconds > INT32_MAX)
        return fault_set(error, MCAST_USAGE, "a retry timeout of %u ms is not allowed: 0 to %d",
                         milliseconds, INT32_MAX);
    handle->retry_ms = milliseconds;
    handle->on_wait = on_wait;
    handle->wait_data = data;
    return 0;
}

int mcast_set_patience(struct mcast *handle, unsigned milliseconds, mcast_wait_fn *on_wait,
                       void *data, struct mcast_error *error)
{
    return mcast_set_retry_timeout(handle, milliseconds, on_wait, data, error);
}

int mcast_clock_ahead(struct mcast *handle, int64_t *ahead_ms, struct mcast_error *error)
{
    const struct peer *peer = &handle->broker.peer;
    *ahead_ms = peer->clock_ahead_ms;
    if (peer->clock_known)
        return 0;
    return fault_set(error, MCAST_UNCLEAR, "mcastd at %s has not sent its time yet",
                     endpoint_name(endpoints_current(&peer->endpoints)));
}

/* What would end a header's line, or is nowhere in a token (RFC 6750: b64token). */
static bool token_possible(const char *token)
{
    size_t length = strnlen(token, TOKEN_MAX + 1);
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] >= 0x7f)
            return false;
    return length > 0 && length <= TOKEN_MAX;
}

int mcast_set_token(struct mcast *handle, const char *token, struct mcast_error *error)
{
    struct secret *place = &handle->broker.peer.token;
    char *copy = NULL;
    if (token && !token_possible(token))
        return fault_set(error, MCAST_USAGE,
                         "this is no token: 1 to %d printable ASCII characters without a space",
                         TOKEN_MAX);
    if (token && !(copy = strdup(token)))
        return fault_nomem(error);
    secret_wipe(place);
    *place = secret_of(copy);
    return 0;
}

/* Where no token was set it is MCAST_TOKEN's. */
static int settle_token(struct mcast *handle, struct mcast_error *error)
{
    const char *given = secure_getenv("MCAST_TOKEN");
    if (!secret_none(handle->broker.peer.token))
        return 0;
    if (given && given[0])
        return mcast_set_token(handle, given, error);
    return fault_set(error, MCAST_USAGE,
                     "no token is given: set MCAST_TOKEN to the job's (in its tasks it is "
                     "FI_CXI_COLL_MCAST_TOKEN)");
}

const char *mcast_version(void)
{
    return MCAST_VERSION;
}

/* ---- waiting ---- */

void mcast_stop(struct mcast *handle)
{
    int saved = errno;
    atomic_store(&handle->stopped, true);
    uint64_t one = 1;
    /* Fails only when the counter is full, and then it is readable anyway. */
    ssize_t written = write(handle->stop_fd, &one, sizeof one);
    (void)written;
    errno = saved;
}

static int stopped(struct mcast_error *error)
{
    return fault_set(error, MCAST_STOPPED, "the program asked libmcast to stop");
}

int handle_pause(struct mcast *handle, unsigned milliseconds, struct mcast_error *error)
{
    struct pollfd stop = {.fd = handle->stop_fd, .events = POLLIN};
    poll(&stop, 1, (int)milliseconds); /* an interrupted pause is only a shorter one */
    return atomic_load(&handle->stopped) ? stopped(error) : 0;
}

/* What is waited for. */
struct wanted {
    struct request request; /* first, so that the two have one address */
    struct mcast *handle;
    bool done;
};

static void on_done(struct request *request)
{
    ((struct wanted *)request)->done = true;
}

static void on_retry(struct request *request)
{
    const struct mcast *handle = ((struct wanted *)request)->handle;
    if (handle->on_wait)
        handle->on_wait(&request->error, handle->wait_data);
}

/* Until it is done or the program stops it. */
static void wait_for(struct mcast *handle, struct wanted *wanted)
{
    struct pollfd both[2] = {{.fd = broker_fd(&handle->broker), .events = POLLIN},
                             {.fd = handle->stop_fd, .events = POLLIN}};
    for (;;) {
        broker_turn(&handle->broker);
        if (atomic_load(&handle->stopped) && !wanted->done)
            broker_cancel(&handle->broker, &wanted->request);
        if (wanted->done)
            return;
        poll(both, 2, -1); /* interrupted: a turn more does no harm */
    }
}

int handle_ask(struct mcast *handle, const struct call *call, bool retry, void **document,
               struct mcast_error *error)
{
    struct peer *peer = &handle->broker.peer;
    struct wanted wanted = {.request = {.call = *call, .done = on_done, .on_retry = on_retry},
                            .handle = handle};
    if (!call->each)
        wanted.request.limit_ms = (int64_t)handle->timeout_ms + call->wait_ms;
    if (retry)
        wanted.request.retry_until_ms = later_now_ms() + handle->retry_ms;
    if (handle->busy)
        return fault_set(error, MCAST_USAGE,
                         "a callback must not use the handle that calls it; open another one");
    if (atomic_load(&handle->stopped))
        return stopped(error);
    int rc = endpoints_remote(&peer->endpoints) ? credentials_settle(&peer->credentials, error) : 0;
    if (rc == 0)
        rc = broker_begin(&handle->broker, &wanted.request, error);
    if (rc < 0)
        return rc;
    handle->broker.later.last_ms = 0;
    handle->busy = true;
    wait_for(handle, &wanted);
    handle->busy = false;
    *document = wanted.request.document;
    if (wanted.request.error.code != 0 && error)
        *error = wanted.request.error;
    return wanted.request.rc;
}

int handle_run(struct mcast *handle, struct call call, void *out, struct mcast_error *error)
{
    void *document = NULL;
    int rc = call.rc;
    if (!out)
        call.read = NULL;
    if (rc == 0 && call.with_token)
        rc = settle_token(handle, error);
    if (rc == 0)
        rc = handle_ask(handle, &call, true, &document, error);
    if (rc == 0 && out)
        memcpy(out, &document, sizeof document);
    call_release(&call);
    return rc;
}

int handle_run_json(struct mcast *handle, struct call call, char **json, struct mcast_error *error)
{
    void *document = NULL;
    int rc = handle_run(handle, call, &document, error);
    if (rc < 0)
        return rc;
    char *text = field_json(document_root(document), 0);
    document_free(document);
    if (!text)
        return fault_nomem(error);
    *json = text;
    return 0;
}

int handle_run_number(struct mcast *handle, struct call call, const char *name, uint64_t *number,
                      struct mcast_error *error)
{
    void *document = NULL;
    uint64_t found = 0;
    int rc = handle_run(handle, call, number ? &document : NULL, error);
    if (rc == 0 && number)
        rc = field_read(document_root(document), name, FIELD_UINT64, FIELD_OPTIONAL, &found, error);
    if (rc == 0 && number)
        *number = found;
    document_free(document);
    return rc;
}

int handle_run_word(struct mcast *handle, struct call call, const char *name, const char *word,
                    bool *is, struct mcast_error *error)
{
    void *document = NULL;
    const char *found = "";
    int rc = handle_run(handle, call, is ? &document : NULL, error);
    if (rc < 0 || !is)
        return rc;
    rc = field_read(document_root(document), name, FIELD_STRING, FIELD_OPTIONAL, &found, error);
    if (rc == 0)
        *is = strcmp(found, word) == 0;
    document_free(document);
    return rc;
}
