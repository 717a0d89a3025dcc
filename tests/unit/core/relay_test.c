/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* B9: a relayed job starts at once, its reserve goes on behind it, and it makes its trees through
 * this broker. */

#define KEY "0123456789abcdef0123456789abcdef"
#define BODY "{\"macs\":[\"0:00:01\"]}"

static const char *const scope_one[] = {"/fA"};

static void start(struct driver *d)
{
    driver_init(d);
    d->config.clusters[0].relay = true;
    d->config.relay_timeout_ms = 60 * 1000;
    strcpy(d->config.relay_url, "https://m1:7471");
    strcpy(d->config.relay_ca, "yes");
    driver_up(d);
}
DRIVER_FIXTURE(relaying, start)

static void reserve(struct driver *d, enum hwcoll_wish wish)
{
    struct reserve_request request = driver_request("a", 128);
    request.key = secret_of(KEY);
    request.wish = wish;
    driver_reserve(d, request);
}

static uint64_t reserve_job(struct driver *d)
{
    reserve(d, WISH_AUTO);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    return driver_call(d, FMCALL_RESERVE);
}

/* With its addresses, two of them. */
static void reserved_job(struct driver *d)
{
    d->config.addresses_per_job = 2;
    driver_configure(d);
    driver_done(d, reserve_job(d), FM_OK, "sess-a");
}

static void join_of(struct driver *d, const char *step, const char *body)
{
    DRIVER_ASK(d, CORE_JOIN, join, .number = 1, .step = step, .vni = 1024, .body = body);
}

static void join(struct driver *d)
{
    join_of(d, "0", BODY);
}

static void join_done(struct driver *d, uint64_t call, uint16_t tree)
{
    static struct fmcall_tree made;
    made = (struct fmcall_tree){tree, "00:00:00:00:00:01"};
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_OK, .tree = &made,
                .words = "201");
}

static void make_tree(struct driver *d, const char *step, uint16_t tree)
{
    join_of(d, step, BODY);
    join_done(d, driver_call(d, FMCALL_JOIN), tree);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
}

static void leave(struct driver *d, uint16_t tree)
{
    DRIVER_ASK(d, CORE_LEAVE, leave, .number = 1, .tree = tree);
}

static void clean(struct driver *d, const char *step, bool below)
{
    DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = 1, .step = step, .below = below);
}

static const struct fmcall_about *about(const struct driver *d)
{
    return &driver_find(d, EFFECT_CALL)->u.call.about;
}

static size_t steps_listed(struct driver *d)
{
    DRIVER_ASK(d, CORE_STEPS, steps, .cluster = "elcap", .job = "a", .wait_ms = 1000);
    assert_int_equal(driver_answered(d), ANSWER_STEPS);
    return driver_answer(d)->steps->count;
}

/* ---- the reserve ---- */

static void job__is_answered_before_the_fabric_manager_has(void **state)
{
    struct driver *d = *state;
    uint64_t call = reserve_job(d);
    assert_string_equal(secret_expose(driver_job(d, "a")->key), KEY);
    reserve(d, WISH_AUTO);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    driver_done(d, call, FM_OK, "sess-a");
    assert_null(driver_answer(d));
    assert_int_equal(driver_events(d, EVENT_RESERVED), 1);
}

static void job__that_requires_addresses_waits(void **state)
{
    struct driver *d = *state;
    reserve(d, WISH_REQUIRED);
    assert_null(driver_answer(d));
    driver_tick(d, d->config.reserve_timeout_ms);
    assert_int_equal(driver_answered(d), ANSWER_NO_HWCOLL);
}

static void job__of_another_cluster_is_not_relayed(void **state)
{
    struct driver *d = *state;
    struct reserve_request request = driver_request("a", 128);
    request.cluster = "elcap2";
    request.key = secret_of(KEY);
    driver_reserve(d, request);
    assert_null(driver_answer(d));
    assert_true(secret_none(core_find(d->core, "elcap2", "a")->key));
}

static void job__that_is_too_small_is_not_relayed(void **state)
{
    struct driver *d = *state;
    struct reserve_request request = driver_request("a", 2);
    request.key = secret_of(KEY);
    driver_reserve(d, request);
    assert_true(secret_none(driver_job(d, "a")->key));
}

static void job__that_requires_addresses_does_not_wait_for_the_link(void **state)
{
    struct driver *d = *state;
    driver_done(d, reserve_job(d), FM_UNREACHED, NULL);
    struct reserve_request request = driver_request("b", 128);
    request.key = secret_of(KEY);
    request.wish = WISH_REQUIRED;
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_NO_HWCOLL);
}

