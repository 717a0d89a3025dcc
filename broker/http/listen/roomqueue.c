/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/roomqueue.h"

#include <assert.h>
#include <stdlib.h>

struct roomqueue_user {
    uint64_t user;
    unsigned rooms;
    struct room_list line; /* of those that have work */
    bool in_turn;          /* there are some */
    struct roomqueue_user *turn_next;
    LIST_ENTRY(roomqueue_user) link; /* of all users */
};

static struct roomqueue_user *find_user(const struct roomqueue *queue, uint64_t user)
{
    struct roomqueue_user *found = LIST_FIRST(&queue->users);
    while (found && found->user != user)
        found = LIST_NEXT(found, link);
    return found;
}

static struct roomqueue_user *add_user(struct roomqueue *queue, uint64_t user)
{
    struct roomqueue_user *added = calloc(1, sizeof *added);
    if (!added)
        return NULL;
    added->user = user;
    LIST_INSERT_HEAD(&queue->users, added, link);
    return added;
}

static void leave_user(struct roomqueue_user *user)
{
    if (!user || --user->rooms > 0)
        return;
    assert(!user->in_turn);
    LIST_REMOVE(user, link);
    free(user);
}

bool roomqueue_assign(struct roomqueue *queue, struct room *room, uint64_t user)
{
    struct roomqueue_user *before = room_user(room), *after = NULL;
    assert(!room_is_listed(room));
    if (user != ROOMQUEUE_SHARED && !(after = find_user(queue, user)) &&
        !(after = add_user(queue, user)))
        return false;
    if (after)
        after->rooms++;
    room_set_user(room, after);
    leave_user(before);
    return true;
}

uint64_t roomqueue_user_of(const struct room *room)
{
    const struct roomqueue_user *user = room_user(room);
    return user ? user->user : ROOMQUEUE_SHARED;
}

static void append_user(struct roomqueue *queue, struct roomqueue_user *user)
{
    user->in_turn = true;
    user->turn_next = NULL;
    if (queue->turn_next)
        queue->turn_last->turn_next = user;
    else
        queue->turn_next = user;
    queue->turn_last = user;
}

void roomqueue_add(struct roomqueue *queue, struct room *room)
{
    struct roomqueue_user *user = room_user(room);
    room_list_add(user ? &user->line : &queue->first, room);
    if (user && !user->in_turn && user->line.first)
        append_user(queue, user);
}

struct room *roomqueue_take_first(struct roomqueue *queue)
{
    return room_list_take(&queue->first);
}

struct room *roomqueue_take_users(struct roomqueue *queue)
{
    struct roomqueue_user *user = queue->turn_next;
    if (!user)
        return NULL;
    queue->turn_next = user->turn_next;
    user->in_turn = false;
    struct room *room = room_list_take(&user->line);
    assert(room);
    if (user->line.first)
        append_user(queue, user);
    return room;
}

bool roomqueue_is_empty(const struct roomqueue *queue)
{
    return !queue->first.first && !queue->turn_next;
}

void roomqueue_release(struct roomqueue *queue)
{
    for (struct roomqueue_user *user; (user = LIST_FIRST(&queue->users));) {
        LIST_REMOVE(user, link);
        free(user);
    }
    *queue = (struct roomqueue){0};
}
