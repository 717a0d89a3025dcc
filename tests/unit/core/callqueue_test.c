/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/fabric/callqueue.h"

enum { AT_ONCE = 8 };

/* However many releases wait, a reserve is next, and places are kept free for it. */
UNIT(callqueue__releases_never_starve_reserves)
{
    struct callqueue q = {0};
    struct operation releases[100] = {0}, reserve = {0};
    for (int i = 0; i < 100; i++)
        callqueue_push(&q, &releases[i], LANE_RELEASE, FMCALL_RELEASE);
    int begun = 0;
    while (callqueue_begin(&q, AT_ONCE))
        begun++;
    assert_int_equal(begun, 6); /* a quarter is kept free */
    callqueue_push(&q, &reserve, LANE_RESERVE, FMCALL_RESERVE);
    assert_ptr_equal(callqueue_begin(&q, AT_ONCE), &reserve);
    assert_null(callqueue_begin(&q, AT_ONCE));
}

UNIT(callqueue__releases_go_before_questions)
{
    struct callqueue q = {0};
    struct operation checks[AT_ONCE] = {0}, release = {0};
    enum fmcall_kind kind;
    for (int i = 0; i < AT_ONCE; i++)
        callqueue_push(&q, &checks[i], LANE_CHECK, FMCALL_CHECK);
    while (callqueue_begin(&q, AT_ONCE))
        continue;
    callqueue_push(&q, &release, LANE_RELEASE, FMCALL_RELEASE);
    assert_null(callqueue_begin(&q, AT_ONCE)); /* they share what reserves leave them */
    callqueue_end(&q, checks[0].call, &kind);
    assert_ptr_equal(callqueue_begin(&q, AT_ONCE), &release);
}

UNIT(callqueue__one_place_serves_both_lanes)
{
    struct callqueue q = {0};
    struct operation release = {0}, reserve = {0};
    enum fmcall_kind kind;
    callqueue_push(&q, &release, LANE_RELEASE, FMCALL_RELEASE);
    assert_ptr_equal(callqueue_begin(&q, 1), &release);
    callqueue_push(&q, &reserve, LANE_RESERVE, FMCALL_RESERVE);
    assert_null(callqueue_begin(&q, 1));
    assert_ptr_equal(callqueue_end(&q, release.call, &kind), &release);
    assert_int_equal(kind, FMCALL_RELEASE);
    assert_ptr_equal(callqueue_begin(&q, 1), &reserve);
}

/* How many of each lane are under way at once when all of them wait, for each number of places:
 * reserves may have all, others three quarters, cleanups an eighth, and one at least of each. */
UNIT(callqueue__shares_places)
{
    static const struct {
        uint32_t places, reserves, others, cleanups;
    } cases[] = {{1, 1, 1, 0},    {2, 2, 1, 0},    {3, 3, 2, 0},    {4, 4, 3, 1},   {5, 5, 3, 1},
                 {7, 7, 5, 1},    {8, 8, 6, 1},    {9, 9, 6, 2},    {12, 12, 9, 2}, {15, 15, 11, 2},
                 {16, 16, 12, 2}, {17, 17, 12, 3}, {32, 32, 24, 4}, {64, 64, 48, 8}};
    static struct operation reserves[80], releases[80], checks[80], cleanups[80];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct callqueue q = {0};
        memset(reserves, 0, sizeof reserves);
        memset(releases, 0, sizeof releases);
        memset(checks, 0, sizeof checks);
        memset(cleanups, 0, sizeof cleanups);
        for (int k = 0; k < 80; k++) {
            callqueue_push(&q, &cleanups[k], LANE_CLEANUP, FMCALL_END_STEP);
            callqueue_push(&q, &checks[k], LANE_CHECK, FMCALL_CHECK);
            callqueue_push(&q, &releases[k], LANE_RELEASE, FMCALL_RELEASE);
        }
        while (callqueue_begin(&q, cases[i].places))
            continue;
        assert_int_equal(q.lanes[LANE_CLEANUP].in_flight, cases[i].cleanups);
        assert_int_equal(q.lanes[LANE_RELEASE].in_flight, cases[i].others - cases[i].cleanups);
        assert_int_equal(q.lanes[LANE_CHECK].in_flight, 0);
        for (int k = 0; k < 80; k++)
            callqueue_push(&q, &reserves[k], LANE_RESERVE, FMCALL_RESERVE);
        while (callqueue_begin(&q, cases[i].places))
            continue;
        assert_int_equal(q.lanes[LANE_RESERVE].in_flight, cases[i].reserves - cases[i].others);
    }
}

/* With few places a cleanup waits for releases, and goes when none waits. */
UNIT(callqueue__cleanups_go_when_no_release_waits)
{
    for (uint32_t places = 1; places <= 3; places++) {
        struct callqueue q = {0};
        struct operation cleanup = {0}, check = {0};
        callqueue_push(&q, &check, LANE_CHECK, FMCALL_CHECK);
        callqueue_push(&q, &cleanup, LANE_CLEANUP, FMCALL_END_STEP);
        assert_ptr_equal(callqueue_begin(&q, places), &cleanup);
    }
}

UNIT(callqueue_end__knows_only_calls_under_way)
{
    struct callqueue q = {0};
    struct operation e = {0};
    enum fmcall_kind kind;
    callqueue_push(&q, &e, LANE_RESERVE, FMCALL_RESERVE);
    callqueue_begin(&q, AT_ONCE);
    uint64_t id = e.call;
    assert_null(callqueue_end(&q, 0, &kind));
    assert_null(callqueue_end(&q, id + 1, &kind));
    assert_ptr_equal(callqueue_end(&q, id, &kind), &e);
    assert_null(callqueue_end(&q, id, &kind)); /* once */
}

UNIT(callqueue_remove__from_any_place)
{
    struct callqueue q = {0};
    struct operation e[3] = {0};
    for (int i = 0; i < 3; i++)
        callqueue_push(&q, &e[i], LANE_RESERVE, FMCALL_RESERVE);
    callqueue_remove(&q, &e[1]);
    callqueue_remove(&q, &e[1]); /* not queued: nothing happens */
    assert_ptr_equal(callqueue_begin(&q, AT_ONCE), &e[0]);
    callqueue_remove(&q, &e[2]);
    assert_null(callqueue_begin(&q, AT_ONCE));
    assert_int_equal(q.lanes[LANE_RESERVE].queued, 0);
}

UNIT_RUN(NULL, NULL)
