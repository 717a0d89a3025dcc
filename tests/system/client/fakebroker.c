/* SPDX-License-Identifier: Apache-2.0 */
#include "fakebroker.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/folder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_MAX = 1 << 16, REQUESTS_MAX = 64, DEADLINE_S = 180 };

struct fakebroker {
    const struct reply *script;
    size_t script_count;
    char folder[FOLDER_PATH_SIZE];
    char url[128];
    int listener;
    int stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    char *requests[REQUESTS_MAX];
    size_t request_count;
    size_t connections;
    bool standby;
    char leader[300]; /* "": a standby knows none */
};

/* Whether fd can be read before the broker is to stop. */
static bool wait_for(struct fakebroker *fake, int fd)
{
    struct pollfd both[2] = {{.fd = fd, .events = POLLIN}, {.fd = fake->stop, .events = POLLIN}};
    while (poll(both, 2, -1) < 0 && errno == EINTR)
        continue;
    return both[1].revents == 0;
}

/* The length of a whole request at the start of the text, 0 when more must come. */
static size_t whole_length(const char *text, size_t length)
{
    const char *body = memmem(text, length, "\r\n\r\n", 4);
    const char *field = body ? strcasestr(text, "\r\nContent-Length:") : NULL;
    size_t wanted = 0;
    if (!body)
        return 0;
    if (field && field < body)
        wanted = strtoul(field + strlen("\r\nContent-Length:"), NULL, 10);
    size_t total = (size_t)(body + 4 - text) + wanted;
    return length >= total ? total : 0;
}

/* One request, kept; false when the client went away or the broker stops. */
static bool take_request(struct fakebroker *fake, int client)
{
    char *text = calloc(1, REQUEST_MAX);
    size_t length = 0;
    while (text && whole_length(text, length) == 0) {
        ssize_t got = 0;
        if (wait_for(fake, client))
            got = recv(client, text + length, REQUEST_MAX - 1 - length, 0);
        if (got <= 0) {
            free(text);
            return false;
        }
        length += (size_t)got;
    }
    pthread_mutex_lock(&fake->lock);
    if (fake->request_count < REQUESTS_MAX)
        fake->requests[fake->request_count++] = text;
    else
        free(text);
    pthread_cond_broadcast(&fake->arrived);
    pthread_mutex_unlock(&fake->lock);
    return true;
}

static void give(int client, const struct reply *reply)
{
    char head[256] = "";
    if (reply->status != 0)
        snprintf(head, sizeof head,
                 "HTTP/1.1 %ld Word\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
                 reply->status, reply->type ? reply->type : "application/json",
                 strlen(reply->body));
    /* The client may have gone; that is its business, and shows in what it reports. */
    (void)!send(client, head, strlen(head), MSG_NOSIGNAL);
    (void)!send(client, reply->body, strlen(reply->body), MSG_NOSIGNAL);
}

