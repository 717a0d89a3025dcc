/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the mock fabric manager: reservations, trees, roots, and the three kinds of 507. */
#include <errno.h>

#include "mock-fm/objects/objects.h"
#include "mock-fm/http/tokens.h"
#include "tests/unit/mockfm/change.h"
#include "tests/unit/unit.h"

/* Takes the reference. */
static int apply_to(struct objects *objects, json_t *change)
{
    int result = objects_apply(objects, change);

    json_decref(change);
    return result;
}

static int reserve(struct objects *objects, const char *id, unsigned limit, struct problem *problem)
{
    uint64_t serial = objects->totals.last_serial + 1;

    if (objects_may_reserve(objects, id, limit, problem) < 0)
        return -1;
    return apply_to(objects, change_job(0, id, "sess-1", limit, serial));
}

/* Makes a tree over NICs first … first + count - 1. Its id, or -1 with a problem. */
static int grow(struct objects *objects, const char *job, const char *step, uint32_t first,
                size_t count, struct problem *problem)
{
    json_t *tree = change_tree(0, job, step, json_array());
    int id = -1;

    for (size_t i = 0; i < count; i++)
        json_array_append_new(json_object_get(tree, "macs"),
                              json_integer((json_int_t)first + (json_int_t)i));
    if (objects_may_grow(objects, tree, problem) == 0) {
        assert_int_equal(objects_apply(objects, tree), 0);
        id = (int)json_integer_value(json_object_get(tree, "mcastID"));
    }
    json_decref(tree);
    return id;
}

static void assert_refused(const struct problem *problem, int status, const char *start)
{
    assert_int_equal(problem->status, status);
    assert_memory_equal(problem->text, start, strlen(start));
}

static void job__id_exists_once(void **state)
{
    struct objects *objects = objects_create(100, false);
    struct problem problem;

    assert_int_equal(reserve(objects, "c-1", 10, &problem), 0);
    assert_int_equal(reserve(objects, "c-1", 10, &problem), -1);
    assert_refused(&problem, 409, "job c-1 exists");
    assert_int_equal(apply_to(objects, change_job_gone(0, "c-1")), 0);
    assert_null(objects_job(objects, "c-1"));
    assert_int_equal(reserve(objects, "c-1", 10, &problem), 0);
    objects_destroy(objects);
}

static void job__bad_ids_and_limits_are_refused(void **state)
{
    static const char *const bad[] = {"", "a\"b", "a\\b", "a/b", "a\nb"};
    struct objects *objects = objects_create(100, false);
    char long_id[OBJECTS_JOB_ID_MAX + 2];
    struct problem problem;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(objects_may_reserve(objects, bad[i], 1, &problem), -1);
        assert_refused(&problem, 400, "jobID");
    }
    memset(long_id, 'x', sizeof long_id);
    long_id[OBJECTS_JOB_ID_MAX + 1] = '\0';
    assert_int_equal(objects_may_reserve(objects, long_id, 1, &problem), -1);
    long_id[OBJECTS_JOB_ID_MAX] = '\0';
    assert_int_equal(objects_may_reserve(objects, long_id, 1, &problem), 0);
    assert_int_equal(objects_may_reserve(objects, "c-1", 0, &problem), -1);
    assert_refused(&problem, 400, "mcastLimit");
    assert_int_equal(objects_may_reserve(objects, "c-1", -5, &problem), -1);
    assert_int_equal(objects_may_reserve(objects, "c-1", OBJECTS_MCAST_IDS + 1, &problem), -1);
    objects_destroy(objects);
}

static void job__pool_is_reserved_exactly(void **state)
{
    struct objects *objects = objects_create(46, false);
    struct problem problem;

    assert_int_equal(reserve(objects, "c-1", 23, &problem), 0);
    assert_int_equal(reserve(objects, "c-2", 24, &problem), -1);
    assert_refused(&problem, 507, "02:");
    assert_int_equal(reserve(objects, "c-2", 23, &problem), 0);
    assert_int_equal(reserve(objects, "c-3", 1, &problem), -1);
    assert_refused(&problem, 507, "02:");
    assert_int_equal(apply_to(objects, change_job_gone(0, "c-1")), 0);
    assert_int_equal(objects->totals.reserved, 23);
    assert_int_equal(reserve(objects, "c-3", 1, &problem), 0);
    objects_destroy(objects);
}

