/* SPDX-License-Identifier: Apache-2.0 */
/* In which order rooms have their turns (B8). */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "broker/http/listen/roomqueue.h"

#include <stdlib.h>

enum { ROOMS = 12, GREEDY = 100000, MODEST = 5588 };

struct fixture {
    uv_loop_t loop;
    struct roomqueue queue;
    struct room *rooms[ROOMS];
};

static void has_work(void *arg, struct room *room)
{
    (void)arg;
    (void)room;
}

static void changed(void *arg, int by)
{
    (void)arg;
    (void)by;
}

static const struct room_hooks hooks;
static const struct room_owner owner = {.has_work = has_work, .changed = changed};

static int open_rooms(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error err = {0};
    assert_non_null(fixture);
    assert_int_equal(uv_loop_init(&fixture->loop), 0);
    for (int i = 0; i < ROOMS; i++) {
        fixture->rooms[i] =
            room_create(&fixture->loop, false, ROOM_PLACES_USER, &hooks, &owner, &err);
        assert_non_null(fixture->rooms[i]);
    }
    *state = fixture;
    return 0;
}

static void on_closed(void *arg)
{
    (void)arg;
}

static int close_rooms(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < ROOMS; i++)
        room_destroy(fixture->rooms[i], on_closed, NULL);
    roomqueue_release(&fixture->queue);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    free(fixture);
    return 0;
}

static void assign(struct fixture *fixture, int room, uint64_t user)
{
    assert_true(roomqueue_assign(&fixture->queue, fixture->rooms[room], user));
    assert_int_equal(roomqueue_user_of(fixture->rooms[room]), user);
}

/* A user with ten rooms that are never done, and one with a single room: turn and turn about. */
static void user__waits_for_himself_only(void **state)
{
    enum { ROUNDS = 20 };
    struct fixture *fixture = *state;
    struct roomqueue *queue = &fixture->queue;
    for (int i = 0; i < ROOMS - 2; i++) {
        assign(fixture, i, GREEDY);
        roomqueue_add(queue, fixture->rooms[i]);
    }
    assign(fixture, ROOMS - 2, MODEST);
    roomqueue_add(queue, fixture->rooms[ROOMS - 2]);
    for (int i = 0; i < ROUNDS; i++) {
        struct room *room = roomqueue_take_users(queue);
        assert_ptr_equal(room, fixture->rooms[i % (ROOMS - 2)]); /* each of his in turn, too */
        roomqueue_add(queue, room);
        room = roomqueue_take_users(queue);
        assert_int_equal(roomqueue_user_of(room), MODEST);
        roomqueue_add(queue, room);
        roomqueue_add(queue, room); /* that is known */
    }
}

static void nobodys__do_not_wait_for_users(void **state)
{
    struct fixture *fixture = *state;
    struct roomqueue *queue = &fixture->queue;
    assert_true(roomqueue_is_empty(queue));
    assign(fixture, 0, GREEDY);
    roomqueue_add(queue, fixture->rooms[0]);
    assert_null(roomqueue_take_first(queue));
    roomqueue_add(queue, fixture->rooms[1]);
    assert_ptr_equal(roomqueue_take_first(queue), fixture->rooms[1]);
    assert_null(roomqueue_take_first(queue));
    assert_false(roomqueue_is_empty(queue));
    assert_ptr_equal(roomqueue_take_users(queue), fixture->rooms[0]);
    assert_null(roomqueue_take_users(queue));
    assert_true(roomqueue_is_empty(queue));
}

static void room__that_a_user_left_is_anothers(void **state)
{
    struct fixture *fixture = *state;
    struct roomqueue *queue = &fixture->queue;
    assign(fixture, 0, GREEDY);
    assign(fixture, 1, GREEDY);
    assign(fixture, 0, MODEST);
    roomqueue_add(queue, fixture->rooms[0]);
    roomqueue_add(queue, fixture->rooms[1]);
    assert_ptr_equal(roomqueue_take_users(queue), fixture->rooms[0]);
    assert_ptr_equal(roomqueue_take_users(queue), fixture->rooms[1]);
    assign(fixture, 1, ROOMQUEUE_SHARED);
    assign(fixture, 0, ROOMQUEUE_SHARED);
    assert_true(LIST_EMPTY(&queue->users));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(user__waits_for_himself_only, open_rooms, close_rooms),
        cmocka_unit_test_setup_teardown(nobodys__do_not_wait_for_users, open_rooms, close_rooms),
        cmocka_unit_test_setup_teardown(room__that_a_user_left_is_anothers, open_rooms,
                                        close_rooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