/* B11: what has its name at the fabric manager is another's. */
static void reserve__that_reached_none_is_not_released(void **state)
{
    struct driver *d = *state;
    driver_done(d, reserve_job(d), FM_UNREACHED, NULL);
    driver_release(d, "a");
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
}

/* It goes on for relay_timeout, through a link that was lost. */
static void reserve__outlives_the_link(void **state)
{
    struct driver *d = *state;
    driver_done(d, reserve_job(d), FM_UNREACHED, NULL);
    struct reserve_request request = driver_request("b", 128); /* while the link is down */
    request.key = secret_of(KEY);
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    driver_tick(d, d->config.link_retry_ms);
    driver_link(d);
    assert_int_equal(driver_count(d, EFFECT_CALL), 2);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-1");
    assert_int_equal(driver_job(d, "a")->hwcoll + driver_job(d, "b")->hwcoll,
                     HWCOLL_RESERVED + HWCOLL_WANTED);
}

static void reserve__is_given_up_in_time(void **state)
{
    struct driver *d = *state;
    (void)reserve_job(d);
    driver_tick(d, d->config.relay_timeout_ms);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_TIMEOUT);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
}

/* ---- joins ---- */

static void join__is_passed_on_with_the_session_token(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    assert_string_equal(secret_expose(about(d)->token), "sess-a");
    assert_string_equal(about(d)->body, BODY);
    join_done(d, call, 77);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
    assert_int_equal(driver_answer(d)->tree->id, 77);
    assert_string_equal(driver_answer(d)->tree->root, "00:00:00:00:00:01");
}

static void join__waits_for_the_reserve(void **state)
{
    struct driver *d = *state;
    uint64_t call = reserve_job(d);
    join(d);
    assert_null(driver_answer(d));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_done(d, call, FM_OK, "sess-a");
    join_done(d, driver_call(d, FMCALL_JOIN), 77);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
}

/* libfabric would wait 5 s, and then see a server error. */
static void join__is_answered_in_time_and_taken_up_again(void **state)
{
    struct driver *d = *state;
    uint64_t call = reserve_job(d);
    join(d);
    driver_tick(d, 4000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    join(d);
    driver_done(d, call, FM_OK, "sess-a");
    assert_int_equal(driver_count(d, EFFECT_CALL), 1);
    join_done(d, driver_call(d, FMCALL_JOIN), 77);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
}

static void join__made_between_two_requests_is_given_to_the_second(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    driver_tick(d, 4000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    join_done(d, call, 77);
    assert_null(driver_answer(d));
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
    assert_null(driver_find(d, EFFECT_CALL));
}

static void tree__that_is_not_asked_for_again_is_deleted(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    driver_tick(d, 4000);
    join_done(d, call, 77);
    driver_tick(d, 2000);
    call = driver_call(d, FMCALL_LEAVE);
    assert_int_equal(about(d)->tree, 77);
    driver_done(d, call, FM_OK, NULL);
    assert_int_equal(steps_listed(d), 0);
}

static void tree__that_is_not_asked_for_again_is_deleted_however_long_it_takes(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    driver_tick(d, 4000);
    join_done(d, call, 77);
    driver_tick(d, 2000);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_BUSY, NULL);
    driver_tick(d, d->config.relay_timeout_ms + 1000);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    assert_int_equal(steps_listed(d), 0);
}

/* Two communicators of the same nodes. */
static void joins__that_are_alike_get_a_tree_each(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t first = driver_call(d, FMCALL_JOIN);
    join(d);
    uint64_t second = driver_call(d, FMCALL_JOIN);
    join_done(d, first, 1);
    assert_int_equal(driver_answer(d)->tree->id, 1);
    join_done(d, second, 2);
    assert_int_equal(driver_answer(d)->tree->id, 2);
}

static void join__beyond_the_reservation_is_denied_without_asking(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "0", 1);
    make_tree(d, "0", 2);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    assert_int_equal(memcmp(driver_answer(d)->detail, "01:", 3), 0);
    leave(d, 2);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    make_tree(d, "0", 3);
}

static void join__of_another_vni_or_step_is_refused(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    DRIVER_ASK(d, CORE_JOIN, join, .number = 1, .step = "0", .vni = 1025, .body = BODY);
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
    DRIVER_ASK(d, CORE_JOIN, join, .number = 1, .step = "/fB", .vni = 1024, .body = BODY,
               .scopes = scope_one, .scope_count = 1);
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
    assert_null(driver_find(d, EFFECT_CALL));
}

