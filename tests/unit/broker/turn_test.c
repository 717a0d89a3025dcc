/* SPDX-License-Identifier: Apache-2.0 */
/* For how long the loop was stalled, and what was done meanwhile (G11, B8). */
#include "tests/unit/unit.h"

#include "broker/turn.h"

static const char sync_work[] = "a sync", list_work[] = "a list";

static uint64_t now;

static uint64_t now_ns(void)
{
    return now;
}

static void spend(int ms)
{
    now += (uint64_t)ms * 1000000;
}

static int setup(void **state)
{
    static uv_loop_t loop;
    static struct turn turn;
    assert_int_equal(uv_loop_init(&loop), 0);
    turn_init(&turn, &loop);
    turn.now_ns = now_ns;
    now = 1000000000;
    *state = &turn;
    return 0;
}

static int teardown(void **state)
{
    struct turn *turn = *state;
    assert_int_equal(uv_loop_close(turn->loop), 0);
    return 0;
}

/* The first wait begins the first turn. */
static void first(struct turn *turn)
{
    struct turn_stall absence;
    assert_false(turn_end(turn, &absence));
    assert_int_equal(turn->stall.count, 0);
}

UNIT_WITH(long_turn__says_what_took_longest, setup, teardown)
{
    struct turn *turn = *state;
    struct turn_stall absence;
    first(turn);
    const char *before = turn_enter(turn, list_work);
    spend(10);
    turn_leave(turn, before);
    before = turn_enter(turn, sync_work);
    spend(50);
    turn_leave(turn, before);
    assert_true(turn_end(turn, &absence));
    assert_ptr_equal(absence.what, sync_work);
    assert_int_equal(absence.what_us, 50000);
    assert_int_equal(absence.took_us, 60000);
    assert_true(absence.cpu_us >= 0);
    assert_int_equal(turn_peak_us(turn), 60000);
}

/* What is within counts for itself; the same again adds up. */
UNIT_WITH(nested__is_told_apart, setup, teardown)
{
    struct turn *turn = *state;
    struct turn_stall absence;
    first(turn);
    for (int i = 0; i < 3; i++) {
        const char *outer = turn_enter(turn, sync_work);
        spend(5);
        const char *inner = turn_enter(turn, list_work);
        assert_ptr_equal(inner, sync_work);
        spend(15);
        turn_leave(turn, inner);
        turn_leave(turn, outer);
    }
    spend(20);
    assert_true(turn_end(turn, &absence));
    assert_ptr_equal(absence.what, list_work);
    assert_int_equal(absence.what_us, 45000);
    assert_int_equal(absence.took_us, 80000);
}

UNIT_WITH(unnamed__is_told_too, setup, teardown)
{
    struct turn *turn = *state;
    struct turn_stall absence;
    first(turn);
    spend(60);
    assert_true(turn_end(turn, &absence));
    assert_non_null(strstr(absence.what, "fabric manager"));
}

/* More names than there is room for are counted with what has none. */
UNIT_WITH(names__beyond_the_last_are_not_lost, setup, teardown)
{
    static const char names[TURN_NAMES + 2][8] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    struct turn *turn = *state;
    struct turn_stall absence;
    first(turn);
    for (int i = 0; i < TURN_NAMES + 2; i++) {
        const char *before = turn_enter(turn, names[i]);
        spend(i < TURN_NAMES - 1 ? 1 : 25);
        turn_leave(turn, before);
    }
    assert_true(turn_end(turn, &absence));
    assert_int_equal(absence.what_us, 75000);
    assert_non_null(strstr(absence.what, "fabric manager"));
}

UNIT_WITH(ordinary__is_counted_and_not_told, setup, teardown)
{
    struct turn *turn = *state;
    struct turn_stall absence;
    first(turn);
    turn->interrupted = true;
    assert_false(turn_end(turn, &absence));
    assert_int_equal(turn->stall.count, 0);
    spend(1);
    assert_false(turn_end(turn, &absence));
    assert_int_equal(turn->stall.count, 1);
    spend(50);
    assert_true(turn_end(turn, &absence));
}

/* Each turn stands for itself. */
UNIT_WITH(turn__forgets_the_one_before, setup, teardown)
{
    struct turn *turn = *state;
    struct turn_stall absence;
    first(turn);
    const char *before = turn_enter(turn, sync_work);
    spend(60);
    turn_leave(turn, before);
    assert_true(turn_end(turn, &absence));
    before = turn_enter(turn, list_work);
    spend(55);
    turn_leave(turn, before);
    assert_true(turn_end(turn, &absence));
    assert_ptr_equal(absence.what, list_work);
}

UNIT_RUN(NULL, NULL)