static void job__many_are_found_in_the_order_made(void **state)
{
    enum { COUNT = 5000 };
    struct objects *objects = objects_create(OBJECTS_MCAST_IDS, false);
    struct problem problem;
    char id[32];
    int number = 0;

    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof id, "c-%d", i);
        assert_int_equal(reserve(objects, id, 1, &problem), 0);
    }
    for (int i = 0; i < COUNT; i += 2) {
        snprintf(id, sizeof id, "c-%d", i);
        assert_int_equal(apply_to(objects, change_job_gone(0, id)), 0);
    }
    for (const struct job *job = objects->first; job; job = job->next) {
        number += number == 0 ? 1 : 2;
        snprintf(id, sizeof id, "c-%d", number);
        assert_string_equal(job->id, id);
        assert_ptr_equal(objects_job(objects, id), job);
    }
    assert_int_equal(number, COUNT - 1);
    assert_int_equal(objects->totals.jobs, COUNT / 2);
    objects_destroy(objects);
}

static void tree__root_is_one_of_its_nics(void **state)
{
    struct objects *objects = objects_create(100, false);
    struct problem problem;
    int id;

    reserve(objects, "c-1", 10, &problem);
    id = grow(objects, "c-1", "0", 500, 3, &problem);
    assert_in_range(id, 0, 99);
    assert_int_equal(objects->trees[id]->root, 500);
    /* A NIC is the root of one tree only, so the next tree has the next one. */
    id = grow(objects, "c-1", "0", 500, 3, &problem);
    assert_int_equal(objects->trees[id]->root, 501);
    objects_destroy(objects);
}

static void tree__limit_of_the_job_is_507_01(void **state)
{
    struct objects *objects = objects_create(100, false);
    struct problem problem;
    int first;

    reserve(objects, "c-1", 2, &problem);
    first = grow(objects, "c-1", "0", 100, 4, &problem);
    assert_true(grow(objects, "c-1", "0", 100, 4, &problem) >= 0);
    assert_int_equal(grow(objects, "c-1", "0", 100, 4, &problem), -1);
    assert_refused(&problem, 507, "01:");
    assert_int_equal(apply_to(objects, change_tree_gone(0, (unsigned)first)), 0);
    assert_true(grow(objects, "c-1", "0", 100, 4, &problem) >= 0);
    objects_destroy(objects);
}

static void tree__empty_pool_is_507_02(void **state)
{
    struct objects *objects = objects_create(2, true);
    struct problem problem;

    assert_int_equal(reserve(objects, "c-1", 2, &problem), 0);
    assert_int_equal(reserve(objects, "c-2", 2, &problem), 0);
    assert_true(grow(objects, "c-1", "0", 100, 4, &problem) >= 0);
    assert_true(grow(objects, "c-1", "0", 100, 4, &problem) >= 0);
    assert_int_equal(grow(objects, "c-2", "0", 200, 4, &problem), -1);
    assert_refused(&problem, 507, "02:");
    objects_destroy(objects);
}

static void tree__no_free_root_is_507_03_or_400(void **state)
{
    struct objects *objects = objects_create(100, false);
    struct problem problem;

    reserve(objects, "c-1", 10, &problem);
    reserve(objects, "c-2", 10, &problem);
    assert_true(grow(objects, "c-1", "0", 100, 1, &problem) >= 0);
    assert_int_equal(grow(objects, "c-2", "0", 100, 1, &problem), -1);
    assert_refused(&problem, 507, "03:");
    assert_int_equal(grow(objects, "c-1", "1", 100, 1, &problem), -1);
    assert_refused(&problem, 400, "hw root in use");
    /* The other job's deletion gives its root back. */
    assert_int_equal(apply_to(objects, change_job_gone(0, "c-1")), 0);
    assert_true(grow(objects, "c-2", "0", 100, 1, &problem) >= 0);
    objects_destroy(objects);
}

static void tree__nics_are_named_once(void **state)
{
    struct objects *objects = objects_create(100, false);
    json_t *tree = change_tree(0, "c-1", "0", json_pack("[i, i, i]", 7, 9, 7));
    struct problem problem;

    reserve(objects, "c-1", 10, &problem);
    assert_int_equal(objects_may_grow(objects, tree, &problem), -1);
    assert_refused(&problem, 400, "macs names 0:00:07 twice");
    json_array_clear(json_object_get(tree, "macs"));
    assert_int_equal(objects_may_grow(objects, tree, &problem), -1);
    assert_refused(&problem, 400, "macs");
    json_decref(tree);
    objects_destroy(objects);
}

static void tree__ids_go_round(void **state)
{
    struct objects *objects = objects_create(3, false);
    struct problem problem;
    int first, second;

    reserve(objects, "c-1", 3, &problem);
    first = grow(objects, "c-1", "0", 100, 4, &problem);
    apply_to(objects, change_tree_gone(0, (unsigned)first));
    second = grow(objects, "c-1", "0", 100, 4, &problem);
    assert_int_not_equal(first, second);
    objects_destroy(objects);
}

