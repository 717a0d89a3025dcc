#include "fmapi/watches.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct watch {
    uv_poll_t poll;
    curl_socket_t socket;
    int wanted; /* UV_READABLE, UV_WRITABLE: what libcurl waits for; 0: nothing now */
    int polled; /* what the loop was told */
    struct watches *watches;
    struct watch *next; /* of the connections */
};

struct watches {
    uv_loop_t *loop;
    CURLM *multi;
    watches_ready_fn *ready;
    void *ready_arg;
    struct watch *connections; /* those that are open; of other sockets only libcurl knows */
    unsigned handles;          /* of the loop's, not yet closed */
    bool ending;
    void (*closed)(void *arg);
    void *closed_arg;
};

static struct watch **place_of(struct watches *watches, curl_socket_t socket)
{
    struct watch **place = &watches->connections;

    while (*place != NULL && (*place)->socket != socket)
        place = &(*place)->next;
    return place;
}

static struct watch *watch_create(struct watches *watches, curl_socket_t socket)
{
    struct watch *watch = calloc(1, sizeof *watch);

    if (watch == NULL || uv_poll_init_socket(watches->loop, &watch->poll, socket) != 0) {
        free(watch);
        return NULL;
    }
    watch->poll.data = watch;
    watch->socket = socket;
    watch->watches = watches;
    watches->handles++;
    return watch;
}

static void end(struct watches *watches)
{
    void (*closed)(void *arg) = watches->closed;
    void *arg = watches->closed_arg;

    free(watches);
    if (closed != NULL)
        closed(arg);
}

static void on_watch_closed(uv_handle_t *handle)
{
    struct watch *watch = handle->data;
    struct watches *watches = watch->watches;

    free(watch);
    if (--watches->handles == 0 && watches->ending)
        end(watches);
}

static void watch_close(struct watch *watch)
{
    uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

static void watch_stop(struct watch *watch)
{
    (void)uv_poll_stop(&watch->poll); /* cannot fail */
    watch->polled = 0;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    int ready = status < 0 ? CURL_CSELECT_ERR : 0;

    /* The peer closed a connection that nobody uses. Whoever wants it next finds that out. */
    if (watch->wanted == 0) {
        watch_stop(watch);
        return;
    }
    if (events & UV_READABLE)
        ready |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        ready |= CURL_CSELECT_OUT;
    watch->watches->ready(watch->watches->ready_arg, watch->socket, ready);
}

static int want(struct watch *watch, int events)
{
    watch->wanted = events;
    if (watch->polled == events)
        return 0;
    if (uv_poll_start(&watch->poll, events, on_poll) != 0)
        return -1;
    watch->polled = events;
    return 0;
}

static void let_go(struct watches *watches, struct watch *watch)
{
    watch->wanted = 0;
    if (*place_of(watches, watch->socket) != watch)
        watch_close(watch); /* who knows when libcurl closes it */
    else if (watch->polled & UV_WRITABLE)
        watch_stop(watch); /* which it is all the time */
}

static int on_change(CURL *easy, curl_socket_t socket, int what, void *arg, void *socket_arg)
{
    struct watches *watches = arg;
    struct watch *watch = socket_arg != NULL ? socket_arg : *place_of(watches, socket);
    (void)easy;

    if (what == CURL_POLL_REMOVE) {
        if (watch != NULL)
            let_go(watches, watch);
        (void)curl_multi_assign(watches->multi, socket, NULL);
        return 0;
    }
    if (watch == NULL && (watch = watch_create(watches, socket)) == NULL)
        return -1;
    if (socket_arg == NULL)
        (void)curl_multi_assign(watches->multi, socket, watch);
    return want(watch, ((what & CURL_POLL_IN) != 0 ? UV_READABLE : 0) |
                           ((what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0));
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct watches *watches = arg;
    (void)purpose;
    curl_socket_t made =
        socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    struct watch *watch = made >= 0 ? watch_create(watches, made) : NULL;

    if (watch == NULL) {
        if (made >= 0)
            (void)close(made);
        return CURL_SOCKET_BAD;
    }
    watch->next = watches->connections;
    watches->connections = watch;
    return made;
}

static int on_close(void *arg, curl_socket_t socket)
{
    struct watch **place = place_of(arg, socket), *watch = *place;

    if (watch != NULL) {
        *place = watch->next;
        watch_close(watch); /* the loop lets go of it at once */
    }
    return close(socket);
}

struct watches *watches_create(uv_loop_t *loop, watches_ready_fn *ready, void *arg)
{
    struct watches *watches = calloc(1, sizeof *watches);

    if (watches != NULL)
        *watches = (struct watches){.loop = loop, .ready = ready, .ready_arg = arg};
    return watches;
}

void watches_destroy(struct watches *watches, void (*closed)(void *arg), void *arg)
{
    if (watches == NULL)
        return;
    assert(watches->connections == NULL);
    watches->ending = true;
    watches->closed = closed;
    watches->closed_arg = arg;
    if (watches->handles == 0)
        end(watches);
}

bool watches_of(struct watches *watches, CURLM *multi)
{
    watches->multi = multi;
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_change) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, watches) == CURLM_OK;
}

bool watches_open_for(struct watches *watches, CURL *easy)
{
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, watches) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, watches) == CURLE_OK;
}
