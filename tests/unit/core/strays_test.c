/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reconcile/strays.h"

struct taken {
    int64_t seen_by_ms;
    char names[64];
};

static bool is_kept(void *arg, const struct stray *stray)
{
    struct taken *taken = arg;
    if (stray->first_ms > taken->seen_by_ms)
        return true;
    strcat(taken->names, stray->name);
    strcat(taken->names, " ");
    return false;
}

UNIT(strays__keep_when_first_seen)
{
    struct strays s = {0};
    struct taken taken = {0};
    strays_begin(&s);
    strays_seen(&s, "c-2", 10);
    strays_seen(&s, "c-1", 11);
    strays_seen(&s, "c-2", 12); /* twice in a list is one */
    strays_seen(&s, "c-3", 12);
    strays_keep(&s);
    assert_int_equal(s.known.count, 3);
    strays_begin(&s);
    strays_seen(&s, "c-4", 50);
    strays_seen(&s, "c-3", 51);
    strays_seen(&s, "c-2", 51);
    strays_keep(&s);
    assert_int_equal(s.known.count, 3);
    taken.seen_by_ms = 11;
    strays_judge(&s, is_kept, &taken);
    assert_string_equal(taken.names, "c-2 ");
    taken.seen_by_ms = 50;
    strays_judge(&s, is_kept, &taken);
    assert_string_equal(taken.names, "c-2 c-3 c-4 ");
    assert_int_equal(s.known.count, 0);
    strays_release(&s);
}

/* What is known of a stray stays with it as long as lists show it, and is found by its name. */
UNIT(strays__keep_what_is_known)
{
    struct strays s = {0};
    assert_null(strays_find(&s, "c-1"));
    strays_seen(&s, "c-1", 10);
    strays_seen(&s, "c-2", 10);
    assert_null(strays_find(&s, "c-1")); /* not before the list was whole */
    strays_keep(&s);
    strays_find(&s, "c-2")->over = true;
    strays_find(&s, "c-2")->named = 7;
    strays_begin(&s);
    strays_seen(&s, "c-2", 20);
    strays_keep(&s);
    assert_null(strays_find(&s, "c-1"));
    assert_true(strays_find(&s, "c-2")->over);
    assert_int_equal(strays_find(&s, "c-2")->named, 7);
    assert_int_equal(strays_find(&s, "c-2")->first_ms, 10);
    strays_release(&s);
}

/* A list that was not whole proves nothing of what it shows, and nothing of what it lacks. */
UNIT(strays__unfinished_list_counts_for_nothing)
{
    struct strays s = {0};
    struct taken taken = {0};
    strays_begin(&s);
    strays_seen(&s, "c-1", 10);
    strays_keep(&s);
    strays_begin(&s);
    strays_seen(&s, "c-2", 20);
    strays_begin(&s);
    taken.seen_by_ms = 99;
    strays_judge(&s, is_kept, &taken);
    assert_string_equal(taken.names, "c-1 ");
    strays_keep(&s);
    assert_int_equal(s.known.count, 0);
    strays_release(&s);
}

/* Descending names, as many as a hostile list may have: no order of them is slow. */
UNIT(strays__take_any_order)
{
    struct strays s = {0};
    enum { MANY = 200000 };
    for (int round = 0; round < 2; round++) {
        strays_begin(&s);
        for (int i = MANY; i > 0; i--) {
            char name[32];
            snprintf(name, sizeof name, "c-%d", i);
            strays_seen(&s, name, round);
        }
        strays_keep(&s);
    }
    assert_int_equal(s.known.count, MANY);
    assert_int_equal(s.known.items[0].first_ms, 0);
    strays_release(&s);
}

UNIT_RUN(NULL, NULL)