/* F19: cleaning up one step touches no other step, and no other job's step of the same name. */
static void step__goes_alone(void **state)
{
    struct objects *objects = objects_create(100, false);
    struct problem problem;
    int kept, other;

    reserve(objects, "c-1", 10, &problem);
    reserve(objects, "c-2", 10, &problem);
    grow(objects, "c-1", "/fA", 100, 4, &problem);
    kept = grow(objects, "c-1", "/fA/fB", 100, 4, &problem);
    grow(objects, "c-1", "/fA", 100, 4, &problem);
    other = grow(objects, "c-2", "/fA", 200, 4, &problem);
    assert_int_equal(apply_to(objects, change_step_gone(0, "c-1", "/fA")), 0);
    assert_int_equal(objects_job(objects, "c-1")->trees_in_use, 1);
    assert_int_equal(objects->totals.trees, 2);
    assert_non_null(objects->trees[kept]);
    assert_non_null(objects->trees[other]);
    objects_destroy(objects);
}

static void change__that_contradicts_is_refused(void **state)
{
    struct objects *objects = objects_create(100, false);
    json_t *tree = change_tree_at(0, "c-9", "0", 0, 5, json_pack("[i]", 5));
    struct problem problem;

    assert_int_equal(objects_apply(objects, tree), -EINVAL);
    assert_int_equal(apply_to(objects, change_job_gone(0, "c-9")), -EINVAL);
    assert_int_equal(apply_to(objects, change_tree_gone(0, 3)), -EINVAL);
    reserve(objects, "c-9", 10, &problem);
    assert_int_equal(objects_apply(objects, tree), 0);
    json_object_set_new(tree, "mcastID", json_integer(1)); /* another id, but the same root */
    assert_int_equal(objects_apply(objects, tree), -EINVAL);
    json_decref(tree);
    objects_destroy(objects);
}

static void nic__has_three_groups_of_20_bits(void **state)
{
    static const char *const bad[] = {"",        "1:12",    "1:12:00:00", "10:12:00", "1:123:0",
                                      "1:-1:00", "1: 1:00", "0x1:12:00",  "1:12:0g",  "1:12:00 ",
                                      "1::00",   ":12:00",  "1:0x1:00",   "1.12.00"};
    char text[NIC_TEXT_SIZE];
    uint32_t nic;

    assert_true(nic_parse("F:AB:cd", &nic));
    assert_int_equal(nic, 0xFABCD);
    nic_format_short(nic, text);
    assert_string_equal(text, "F:AB:CD");
    nic_format_long(nic, text);
    assert_string_equal(text, "00:00:00:0F:AB:CD");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(nic_parse(bad[i], &nic));
}

static void session__seed_repeats_tokens_serials_do_not(void **state)
{
    struct session_mint seeded = {.seeded = true, .seed = 7}, other = {.seeded = true, .seed = 8};
    struct session_mint random = {0};
    char first[SESSION_TOKEN_SIZE], second[SESSION_TOKEN_SIZE];

    session_token(&seeded, 1, first);
    session_token(&seeded, 1, second);
    assert_string_equal(first, second);
    assert_int_equal(strlen(first), SESSION_TOKEN_SIZE - 1);
    session_token(&seeded, 2, second);
    assert_string_not_equal(first, second);
    session_token(&other, 1, second);
    assert_string_not_equal(first, second);
    session_token(&random, 1, first);
    session_token(&random, 1, second);
    assert_string_not_equal(first, second);
}

UNIT_MAIN(cmocka_unit_test(job__id_exists_once),
          cmocka_unit_test(job__bad_ids_and_limits_are_refused),
          cmocka_unit_test(job__pool_is_reserved_exactly),
          cmocka_unit_test(job__many_are_found_in_the_order_made),
          cmocka_unit_test(tree__root_is_one_of_its_nics),
          cmocka_unit_test(tree__limit_of_the_job_is_507_01),
          cmocka_unit_test(tree__empty_pool_is_507_02),
          cmocka_unit_test(tree__no_free_root_is_507_03_or_400),
          cmocka_unit_test(tree__nics_are_named_once), cmocka_unit_test(tree__ids_go_round),
          cmocka_unit_test(step__goes_alone), cmocka_unit_test(change__that_contradicts_is_refused),
          cmocka_unit_test(nic__has_three_groups_of_20_bits),
          cmocka_unit_test(session__seed_repeats_tokens_serials_do_not))
