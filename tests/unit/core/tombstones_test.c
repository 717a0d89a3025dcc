/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/tombstones.h"

UNIT(tombstones__last_until_their_time)
{
    struct tombstones t = {0};
    assert_int_equal(tombstones_get(&t, "c", "1", 0), TOMBSTONE_NONE);
    tombstones_put(&t, "c", "1", TOMBSTONE_NEVER_KNOWN, 100);
    assert_int_equal(tombstones_get(&t, "c", "1", 99), TOMBSTONE_NEVER_KNOWN);
    assert_int_equal(tombstones_get(&t, "c", "1", 100), TOMBSTONE_NONE);
    assert_int_equal(tombstones_get(&t, "d", "1", 0), TOMBSTONE_NONE);
    tombstones_put(&t, "c", "1", TOMBSTONE_GONE, 200);
    assert_int_equal(tombstones_get(&t, "c", "1", 150), TOMBSTONE_GONE);
    tombstones_forget(&t, "c", "1");
    assert_int_equal(tombstones_get(&t, "c", "1", 150), TOMBSTONE_NONE);
    tombstones_release(&t);
}

UNIT(tombstones__are_bounded_oldest_goes_first)
{
    struct tombstones t = {0};
    char job[32];
    for (int i = 0; i <= TOMBSTONES_MAX; i++) {
        snprintf(job, sizeof job, "job-number-%d", i);
        tombstones_put(&t, "c", job, TOMBSTONE_GONE, 100);
    }
    assert_int_equal(tombstones_get(&t, "c", "job-number-0", 0), TOMBSTONE_NONE);
    assert_int_equal(tombstones_get(&t, "c", "job-number-1", 0), TOMBSTONE_GONE);
    assert_int_equal(tombstones_get(&t, "c", job, 0), TOMBSTONE_GONE);
    tombstones_put(&t, "c", "s", TOMBSTONE_GONE, 100); /* a short name in a long one's place */
    assert_int_equal(tombstones_get(&t, "c", "s", 0), TOMBSTONE_GONE);
    tombstones_release(&t);
}

/* Stones that the chains lead to; more than there are when one is in two of them, or in a circle.
 */
static uint32_t chained(const struct tombstones *t)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TOMBSTONES_MAX; i++) {
        for (const struct tombstone *s = t->buckets[i]; s && count <= TOMBSTONES_MAX; s = s->chain)
            count++;
    }
    return count;
}

/* Each place of a full ring is taken from its former job, and out of that job's chain. */
UNIT(tombstones__of_a_full_ring_are_reused)
{
    struct tombstones t = {0};
    char job[32], overtaken[32];
    for (int i = 0; i < 3 * TOMBSTONES_MAX; i++) {
        snprintf(job, sizeof job, "job%d", i);
        tombstones_put(&t, "c", job, TOMBSTONE_GONE, 100);
        if (i >= TOMBSTONES_MAX && i < TOMBSTONES_MAX + 64)
            assert_int_equal(chained(&t), TOMBSTONES_MAX);
    }
    assert_int_equal(chained(&t), TOMBSTONES_MAX);
    for (int i = 0; i < TOMBSTONES_MAX; i++) {
        snprintf(job, sizeof job, "job%d", 2 * TOMBSTONES_MAX + i);
        assert_int_equal(tombstones_get(&t, "c", job, 0), TOMBSTONE_GONE);
        snprintf(overtaken, sizeof overtaken, "job%d", TOMBSTONES_MAX + i);
        assert_int_equal(tombstones_get(&t, "c", overtaken, 0), TOMBSTONE_NONE);
    }
    tombstones_release(&t);
}

UNIT_RUN(NULL, NULL)
