/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/peer.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct peer {
    int fd;
    char *data;
    size_t used, size;
};

struct peer *peer_open(const char *path, int port)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in remote = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval deadline = {.tv_sec = AWAIT_DEADLINE_MS / 1000};
    struct peer *peer = calloc(1, sizeof *peer);
    assert_non_null(peer);
    peer->fd = socket(path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(peer->fd >= 0);
    setsockopt(peer->fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    setsockopt(peer->fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
    if (path) {
        snprintf(local.sun_path, sizeof local.sun_path, "%s", path);
        assert_int_equal(connect(peer->fd, (struct sockaddr *)&local, sizeof local), 0);
    } else {
        assert_int_equal(connect(peer->fd, (struct sockaddr *)&remote, sizeof remote), 0);
    }
    return peer;
}

void peer_close(struct peer *peer)
{
    if (!peer)
        return;
    close(peer->fd);
    free(peer->data);
    free(peer);
}

bool peer_send(struct peer *peer, const char *bytes, size_t length)
{
    while (length) {
        ssize_t sent = send(peer->fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

void peer_end_sending(struct peer *peer)
{
    (void)shutdown(peer->fd, SHUT_WR); /* fails when the other side was first */
}

/* Reads what comes: bytes, 0 at the end (a reset is one, too), -1 when the deadline passed. */
static ssize_t read_some(struct peer *peer)
{
    if (peer->size - peer->used < 2) {
        peer->size = peer->size ? peer->size * 2 : 4096;
        peer->data = realloc(peer->data, peer->size);
        assert_non_null(peer->data);
    }
    ssize_t got = recv(peer->fd, peer->data + peer->used, peer->size - peer->used - 1, 0);
    if (got > 0)
        peer->used += (size_t)got;
    peer->data[peer->used] = '\0';
    return got < 0 && errno == ECONNRESET ? 0 : got;
}

bool peer_answer(struct peer *peer, bool bodiless, struct answer *answer)
{
    long taken;
    while (!peer->used || (taken = answer_take(peer->data, peer->used, bodiless, answer)) == 0)
        if (read_some(peer) <= 0)
            return false;
    if (taken < 0)
        return false;
    peer->used -= (size_t)taken;
    memmove(peer->data, peer->data + taken, peer->used + 1);
    return true;
}

bool peer_read_out(struct peer *peer)
{
    ssize_t got;
    while ((got = read_some(peer)) > 0)
        ;
    return got == 0;
}

const char *peer_rest(const struct peer *peer)
{
    return peer->used ? peer->data : "";
}

bool peer_skip_past(struct peer *peer, const char *text, const char *never)
{
    size_t tail = strlen(text) > strlen(never) ? strlen(text) : strlen(never);
    const char *at;
    while (!(at = peer->used ? strstr(peer->data, text) : NULL)) {
        if (peer->used && strstr(peer->data, never))
            return false;
        size_t dropped = peer->used > tail ? peer->used - tail : 0;
        if (dropped)
            memmove(peer->data, peer->data + dropped, tail + 1);
        peer->used -= dropped;
        if (read_some(peer) <= 0)
            return false;
    }
    size_t past = (size_t)(at - peer->data) + strlen(text);
    peer->used -= past;
    memmove(peer->data, peer->data + past, peer->used + 1);
    return true;
}

size_t peer_waiting(const struct peer *peer)
{
    int waiting = 0;
    assert_int_equal(ioctl(peer->fd, FIONREAD, &waiting), 0);
    return (size_t)waiting;
}

pid_t peer_process(const struct peer *peer)
{
    struct ucred ucred;
    socklen_t length = sizeof ucred;
    assert_int_equal(getsockopt(peer->fd, SOL_SOCKET, SO_PEERCRED, &ucred, &length), 0);
    return ucred.pid;
}
