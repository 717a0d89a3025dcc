/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/vnipool.h"

static void configure(struct vnipool *pool, const char *text)
{
    struct idset set;
    idset_init(&set);
    assert_int_equal(idset_parse(&set, text, NULL), 0);
    vnipool_configure(pool, &set);
}

static uint16_t take_one(struct vnipool *pool)
{
    uint16_t vni;
    assert_true(vnipool_pick(pool, 1, false, &vni));
    assert_true(vnipool_take(pool, vni));
    pool->after = (uint32_t)vni + 1;
    return vni;
}

/* F1: 1 and 10 belong to the default service. */
UNIT(vnipool__never_gives_out_1_and_10)
{
    struct vnipool pool = {0};
    configure(&pool, "0-11");
    assert_int_equal(pool.free.count, 10);
    assert_int_equal(vnipool_usable(&pool.pool), 10);
    for (int i = 0; i < 10; i++) {
        uint16_t vni = take_one(&pool);
        assert_true(vni != 1 && vni != 10);
    }
    uint16_t none;
    assert_false(vnipool_pick(&pool, 1, false, &none));
}

/* F3: a VNI that has just come back is the last to be given out again. */
UNIT(vnipool__goes_round)
{
    struct vnipool pool = {0};
    configure(&pool, "100-103");
    assert_int_equal(take_one(&pool), 100);
    vnipool_drop(&pool, 100, true);
    assert_int_equal(take_one(&pool), 101);
    assert_int_equal(take_one(&pool), 102);
    assert_int_equal(take_one(&pool), 103);
    assert_int_equal(take_one(&pool), 100);
}

UNIT(vnipool__held_is_not_free)
{
    struct vnipool pool = {0};
    configure(&pool, "100-101");
    uint16_t vni = take_one(&pool);
    vnipool_drop(&pool, vni, true);
    assert_true(vnipool_quarantine(&pool, vni));
    assert_int_equal(pool.quarantined.count, 1);
    assert_false(vnipool_take(&pool, vni));
    assert_int_equal(take_one(&pool), 101);
    uint16_t none;
    assert_false(vnipool_pick(&pool, 1, false, &none));
    vnipool_drop(&pool, vni, true);
    assert_int_equal(take_one(&pool), 100);
}

UNIT(vnipool_pick__all_or_nothing_and_distinct)
{
    struct vnipool pool = {0};
    uint16_t vnis[4] = {0};
    configure(&pool, "100-102");
    assert_false(vnipool_pick(&pool, 4, false, vnis));
    assert_true(vnipool_pick(&pool, 3, false, vnis));
    assert_true(vnis[0] != vnis[1] && vnis[1] != vnis[2] && vnis[0] != vnis[2]);
    assert_int_equal(pool.free.count, 3);
    assert_true(vnipool_pick(&pool, 0, false, vnis));
}

/* F5: shrinking takes no VNI from a job; what comes back later stays out. */
/* B11: far away means half of the pool, wherever the round is. */
UNIT(vnipool_pick__far_is_half_the_pool_away)
{
    static const struct {
        uint32_t after;
        uint16_t far;
    } cases[] = {{2000, 2050}, {2049, 2099}, {2050, 2000}, {2080, 2030}, {2100, 2050}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vnipool pool = {0};
        uint16_t vni = 0;
        configure(&pool, "2000-2099");
        pool.after = cases[i].after;
        assert_true(vnipool_pick(&pool, 1, true, &vni));
        assert_int_equal(vni, cases[i].far);
        assert_true(vnipool_pick(&pool, 0, true, &vni));
    }
}

UNIT(vnipool_configure__shrinks_and_grows_with_jobs)
{
    struct vnipool pool = {0};
    configure(&pool, "100-109");
    uint16_t kept = take_one(&pool);
    configure(&pool, "105-106");
    assert_true(idset_has(&pool.live, kept));
    assert_int_equal(pool.free.count, 2);
    vnipool_drop(&pool, kept, true);
    assert_int_equal(pool.free.count, 2);
    uint16_t other = take_one(&pool);
    configure(&pool, "100-109");
    assert_int_equal(pool.free.count, 9);
    assert_false(idset_has(&pool.free, other));
}

UNIT(vnipool_configure__empty_pool)
{
    struct vnipool pool = {0};
    uint16_t none;
    configure(&pool, "");
    assert_false(vnipool_pick(&pool, 1, false, &none));
    assert_true(vnipool_take(&pool, 7)); /* a record from before says so */
    vnipool_drop(&pool, 7, true);
    assert_int_equal(pool.free.count, 0);
}

UNIT_RUN(NULL, NULL)
