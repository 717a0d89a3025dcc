#include "client/transport.h"
#include "client/fault.h"
#include "client/flight.h"
#include "client/reactor.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct transport {
    struct flight_peer peer;
    struct reactor *reactor;
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
    int rc = reactor_create(&transport->reactor, endpoint, error);
    if (rc < 0)
        transport_destroy(transport);
    else
        *out = transport;
    return rc;
}

void transport_destroy(struct transport *transport)
{
    if (!transport)
        return;
    int saved = errno;
    reactor_destroy(transport->reactor);
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

/* Runs the prepared request to its end. 0, or MCAST_STOPPED, MCAST_NOMEM. */
static int fly(struct transport *transport, struct flight *flight, struct mcast_error *error)
{
    struct pollfd both[2] = {{.fd = reactor_fd(transport->reactor), .events = POLLIN},
                             {.fd = transport->stop_fd, .events = POLLIN}};
    if (!reactor_add(transport->reactor, flight))
        return fault_nomem(error);
    for (;;) {
        reactor_turn(transport->reactor);
        if (atomic_load(&transport->stopped)) {
            reactor_remove(transport->reactor, flight);
            return stopped(error);
        }
        if (reactor_landed(transport->reactor))
            return 0;
        reactor_set_alarm(transport->reactor, INT64_MAX);
        poll(both, 2, -1); /* interrupted: a turn more does no harm */
    }
}

/* One request, from its headers to what came of it. */
static int attempt(struct transport *transport, struct flight *flight, struct mcast_error *error)
{
    int rc = flight_prepare(flight, error);
    if (rc == 0)
        rc = fly(transport, flight, error);
    if (rc == 0)
        rc = flight_conclude(flight, error);
    flight_release(flight);
    return rc;
}

/* Sends until there is an answer, or `attempts` connections broke. */
static int send_call(struct transport *transport, struct flight *flight, int attempts,
                     struct mcast_error *error)
{
    struct flight_peer *peer = &transport->peer;
    struct mcast_error why = {0};
    int rc = 0;
    if (!peer->endpoint.socket[0])
        rc = credentials_settle(&peer->credentials, &why);
    bool again = rc == 0;
    for (int sent = 1; again; sent++) {
        rc = attempt(transport, flight, &why);
        flight->fresh = trouble_broken(&flight->trouble);
        again = sent < attempts && flight->fresh;
        if (rc == 0 && sent == 1)
            again = flight_stale(flight->answer);
    }
    if (rc < 0 && error)
        *error = why;
    if (rc != 0)
        text_release(&flight->answer->body);
    return rc;
}

static int run(struct transport *transport, struct flight *flight, int attempts,
               struct mcast_error *error)
{
    *flight->answer = (struct answer){0};
    flight->peer = &transport->peer;
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
    flight.limit_ms = (int64_t)transport->timeout_ms + call->wait_ms;
    return run(transport, &flight, 2, error);
}

int transport_stream(struct transport *transport, const struct call *call, call_piece_fn *each,
                     void *data, struct answer *answer, struct mcast_error *error)
{
    struct flight flight = {.call = call, .answer = answer, .each = each, .data = data};
    return run(transport, &flight, 1, error);
}
