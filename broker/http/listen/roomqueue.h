/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_ROOMQUEUE_H
#define MCAST_BROKER_HTTP_LISTEN_ROOMQUEUE_H

#include "broker/http/listen/room.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* The rooms of a server that have work, in the order of their turns. Shared ones are first: of
 * managers and admins, and all over TCP. Of the others each user has one room's turn after the
 * other, however many rooms his connections fill: a user with many requests delays only himself
 * (B8). */

enum { ROOMQUEUE_SHARED = 0 };

struct roomqueue_user;

/* All zero is a valid one, without rooms. */
struct roomqueue {
    struct room_list first;
    LIST_HEAD(user_list, roomqueue_user) users;   /* who have rooms */
    struct roomqueue_user *turn_next, *turn_last; /* those whose rooms have work */
};

/* After all rooms are destroyed. */
void roomqueue_release(struct roomqueue *queue);

/* The room is this user's from now on, or shared, as a new one is. It may not have
 * work. False: no memory, and it is as it was. */
bool roomqueue_assign(struct roomqueue *queue, struct room *room, uint64_t user);
uint64_t roomqueue_user_of(const struct room *room);

/* The room has work. Nothing when that is known. */
void roomqueue_add(struct roomqueue *queue, struct room *room);

/* The next shared one, or one of a user's; NULL: there is none. */
struct room *roomqueue_take_first(struct roomqueue *queue);
struct room *roomqueue_take_users(struct roomqueue *queue);

bool roomqueue_is_empty(const struct roomqueue *queue);

#endif