static void join__of_a_job_that_is_not_relayed_is_refused(void **state)
{
    struct driver *d = *state;
    d->config.clusters[0].relay = false;
    driver_configure(d);
    driver_reserved_job(d, "a");
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
}

/* The fabric manager's 409 is tried again here; it ends. */
static void join__that_stays_busy_ends(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    int64_t until = d->now + d->config.relay_timeout_ms;
    bool later = false;
    for (int tries = 0; d->now < until; tries++) {
        const struct effect *call = driver_find(d, EFFECT_CALL);
        if (call)
            driver_done(d, call->u.call.id, FM_EXISTS, NULL);
        later = later || (driver_answer(d) && driver_answered(d) == ANSWER_JOIN_LATER);
        driver_tick(d, 250);
        assert_true(tries < 1000);
        if (driver_answer(d) && driver_answered(d) == ANSWER_JOIN_LATER)
            join(d);
    }
    join(d); /* what began it is given up: this is another one */
    assert_int_equal(driver_count(d, EFFECT_CALL), 1);
}

/* Else the second request would begin anew, and so on for ever. */
static void join__given_up_between_two_requests_is_denied_to_the_second(void **state)
{
    struct driver *d = *state;
    d->config.relay_timeout_ms = 4050;
    driver_configure(d);
    reserved_job(d);
    join(d);
    driver_done(d, driver_call(d, FMCALL_JOIN), FM_EXISTS, NULL);
    driver_tick(d, 4000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    driver_done(d, driver_call(d, FMCALL_JOIN), FM_EXISTS, NULL);
    driver_tick(d, 50);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    join(d);
    assert_null(driver_answer(d)); /* another one */
}

static void join__is_denied_in_the_words_of_the_fabric_manager(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_DENIED, .status = 507,
                .words = "02: none left");
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    assert_int_equal(driver_answer(d)->status, 507);
    assert_string_equal(driver_answer(d)->detail, "02: none left");
}

/* libfabric would read beyond it. */
static void join__denied_without_a_number_is_no_507(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_DENIED, .status = 507,
                .words = "none left");
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    assert_int_equal(driver_answer(d)->status, 0);
    assert_int_equal(answer_status(ANSWER_JOIN_DENIED), 503);
}

static void join__under_way_ends_with_its_job(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    driver_release(d, "a");
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 2);
    uint64_t release = driver_call(d, FMCALL_RELEASE);
    driver_done(d, release, FM_OK, NULL);
    driver_tick(d, d->config.vni_hold_ms);
    assert_non_null(driver_job(d, "a")); /* the call may say something of it */
    join_done(d, call, 77);
    assert_null(driver_job(d, "a"));
}

/* Nothing keeps the job's reservation: it is gone in the step that releases it. */
static void join__that_waits_is_answered_when_its_job_is_gone(void **state)
{
    struct driver *d = *state;
    struct reserve_request request = driver_request("a", 128);
    request.key = secret_of(KEY);
    request.vni_count = 0;
    driver_reserve(d, request);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_UNREACHED, NULL);
    join(d); /* with a VNI that may be another job's */
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
    DRIVER_ASK(d, CORE_JOIN, join, .number = 1, .step = "0", .vni = 1023, .body = BODY);
    assert_null(driver_answer(d));
    driver_release(d, "a");
    assert_null(driver_job(d, "a"));
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
}

static void join__ends_when_the_reservation_is_lost(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    driver_lose(d);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_LOST);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
}

static void joins__of_one_job_are_bounded(void **state)
{
    struct driver *d = *state;
    d->config.addresses_per_job = 100;
    driver_configure(d);
    driver_done(d, reserve_job(d), FM_OK, "sess-a");
    int calls = 0;
    for (int i = 0; i < 64; i++) {
        join(d);
        calls += driver_count(d, EFFECT_CALL);
        assert_null(driver_answer(d));
    }
    assert_int_equal(calls, 8);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
}

/* B8: what jobs ask for is kept until it is done. */
static void joins__are_bounded_in_bytes(void **state)
{
    enum { LARGE = 700 << 10 };
    struct driver *d = *state;
    char *body = malloc(LARGE + 1);
    assert_non_null(body);
    memset(body, 'x', LARGE);
    body[LARGE] = '\0';
    (void)reserve_job(d);
    join_of(d, "0", body);
    assert_null(driver_answer(d));
    join_of(d, "1", body);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    int taken = 1;
    for (bool full = false; !full; taken += !full) {
        char name[16];
        (void)snprintf(name, sizeof name, "b%d", taken);
        struct reserve_request request = driver_request(name, 128);
        request.key = secret_of(KEY);
        driver_reserve(d, request);
        DRIVER_ASK(d, CORE_JOIN, join, .number = driver_job(d, name)->number, .step = "0",
                   .vni = driver_job(d, name)->vnis[0], .body = body);
        full = driver_answer(d) != NULL;
        assert_true(taken < 100);
    }
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    DRIVER_ASK(d, CORE_JOIN, join, .number = (uint64_t)taken + 1, .step = "0",
               .vni = (uint16_t)(1024 + taken), .body = BODY);
    assert_null(driver_answer(d)); /* one that is not so long */
    driver_release(d, "a");
    DRIVER_ASK(d, CORE_JOIN, join, .number = (uint64_t)taken + 1, .step = "1",
               .vni = (uint16_t)(1024 + taken), .body = body);
    assert_null(driver_answer(d)); /* there is room again */
    free(body);
}

