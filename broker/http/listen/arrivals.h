/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

/* Connections that are accepted and wait for their TLS handshake. All nodes of a machine can come
 * at once: each has an open connection then, and none is put off by the kernel. One that waits
 * costs a descriptor and 200 bytes; a handshake costs a millisecond, so a few are served at a time.
 *
 * Addresses take turns, so that one with many connections delays no other. They are hashed to as
 * many lists as there are; those that share a list share its turns. Pure, but for the descriptors
 * that it closes. */

enum {
    ARRIVALS_MAX = 16384,          /* the largest machine has 11,136 nodes */
    ARRIVALS_LISTS = ARRIVALS_MAX, /* so that few addresses share one with another */
    ARRIVALS_SHARE = 4             /* of one list; a longer one gives way when there is no room */
};

struct arrival {
    TAILQ_ENTRY(arrival) link;
    int fd;
    socklen_t length;
    struct sockaddr_storage address;
};

struct arrivals {
    unsigned count, max;
    uint32_t seed; /* of the hash */
    TAILQ_HEAD(arrival_turns, arrival_list)
    turns;                       /* lists that are not empty, the next one first */
    struct arrival_list *giving; /* that gave way last; or NULL */
    struct arrival_list {
        unsigned count;
        TAILQ_HEAD(arrival_waiting, arrival) waiting;
        TAILQ_ENTRY(arrival_list) turn;
    } lists[ARRIVALS_LISTS];
};

/* Of all zero. */
void arrivals_init(struct arrivals *arrivals, unsigned max, uint32_t seed);

/* Whether one more may be added: there is room, or it can be made. */
bool arrivals_may_add(struct arrivals *arrivals);

/* Takes over fd. Without room the newest of a long list is closed. False: it was one. */
bool arrivals_add(struct arrivals *arrivals, int fd, const struct sockaddr_storage *address,
                  socklen_t length);

/* The next one: its descriptor, which is the caller's then, and its address; -1: none waits. */
int arrivals_take(struct arrivals *arrivals, struct sockaddr_storage *address, socklen_t *length);

/* Closes all. */
void arrivals_clear(struct arrivals *arrivals);
