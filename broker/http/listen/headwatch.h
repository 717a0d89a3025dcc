/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_HEADWATCH_H
#define MCAST_BROKER_HTTP_LISTEN_HEADWATCH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Requests whose head is begun and does not end: each has HEADWATCH_MS from its first byte, however
 * its bytes trickle in (B8).
 *
 * libmicrohttpd reports a request when its head is complete, and takes each byte for a sign of
 * life. So connections that are between two requests are watched here, too, by an epoll of our own:
 * once, for the first byte that comes, before libmicrohttpd reads it. That costs a connection
 * nothing while its requests follow each other: it is watched when it has been quiet for a while.
 * Bytes that come before that, behind an answer, are noticed with the next ones; until then it
 * counts as quiet. */

enum { HEADWATCH_MS = 10000, HEADWATCH_QUIET_MS = 1000 };

enum head_state {
    HEAD_COMPLETE, /* a request is being served, or nothing is expected yet */
    HEAD_QUIET,    /* the last request is over */
    HEAD_WATCHED,  /* for a first byte */
    HEAD_BEGUN
};

/* Of one connection; all zero before headwatch_expect. */
struct head_entry {
    enum head_state state;
    int fd;
    bool in_epoll;
    uint64_t since_ms; /* QUIET, BEGUN */
};

/* The epoll, or a code with a sentence. */
int headwatch_open(struct error *err);

/* Looks for first bytes: before each run of a worker. */
void headwatch_check(int epoll_fd, uint64_t now_ms);

/* A request may come on fd now: it is new, or its handshake is over. Again: nothing. */
void headwatch_expect(int epoll_fd, struct head_entry *entry, int fd, uint64_t now_ms);
/* Its next request is over (QUIET), or its head COMPLETE. */
void headwatch_set(struct head_entry *entry, enum head_state state, uint64_t now_ms);
/* Every second, after headwatch_check. True: the time of its head is over. */
bool headwatch_is_late(int epoll_fd, struct head_entry *entry, uint64_t now_ms);
/* No further one comes; before fd is closed. Again: nothing. */
void headwatch_forget(int epoll_fd, struct head_entry *entry);

#endif