/* ---- leaves ---- */

static void leave__of_a_tree_that_it_has_not_asks_nothing(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    leave(d, 5);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* libfabric repeats it after "later"; twice sent, it might end the next tree of this number. */
static void leave__that_comes_again_is_sent_once(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "0", 5);
    leave(d, 5);
    uint64_t call = driver_call(d, FMCALL_LEAVE);
    driver_tick(d, 4000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    leave(d, 5);
    leave(d, 5);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_done(d, call, FM_OK, NULL);
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 2);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* A number that the fabric manager gives again is another tree's. */
static void leave__that_waits_does_not_end_the_next_tree_of_its_number(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "0", 5);
    leave(d, 5);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_BUSY, NULL);
    join(d);
    join_done(d, driver_call(d, FMCALL_JOIN), 5);
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 2);
    driver_tick(d, 60 * 1000);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(steps_listed(d), 1);
}

static void leave__stays_within_the_token(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fB", 5);
    DRIVER_ASK(d, CORE_LEAVE, leave, .number = 1, .tree = 5, .scopes = scope_one, .scope_count = 1);
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
}

/* ---- what is known of the trees ---- */

static void cleanup__of_a_step_without_trees_asks_nobody(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA/fB", 5);
    clean(d, "/fA/fC", false);
    assert_int_equal(driver_answered(d), ANSWER_CLEANED);
    assert_null(driver_find(d, EFFECT_CALL));
}

static void cleanup__below_ends_the_known_steps_without_a_list(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA/fB", 5);
    clean(d, "/fA", true);
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    assert_string_equal(about(d)->step, "/fA/fB");
    d->now++;
    driver_done(d, call, FM_OK, NULL);
    assert_int_equal(steps_listed(d), 0);
    clean(d, "/fA", true);
    assert_int_equal(driver_answered(d), ANSWER_CLEANED);
}

/* F19: the join may have been acted on, and what is known does not have its tree. */
static void cleanup__below_asks_while_a_join_is_under_way(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA/fB", 5);
    join_of(d, "/fA", BODY);
    clean(d, "/fA", true);
    (void)driver_call(d, FMCALL_STEPS);
}

/* F19: the tree of a late join went with its step, before it was asked for again. */
static void cleanup__takes_what_was_made_late(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    driver_tick(d, 4000);
    join_done(d, call, 5);
    clean(d, "0", false);
    call = driver_call(d, FMCALL_END_STEP);
    d->now++;
    driver_done(d, call, FM_OK, NULL);
    join(d);
    assert_null(driver_answer(d));
    join_done(d, driver_call(d, FMCALL_JOIN), 6);
    assert_int_equal(driver_answer(d)->tree->id, 6);
}

/* It may be gone, and then there is room for another. */
static void trees__are_not_known_after_a_leave_was_given_up(void **state)
{
    struct driver *d = *state;
    d->config.addresses_per_job = 1;
    d->config.relay_timeout_ms = 100;
    driver_configure(d);
    driver_done(d, reserve_job(d), FM_OK, "sess-a");
    make_tree(d, "0", 1);
    leave(d, 1);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_TIMEOUT, NULL);
    driver_tick(d, 100);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    make_tree(d, "0", 2);
}

static void trees__are_not_known_after_an_answer_was_lost(void **state)
{
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    driver_done(d, driver_call(d, FMCALL_JOIN), FM_TIMEOUT, NULL);
    clean(d, "7", false);
    (void)driver_call(d, FMCALL_END_STEP);
}

static void learn(struct driver *d, const struct fmcall_steps *list)
{
    DRIVER_ASK(d, CORE_STEPS, steps, .cluster = "elcap", .job = "a", .wait_ms = 1000);
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = driver_call(d, FMCALL_STEPS), .outcome = FM_OK,
                .steps = list, .words = "200");
}

