#include "client/transport.h"
#include "client/fault.h"
#include "client/flight.h"
#include "client/trouble.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct transport {
    struct flight_peer peer;
    CURLM *multi; /* keeps the connection, and can be woken up, which a bare easy handle cannot */
    CURL *easy;
    int stop_fd;
    atomic_bool stopped;
    bool busy;
    unsigned timeout_ms;
};

int transport_create(struct transport **out, const struct endpoint *endpoint,
                     struct mcast_error *error)
{
    struct transport *transport = calloc(1, sizeof(*transport));
    if (!transport)
        return fault_nomem(error);
    transport->peer.endpoint = *endpoint;
    transport->timeout_ms = CALL_TIMEOUT_MS;
    transport->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (transport->stop_fd < 0) {
        fault_set(error, MCAST_NOMEM, "no descriptor to be had: %s (ulimit -n)", strerror(errno));
        free(transport);
        return MCAST_NOMEM;
    }
    if (!flight_ready() || !(transport->multi = curl_multi_init()) ||
        !(transport->easy = curl_easy_init())) {
        transport_destroy(transport);
        return fault_nomem(error);
    }
    *out = transport;
    return 0;
}

void transport_destroy(struct transport *transport)
{
    if (!transport)
        return;
    int saved = errno;
    curl_easy_cleanup(transport->easy);
    curl_multi_cleanup(transport->multi);
    close(transport->stop_fd);
    credentials_release(&transport->peer.credentials);
    free(transport);
    errno = saved;
}

void transport_set_timeout(struct transport *transport, unsigned milliseconds)
{
    transport->timeout_ms = milliseconds;
}

unsigned transport_timeout(const struct transport *transport)
{
    return transport->timeout_ms;
}

const char *transport_peer(const struct transport *transport)
{
    return endpoint_name(&transport->peer.endpoint);
}

struct credentials *transport_credentials(struct transport *transport)
{
    return &transport->peer.credentials;
}

const char *transport_unproved(const struct transport *transport)
{
    return transport->peer.unproved.text;
}

const struct flight_peer *transport_flights(const struct transport *transport)
{
    return &transport->peer;
}

bool transport_clock_ahead(const struct transport *transport, int64_t *ahead_ms)
{
    *ahead_ms = transport->peer.clock_ahead_ms;
    return transport->peer.clock_known;
}

void transport_stop(struct transport *transport)
{
    int saved = errno;
    atomic_store(&transport->stopped, true);
    uint64_t one = 1;
    /* Fails only when the counter is full, and then it is readable anyway. */
    ssize_t written = write(transport->stop_fd, &one, sizeof(one));
    (void)written;
    errno = saved;
}

static int stopped(struct mcast_error *error)
{
    return fault_set(error, MCAST_STOPPED, "the program asked libmcast to stop");
}

int transport_pause(struct transport *transport, unsigned milliseconds, struct mcast_error *error)
{
    struct pollfd stop = {.fd = transport->stop_fd, .events = POLLIN};
    poll(&stop, 1, (int)milliseconds); /* an interrupted pause is only a shorter one */
    return atomic_load(&transport->stopped) ? stopped(error) : 0;
}

/* Runs the prepared request to its end. 0 with *result, or MCAST_STOPPED, MCAST_NOMEM. */
static int fly(struct transport *transport, CURLcode *result)
{
    struct curl_waitfd stop = {.fd = transport->stop_fd, .events = CURL_WAIT_POLLIN};
    int running = 1, left = 0, rc = 0;
    *result = CURLE_OK;
    if (curl_multi_add_handle(transport->multi, transport->easy) != CURLM_OK)
        return MCAST_NOMEM;
    for (;;) {
        if (curl_multi_perform(transport->multi, &running) != CURLM_OK)
            rc = MCAST_NOMEM;
        else if (atomic_load(&transport->stopped))
            rc = MCAST_STOPPED;
        if (rc != 0 || !running)
            break;
        curl_multi_poll(transport->multi, &stop, 1, 1000, NULL);
    }
    const CURLMsg *message;
    while ((message = curl_multi_info_read(transport->multi, &left))) {
        if (message->msg == CURLMSG_DONE)
            *result = message->data.result;
    }
    curl_multi_remove_handle(transport->multi, transport->easy);
    return rc;
}

/* One request, from its headers to what came of it. */
static int attempt(struct transport *transport, struct flight *flight, const char *url,
                   CURLcode *result, struct mcast_error *error)
{
    *result = CURLE_OK;
    int rc = flight_prepare(flight, url, error);
    if (rc == 0) {
        rc = fly(transport, result);
        if (rc == 0)
            rc = flight_conclude(flight, *result, error);
        else
            rc = rc == MCAST_STOPPED ? stopped(error) : fault_nomem(error);
    }
    flight_release(flight);
    return rc;
}

/* Sends until there is an answer, or `attempts` connections broke. */
static int send_call(struct transport *transport, struct flight *flight, int attempts,
                     struct mcast_error *error)
{
    struct flight_peer *peer = &transport->peer;
    struct text url = {0};
    struct mcast_error why = {0};
    int rc = 0;
    CURLcode result = CURLE_OK;
    if (!flight_url(&url, peer, flight->call))
        rc = fault_nomem(&why);
    if (rc == 0 && !peer->endpoint.socket[0])
        rc = credentials_settle(&peer->credentials, &why);
    bool again = rc == 0;
    for (int sent = 1; again; sent++) {
        flight->fresh = trouble_broken(result);
        rc = attempt(transport, flight, text_string(&url), &result, &why);
        again = sent < attempts && trouble_broken(result);
        if (rc == 0 && sent == 1)
            again = flight_stale(flight->answer);
    }
    if (rc < 0 && error)
        *error = why;
    text_release(&url);
    if (rc != 0)
        text_release(&flight->answer->body);
    return rc;
}

static int run(struct transport *transport, struct flight *flight, int attempts,
               struct mcast_error *error)
{
    *flight->answer = (struct answer){0};
    flight->peer = &transport->peer;
    flight->easy = transport->easy;
    if (transport->busy)
        return fault_set(error, MCAST_USAGE,
                         "a callback must not use the handle that calls it; open another one");
    if (atomic_load(&transport->stopped))
        return stopped(error);
    transport->busy = true;
    int rc = send_call(transport, flight, attempts, error);
    transport->busy = false;
    return rc;
}

int transport_call(struct transport *transport, const struct call *call, struct answer *answer,
                   struct mcast_error *error)
{
    struct flight flight = {.call = call, .answer = answer};
    flight.limit_ms = (long)transport->timeout_ms + (long)call->wait_ms;
    return run(transport, &flight, 2, error);
}

int transport_stream(struct transport *transport, const struct call *call, call_piece_fn *each,
                     void *data, struct answer *answer, struct mcast_error *error)
{
    struct flight flight = {.call = call, .answer = answer, .each = each, .data = data};
    return run(transport, &flight, 1, error);
}