/* Whether it is a standby, which has then refused the request. */
static bool refuse_as_standby(struct fakebroker *fake, int client)
{
    char body[512], text[768];
    pthread_mutex_lock(&fake->lock);
    bool standby = fake->standby;
    snprintf(body, sizeof body, "{\"status\":503,\"code\":\"not-leader\"%s%s%s}",
             fake->leader[0] ? ",\"leader\":\"" : "", fake->leader, fake->leader[0] ? "\"" : "");
    pthread_mutex_unlock(&fake->lock);
    if (!standby)
        return false;
    snprintf(text, sizeof text,
             "HTTP/1.1 503 Standby\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
             "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    (void)!send(client, text, strlen(text), MSG_NOSIGNAL);
    return true;
}

/* Serves one connection; returns the place in the script after it. */
static size_t serve(struct fakebroker *fake, int client, size_t at)
{
    while (take_request(fake, client)) {
        if (refuse_as_standby(fake, client) || at == fake->script_count)
            break; /* not foreseen: closed without a word, and counted */
        const struct reply *reply = &fake->script[at++];
        give(client, reply);
        if (reply->then == THEN_HANG)
            wait_for(fake, client);
        if (reply->then != THEN_KEEP)
            break;
    }
    return at;
}

static void *run(void *data)
{
    struct fakebroker *fake = data;
    size_t at = 0;
    while (wait_for(fake, fake->listener)) {
        int client = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            continue;
        pthread_mutex_lock(&fake->lock);
        fake->connections++;
        pthread_mutex_unlock(&fake->lock);
        at = serve(fake, client, at);
        close(client);
    }
    return NULL;
}

struct fakebroker *fakebroker_create(const struct reply *script, size_t count)
{
    struct fakebroker *fake = calloc(1, sizeof *fake);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_non_null(fake);
    fake->script = script;
    fake->script_count = count;
    assert_int_equal(folder_create(fake->folder), 0);
    folder_path(address.sun_path, sizeof address.sun_path, fake->folder, "s");
    snprintf(fake->url, sizeof fake->url, "unix:%s", address.sun_path);
    fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fake->stop = eventfd(0, EFD_CLOEXEC);
    assert_true(fake->listener >= 0 && fake->stop >= 0);
    assert_int_equal(bind(fake->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fake->listener, 16), 0);
    pthread_mutex_init(&fake->lock, NULL);
    pthread_cond_init(&fake->arrived, NULL);
    assert_int_equal(pthread_create(&fake->thread, NULL, run, fake), 0);
    return fake;
}

const char *fakebroker_url(const struct fakebroker *fake)
{
    return fake->url;
}

const char *fakebroker_folder(const struct fakebroker *fake)
{
    return fake->folder;
}

void fakebroker_expect(struct fakebroker *fake, size_t count, const char *request)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += DEADLINE_S;
    pthread_mutex_lock(&fake->lock);
    int rc = 0;
    while (fake->request_count < count && rc == 0)
        rc = pthread_cond_timedwait(&fake->arrived, &fake->lock, &deadline);
    size_t arrived = fake->request_count;
    const char *last = arrived > 0 ? fake->requests[arrived - 1] : "";
    pthread_mutex_unlock(&fake->lock);
    assert_int_equal(arrived, count);
    if (count > 0)
        assert_string_equal(last, request);
}

void fakebroker_stand_by(struct fakebroker *fake, const char *leader)
{
    pthread_mutex_lock(&fake->lock);
    fake->standby = true;
    snprintf(fake->leader, sizeof fake->leader, "%s", leader ? leader : "");
    pthread_mutex_unlock(&fake->lock);
}

void fakebroker_lead(struct fakebroker *fake)
{
    pthread_mutex_lock(&fake->lock);
    fake->standby = false;
    pthread_mutex_unlock(&fake->lock);
}

void fakebroker_hide(struct fakebroker *fake, bool hidden)
{
    const char *path = fake->url + strlen("unix:");
    char away[sizeof fake->url];
    snprintf(away, sizeof away, "%s.away", path);
    assert_int_equal(hidden ? rename(path, away) : rename(away, path), 0);
}

size_t fakebroker_connections(struct fakebroker *fake)
{
    pthread_mutex_lock(&fake->lock);
    size_t connections = fake->connections;
    pthread_mutex_unlock(&fake->lock);
    return connections;
}

void fakebroker_destroy(struct fakebroker *fake)
{
    uint64_t one = 1;
    assert_int_equal(write(fake->stop, &one, sizeof one), sizeof one);
    pthread_join(fake->thread, NULL);
    close(fake->listener);
    close(fake->stop);
    for (size_t i = 0; i < fake->request_count; i++)
        free(fake->requests[i]);
    pthread_mutex_destroy(&fake->lock);
    pthread_cond_destroy(&fake->arrived);
    folder_destroy(fake->folder);
    free(fake);
}