static void trees__are_learned_from_a_list(void **state)
{
    static const uint16_t ids[] = {5};
    static const struct fmcall_step step = {"/fA", ids, 1};
    static const struct fmcall_steps list = {&step, 1, 0};
    struct driver *d = *state;
    reserved_job(d);
    join(d);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    driver_done(d, call, FM_TIMEOUT, NULL);
    driver_tick(d, 250);
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = driver_call(d, FMCALL_JOIN), .outcome = FM_DENIED,
                .status = 400, .words = "the root is in use");
    learn(d, &list); /* the first try may be acted on yet: another tree */
    d->now += d->config.call_timeout_ms + 1;
    learn(d, &list);
    assert_int_equal(steps_listed(d), 1);
    leave(d, 6);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* Between the list and its answer. */
static void trees__that_were_left_meanwhile_are_not_learned(void **state)
{
    static const uint16_t ids[] = {5};
    static const struct fmcall_step step = {"0", ids, 1};
    static const struct fmcall_steps list = {&step, 1, 0};
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "0", 5);
    join_of(d, "1", BODY);
    driver_done(d, driver_call(d, FMCALL_JOIN), FM_TIMEOUT, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_JOIN), FM_DENIED, NULL);
    d->now += d->config.call_timeout_ms + 1;
    DRIVER_ASK(d, CORE_STEPS, steps, .cluster = "elcap", .job = "a", .wait_ms = 1000);
    uint64_t call = driver_call(d, FMCALL_STEPS);
    leave(d, 5);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_OK, .steps = &list);
    DRIVER_ASK(d, CORE_STEPS, steps, .cluster = "elcap", .job = "a", .wait_ms = 1000);
    (void)driver_call(d, FMCALL_STEPS);
}

UNIT_MAIN(WITH(relaying, job__is_answered_before_the_fabric_manager_has),
          WITH(relaying, job__that_requires_addresses_waits),
          WITH(relaying, job__of_another_cluster_is_not_relayed),
          WITH(relaying, job__that_is_too_small_is_not_relayed),
          WITH(relaying, job__that_requires_addresses_does_not_wait_for_the_link),
          WITH(relaying, reserve__that_reached_none_is_not_released),
          WITH(relaying, join__that_waits_is_answered_when_its_job_is_gone),
          WITH(relaying, join__given_up_between_two_requests_is_denied_to_the_second),
          WITH(relaying, cleanup__below_asks_while_a_join_is_under_way),
          WITH(relaying, cleanup__takes_what_was_made_late),
          WITH(relaying, trees__are_not_known_after_a_leave_was_given_up),
          WITH(relaying, reserve__outlives_the_link), WITH(relaying, reserve__is_given_up_in_time),
          WITH(relaying, join__is_passed_on_with_the_session_token),
          WITH(relaying, join__waits_for_the_reserve),
          WITH(relaying, join__is_answered_in_time_and_taken_up_again),
          WITH(relaying, join__made_between_two_requests_is_given_to_the_second),
          WITH(relaying, tree__that_is_not_asked_for_again_is_deleted),
          WITH(relaying, tree__that_is_not_asked_for_again_is_deleted_however_long_it_takes),
          WITH(relaying, joins__that_are_alike_get_a_tree_each),
          WITH(relaying, join__beyond_the_reservation_is_denied_without_asking),
          WITH(relaying, join__of_another_vni_or_step_is_refused),
          WITH(relaying, join__of_a_job_that_is_not_relayed_is_refused),
          WITH(relaying, join__that_stays_busy_ends),
          WITH(relaying, join__is_denied_in_the_words_of_the_fabric_manager),
          WITH(relaying, join__denied_without_a_number_is_no_507),
          WITH(relaying, join__under_way_ends_with_its_job),
          WITH(relaying, join__ends_when_the_reservation_is_lost),
          WITH(relaying, joins__of_one_job_are_bounded),
          WITH(relaying, leave__of_a_tree_that_it_has_not_asks_nothing),
          WITH(relaying, joins__are_bounded_in_bytes),
          WITH(relaying, leave__that_comes_again_is_sent_once),
          WITH(relaying, leave__that_waits_does_not_end_the_next_tree_of_its_number),
          WITH(relaying, leave__stays_within_the_token),
          WITH(relaying, cleanup__of_a_step_without_trees_asks_nobody),
          WITH(relaying, cleanup__below_ends_the_known_steps_without_a_list),
          WITH(relaying, trees__are_not_known_after_an_answer_was_lost),
          WITH(relaying, trees__are_learned_from_a_list),
          WITH(relaying, trees__that_were_left_meanwhile_are_not_learned))
