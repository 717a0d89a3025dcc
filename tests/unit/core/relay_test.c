/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/cleanup.h"
#include "core/relay/relay.h"
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

static void reserve_in(struct driver *d, const char *cluster, const char *job, uint32_t nodes,
                       enum hwcoll_wish wish)
{
    struct reserve_request request = driver_request(job, nodes);
    request.cluster = cluster;
    request.key = secret_of(KEY);
    request.wish = wish;
    driver_reserve(d, request);
}

static void reserve(struct driver *d, const char *job, enum hwcoll_wish wish)
{
    reserve_in(d, "elcap", job, 128, wish);
}

static uint64_t reserve_job(struct driver *d)
{
    reserve(d, "a", WISH_AUTO);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    return driver_call(d, FMCALL_RESERVE);
}

static void reserved_job_of(struct driver *d, uint32_t addresses)
{
    d->config.addresses_per_job = addresses;
    driver_configure(d);
    driver_done(d, reserve_job(d), FM_OK, "sess-a");
}

static void reserved_job(struct driver *d)
{
    reserved_job_of(d, 2);
}

static void join_of(struct driver *d, const char *step, const char *body)
{
    DRIVER_ASK(d, CORE_JOIN, join, .number = 1, .step = step, .vni = 1024, .body = body);
}

static void join(struct driver *d)
{
    join_of(d, "0", BODY);
}

static uint64_t begin_join(struct driver *d)
{
    join(d);
    return driver_call(d, FMCALL_JOIN);
}

static void join_done_at(struct driver *d, uint64_t call, uint16_t tree, const char *root)
{
    static struct fmcall_tree made;
    made = (struct fmcall_tree){tree, root};
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_OK, .tree = &made,
                .words = "201");
}

static void join_done(struct driver *d, uint64_t call, uint16_t tree)
{
    join_done_at(d, call, tree, "00:00:00:00:00:01");
}

static void join_denied(struct driver *d, uint64_t call, int status, const char *words)
{
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_DENIED, .status = status,
                .words = words);
}

static void make_tree(struct driver *d, const char *step, uint16_t tree)
{
    join_of(d, step, BODY);
    join_done(d, driver_call(d, FMCALL_JOIN), tree);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
}

/* With each, what is known of the trees is in doubt until call_timeout has passed. */
static void lose_join(struct driver *d, const char *step)
{
    join_of(d, step, BODY);
    driver_done(d, driver_call(d, FMCALL_JOIN), FM_TIMEOUT, NULL);
    driver_tick(d, 250);
    join_denied(d, driver_call(d, FMCALL_JOIN), 400, "the root is in use");
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
}

static void leave(struct driver *d, uint16_t tree)
{
    DRIVER_ASK(d, CORE_LEAVE, leave, .number = 1, .tree = tree);
}

static void leave_narrowed(struct driver *d, uint16_t tree)
{
    DRIVER_ASK(d, CORE_LEAVE, leave, .number = 1, .tree = tree, .scopes = scope_one,
               .scope_count = 1);
}

static void clean(struct driver *d, const char *step, bool below)
{
    DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = 1, .step = step, .below = below);
}

static const struct fmcall_about *about(const struct driver *d)
{
    return &driver_find(d, EFFECT_CALL)->u.call.about;
}

static void ask_steps(struct driver *d)
{
    DRIVER_ASK(d, CORE_STEPS, steps, .cluster = "elcap", .job = "a", .wait_ms = 1000);
}

static size_t steps_listed(struct driver *d)
{
    ask_steps(d);
    assert_int_equal(driver_answered(d), ANSWER_STEPS);
    return driver_answer(d)->steps->count;
}

/* ---- the reserve ---- */

#define T(test) WITH(relaying, test)

T(job__is_answered_before_the_fabric_manager_has)
{
    struct driver *d = *state;
    uint64_t call = reserve_job(d);
    assert_string_equal(secret_expose(driver_job(d, "a")->key), KEY);
    reserve(d, "a", WISH_AUTO);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    driver_done(d, call, FM_OK, "sess-a");
    assert_null(driver_answer(d));
    assert_int_equal(driver_events(d, EVENT_RESERVED), 1);
}

T(job__that_requires_addresses_waits)
{
    struct driver *d = *state;
    reserve(d, "a", WISH_REQUIRED);
    assert_null(driver_answer(d));
    driver_tick(d, d->config.reserve_timeout_ms);
    assert_int_equal(driver_answered(d), ANSWER_NO_HWCOLL);
}

T(job__of_another_cluster_is_not_relayed)
{
    struct driver *d = *state;
    reserve_in(d, "elcap2", "a", 128, WISH_AUTO);
    assert_null(driver_answer(d));
    assert_true(secret_none(core_find(d->core, "elcap2", "a")->key));
}

T(job__that_is_too_small_is_not_relayed)
{
    struct driver *d = *state;
    reserve_in(d, "elcap", "a", 2, WISH_AUTO);
    assert_true(secret_none(driver_job(d, "a")->key));
}

T(job__that_requires_addresses_does_not_wait_for_the_link)
{
    struct driver *d = *state;
    driver_done(d, reserve_job(d), FM_UNREACHED, NULL);
    reserve(d, "b", WISH_REQUIRED);
    assert_int_equal(driver_answered(d), ANSWER_NO_HWCOLL);
}

/* B11: what has its name at the fabric manager is another's. */
T(reserve__that_reached_none_is_not_released)
{
    struct driver *d = *state;
    driver_done(d, reserve_job(d), FM_UNREACHED, NULL);
    driver_release(d, "a");
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
}

/* It goes on for relay_timeout, through a link that was lost. */
T(reserve__outlives_the_link)
{
    struct driver *d = *state;
    driver_done(d, reserve_job(d), FM_UNREACHED, NULL);
    reserve(d, "b", WISH_AUTO); /* while the link is down */
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    driver_tick(d, d->config.link_retry_ms);
    driver_link(d);
    assert_int_equal(driver_count(d, EFFECT_CALL), 2);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-1");
    assert_int_equal(driver_job(d, "a")->hwcoll + driver_job(d, "b")->hwcoll,
                     HWCOLL_RESERVED + HWCOLL_WANTED);
}

T(reserve__is_given_up_in_time)
{
    struct driver *d = *state;
    (void)reserve_job(d);
    driver_tick(d, d->config.relay_timeout_ms);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_TIMEOUT);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
}

/* ---- joins ---- */

T(join__is_passed_on_with_the_session_token)
{
    struct driver *d = *state;
    reserved_job(d);
    uint64_t call = begin_join(d);
    assert_string_equal(secret_expose(about(d)->token), "sess-a");
    assert_string_equal(about(d)->body, BODY);
    assert_int_equal(driver_status(d).calls_in_flight, 1);
    join_done(d, call, 77);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
    assert_int_equal(driver_answer(d)->tree->id, 77);
    assert_int_equal(driver_status(d).calls_in_flight, 0);
    assert_string_equal(driver_answer(d)->tree->root, "00:00:00:00:00:01");
}

T(join__waits_for_the_reserve)
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
T(join__is_answered_in_time_and_taken_up_again)
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

T(join__made_between_two_requests_is_given_to_the_second)
{
    struct driver *d = *state;
    reserved_job(d);
    uint64_t call = begin_join(d);
    driver_tick(d, 4000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    join_done(d, call, 77);
    assert_null(driver_answer(d));
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* It was made when its sender did not wait, and does not come again. */
static uint64_t unused_tree(struct driver *d)
{
    reserved_job(d);
    uint64_t call = begin_join(d);
    driver_tick(d, 4000);
    join_done(d, call, 77);
    driver_tick(d, 2000);
    assert_int_equal(about(d)->tree, 77);
    return driver_call(d, FMCALL_LEAVE);
}

T(tree__that_is_not_asked_for_again_is_deleted)
{
    struct driver *d = *state;
    driver_done(d, unused_tree(d), FM_OK, NULL);
    assert_int_equal(steps_listed(d), 0);
}

T(tree__that_is_not_asked_for_again_is_deleted_however_long_it_takes)
{
    struct driver *d = *state;
    driver_done(d, unused_tree(d), FM_BUSY, NULL);
    driver_tick(d, d->config.relay_timeout_ms + 1000);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    assert_int_equal(steps_listed(d), 0);
}

/* Its sender closes a tree that is being deleted because no client asked for it. */
T(leave__of_a_tree_that_goes_anyway_is_given_up_in_time)
{
    struct driver *d = *state;
    driver_done(d, unused_tree(d), FM_BUSY, NULL);
    for (int64_t waited = 0; waited < d->config.relay_timeout_ms; waited += 4000) {
        leave(d, 77);
        driver_tick(d, 4000);
        const struct effect *call = driver_find(d, EFFECT_CALL);
        if (call)
            driver_done(d, call->u.call.id, FM_BUSY, NULL);
    }
    leave(d, 77);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    driver_tick(d, 60000);
    assert_int_equal(about(d)->tree, 77); /* and goes all the same */
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
}

/* Two communicators of the same nodes. */
T(joins__that_are_alike_get_a_tree_each)
{
    struct driver *d = *state;
    reserved_job(d);
    uint64_t first = begin_join(d), second = begin_join(d);
    join_done(d, first, 1);
    assert_int_equal(driver_answer(d)->tree->id, 1);
    join_done(d, second, 2);
    assert_int_equal(driver_answer(d)->tree->id, 2);
}

T(join__beyond_the_reservation_is_denied_without_asking)
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

T(join__of_another_vni_or_step_is_refused)
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

T(join__of_a_job_that_is_not_relayed_is_refused)
{
    struct driver *d = *state;
    d->config.clusters[0].relay = false;
    driver_configure(d);
    driver_reserved_job(d, "a");
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
}

/* The fabric manager's 409 is tried again here; it ends. */
T(join__that_stays_busy_ends)
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
T(join__given_up_between_two_requests_is_denied_to_the_second)
{
    struct driver *d = *state;
    d->config.relay_timeout_ms = 4050;
    driver_configure(d);
    reserved_job(d);
    driver_done(d, begin_join(d), FM_EXISTS, NULL);
    driver_tick(d, 4000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    driver_done(d, driver_call(d, FMCALL_JOIN), FM_EXISTS, NULL);
    driver_tick(d, 50);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    join(d);
    assert_null(driver_answer(d)); /* another one */
}

T(join__is_denied_in_the_words_of_the_fabric_manager)
{
    struct driver *d = *state;
    reserved_job(d);
    static const char *const words[] = {"02: none left", "00: none left", "99: none left"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        join_denied(d, begin_join(d), 507, words[i]);
        assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
        assert_int_equal(driver_answer(d)->status, 507);
        assert_string_equal(driver_answer(d)->detail, words[i]);
    }
}

/* Also when no one asks at that moment. */
T(join__denied_between_two_requests_is_so_to_the_second)
{
    struct driver *d = *state;
    reserved_job(d);
    uint64_t call = begin_join(d);
    driver_tick(d, 4000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    join_denied(d, call, 507, "02: none left");
    assert_null(driver_answer(d));
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    assert_int_equal(driver_answer(d)->status, 507);
    assert_string_equal(driver_answer(d)->detail, "02: none left");
}

/* libfabric would read beyond it. */
T(join__denied_without_a_number_is_no_507)
{
    struct driver *d = *state;
    reserved_job(d);
    static const char *const words[] = {"none left", "0/: x", "/0: x", "0a: x", "a0: x", "00, x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        join_denied(d, begin_join(d), 507, words[i]);
        assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
        assert_int_equal(driver_answer(d)->status, 0);
    }
    assert_int_equal(answer_status(ANSWER_JOIN_DENIED), 503);
}

T(join__under_way_ends_with_its_job)
{
    struct driver *d = *state;
    reserved_job(d);
    uint64_t call = begin_join(d);
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
T(join__that_waits_is_answered_when_its_job_is_gone)
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

T(join__ends_when_the_reservation_is_lost)
{
    struct driver *d = *state;
    reserved_job(d);
    driver_lose(d);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_LOST);
    join(d);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
}

T(joins__of_one_job_are_bounded)
{
    struct driver *d = *state;
    reserved_job_of(d, 100);
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
T(joins__are_bounded_in_bytes)
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
        reserve(d, name, WISH_AUTO);
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

T(leaves__of_one_job_are_bounded)
{
    struct driver *d = *state;
    reserved_job_of(d, 100);
    lose_join(d, "0");
    for (unsigned tree = 0; tree < RELAYED_MAX; tree++) {
        leave(d, (uint16_t)tree);
        assert_null(driver_answer(d));
    }
    leave(d, RELAYED_MAX);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
}

T(leave__of_a_tree_that_it_has_not_asks_nothing)
{
    struct driver *d = *state;
    reserved_job(d);
    leave(d, 5);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* libfabric repeats it after "later"; twice sent, it might end the next tree of this number. */
T(leave__that_comes_again_is_sent_once)
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
T(leave__that_waits_does_not_end_the_next_tree_of_its_number)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "0", 5);
    leave(d, 5);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_BUSY, NULL);
    join_done(d, begin_join(d), 5);
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 2);
    driver_tick(d, 60 * 1000);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(steps_listed(d), 1);
}

T(leave__stays_within_the_token)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fB", 5);
    leave_narrowed(d, 5);
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
}

/* ---- what is known of the trees ---- */

T(cleanup__of_a_step_without_trees_asks_nobody)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA/fB", 5);
    clean(d, "/fA/fC", false);
    assert_int_equal(driver_answered(d), ANSWER_CLEANED);
    assert_null(driver_find(d, EFFECT_CALL));
}

T(cleanup__below_ends_the_known_steps_without_a_list)
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
T(cleanup__below_asks_while_a_join_is_under_way)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA/fB", 5);
    join_of(d, "/fA", BODY);
    clean(d, "/fA", true);
    (void)driver_call(d, FMCALL_STEPS);
}

/* F19: the tree of a late join went with its step, before it was asked for again. */
T(cleanup__takes_what_was_made_late)
{
    struct driver *d = *state;
    reserved_job(d);
    uint64_t call = begin_join(d);
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
T(trees__are_not_known_after_a_leave_was_given_up)
{
    struct driver *d = *state;
    d->config.relay_timeout_ms = 100;
    reserved_job_of(d, 1);
    make_tree(d, "0", 1);
    leave(d, 1);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_TIMEOUT, NULL);
    driver_tick(d, 100);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    make_tree(d, "0", 2);
}

T(trees__are_not_known_after_an_answer_was_lost)
{
    struct driver *d = *state;
    reserved_job(d);
    driver_done(d, begin_join(d), FM_TIMEOUT, NULL);
    clean(d, "7", false);
    (void)driver_call(d, FMCALL_END_STEP);
}

/* ---- trees that libfabric does not take ---- */

/* It crashes at a root that is missing, and does not delete a tree whose root it does not know. */
T(tree__that_libfabric_rejects_goes_before_the_next_one)
{
    static const char *const roots[] = {"", "00:00:00:00:00:02", "01:00:00:00:00:01"};
    struct driver *d = *state;
    reserved_job_of(d, 1);
    for (uint16_t i = 0; i < 3; i++) {
        uint64_t call = begin_join(d);
        join_done_at(d, call, i, roots[i]);
        assert_null(driver_answer(d));
        call = driver_call(d, FMCALL_LEAVE);
        assert_int_equal(about(d)->tree, i);
        driver_tick(d, 500);
        assert_null(driver_find(d, EFFECT_CALL)); /* it still has the only address */
        driver_done(d, call, FM_OK, NULL);
        join_done(d, driver_call(d, FMCALL_JOIN), 7);
        assert_int_equal(driver_answered(d), ANSWER_JOINED);
        leave(d, 7);
        driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    }
}

/* A fabric manager that never names a NIC of the request has to make and delete a tree each time.
 */
T(tree__that_libfabric_rejects_is_asked_for_again_after_longer_and_longer)
{
    struct driver *d = *state;
    reserved_job(d);
    uint64_t call = begin_join(d);
    for (int64_t wait = 500; wait <= 16000; wait *= 2) {
        join_done_at(d, call, 5, "00:00:00:00:00:02");
        driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
        driver_tick(d, wait - 1);
        assert_null(driver_find(d, EFFECT_CALL));
        driver_tick(d, 1);
        call = driver_call(d, FMCALL_JOIN);
        if (driver_find(d, EFFECT_ANSWER)) /* that it is to ask again */
            join(d);
    }
}

/* Two communicators at once; the number of the tree that went is the next one's. */
T(tree__that_libfabric_rejects_is_gone_when_its_number_is_used_again)
{
    struct driver *d = *state;
    reserved_job(d);
    join_done_at(d, begin_join(d), 5, "");
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    make_tree(d, "1", 5);
    driver_tick(d, 500);
    join_done(d, driver_call(d, FMCALL_JOIN), 6);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
}

T(tree__that_libfabric_rejects_and_that_stays_denies_its_join)
{
    struct driver *d = *state;
    reserved_job(d);
    join_done_at(d, begin_join(d), 5, "");
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_REFUSED, NULL);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    assert_int_equal(steps_listed(d), 1);
}

T(tree__that_libfabric_rejects_goes_however_long_it_takes)
{
    struct driver *d = *state;
    reserved_job(d);
    join_done_at(d, begin_join(d), 5, "");
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_BUSY, NULL);
    make_tree(d, "1", 6); /* there is one more address */
    driver_tick(d, d->config.relay_timeout_ms + 1000);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER); /* who waits since 4 s */
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    assert_int_equal(steps_listed(d), 1);
}

/* It says the number of a tree that is in use, and it is not to go for that. */
T(tree__in_use_does_not_go_for_an_answer_that_names_it)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "0", 5);
    join_done_at(d, begin_join(d), 5, "");
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, 500);
    join_done(d, driver_call(d, FMCALL_JOIN), 6);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
}

T(root__is_found_among_the_nics_however_they_are_written)
{
    static const char *const bodies[] = {"{\"macs\":[\"1:12:0a\"]}",
                                         "{\"macs\":[\"1:1:1\",\"01:12:0A\",\"2:2:2\"]}",
                                         "{\"macs\":[\"00:00:00:01:12:0A\"]}"};
    struct driver *d = *state;
    reserved_job_of(d, 10);
    for (uint16_t i = 0; i < 3; i++) {
        join_of(d, "0", bodies[i]);
        join_done_at(d, driver_call(d, FMCALL_JOIN), i, "00:00:00:01:12:0A");
        assert_int_equal(driver_answered(d), ANSWER_JOINED);
    }
    join_of(d, "0", "{\"macs\":[\"1:12:1\"],\"jobStepID\":\"1:12:0A\"}");
    join_done_at(d, driver_call(d, FMCALL_JOIN), 9, "00:00:00:01:12:0A");
    (void)driver_call(d, FMCALL_LEAVE);
}

/* ---- trees that are not known ---- */

static const uint16_t five[] = {5};
static const struct fmcall_step five_of_fa = {"/fA", five, 1};
static const struct fmcall_steps list_of_five = {&five_of_fa, 1, 0};

static void list_done(struct driver *d, const struct fmcall_steps *list)
{
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = driver_call(d, FMCALL_STEPS), .outcome = FM_OK,
                .steps = list, .words = "200");
}

static struct relay_view seen(const struct driver *d)
{
    struct relay_view view;
    relay_view(driver_job(d, "a"), &view);
    return view;
}

/* The end of the step may have taken it along. */
T(trees__are_not_known_when_one_was_made_while_its_step_ended)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA", 5);
    clean(d, "/fA", false);
    uint64_t end = driver_call(d, FMCALL_END_STEP);
    join_of(d, "/fA", BODY);
    uint64_t call = driver_call(d, FMCALL_JOIN);
    driver_done(d, end, FM_OK, NULL);
    join_done(d, call, 6);
    assert_int_equal(driver_answered(d), ANSWER_JOINED);
    assert_int_equal(seen(d).trees, 1);
    assert_false(seen(d).all);
}

T(view__has_the_trees_and_few_steps)
{
    char step[] = "0";
    struct driver *d = *state;
    reserved_job_of(d, 20);
    assert_true(seen(d).all && seen(d).trees == 0 && seen(d).step_count == 0);
    for (uint16_t i = 0; i < 2 * RELAY_STEPS_SHOWN; i++, step[0] = (char)('0' + i / 2))
        make_tree(d, step, i);
    assert_int_equal(seen(d).step_count, RELAY_STEPS_SHOWN);
    assert_string_equal(seen(d).steps[1], "1");
    make_tree(d, "9", 16);
    assert_int_equal(seen(d).step_count, 0);
    assert_int_equal(seen(d).trees, 17);
    lose_join(d, "0");
    assert_false(seen(d).all);
}

/* The same ledger, another process. */
static void restart(struct driver *d)
{
    static const char *const names[] = {"elcap-a"};
    struct core *before = d->core;
    const struct record record = {RECORD_RESERVATION,
                                  .u.reservation = reservation_record(driver_job(d, "a"))};
    d->core = core_create(&d->config);
    assert_int_equal(core_load(d->core, &record, NULL), 0);
    core_destroy(before);
    core_start(d->core, d->now);
    driver_login(d);
    driver_list(d, names, 1, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-a");
    assert_null(driver_find(d, EFFECT_CALL)); /* thousands of jobs may be there */
}

/* The first try may be acted on yet: another tree. */
T(trees__are_listed_when_what_was_lost_has_settled)
{
    struct driver *d = *state;
    reserved_job(d);
    lose_join(d, "0");
    ask_steps(d);
    list_done(d, &list_of_five);
    ask_steps(d);
    assert_null(driver_answer(d));
    list_done(d, &list_of_five);
    driver_tick(d, d->config.call_timeout_ms - 250 + 1);
    list_done(d, &list_of_five);
    assert_int_equal(steps_listed(d), 1);
    leave(d, 6);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    assert_null(driver_find(d, EFFECT_CALL));
}

T(trees__that_were_left_meanwhile_are_not_learned)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA", 5);
    lose_join(d, "1");
    driver_tick(d, d->config.call_timeout_ms + 1);
    uint64_t call = driver_call(d, FMCALL_STEPS);
    leave(d, 5);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_OK, .steps = &list_of_five);
    driver_tick(d, 1000);
    list_done(d, &cleanup_no_steps);
    assert_int_equal(steps_listed(d), 0);
}

/* Less and less often: each job of a fabric manager that is ill would ask. */
T(list__that_brings_nothing_is_repeated_after_a_pause)
{
    struct driver *d = *state;
    reserved_job(d);
    lose_join(d, "0");
    driver_tick(d, d->config.call_timeout_ms + 1);
    for (int64_t pause = 500; pause < 4000; pause *= 2) {
        driver_done(d, driver_call(d, FMCALL_STEPS), FM_GONE, NULL); /* which is no proof */
        driver_tick(d, pause - 1);
        assert_null(driver_find(d, EFFECT_CALL));
        driver_tick(d, 1);
    }
    list_done(d, &cleanup_no_steps);
    assert_int_equal(steps_listed(d), 0);
    lose_join(d, "0");
    driver_tick(d, d->config.call_timeout_ms + 1);
    driver_done(d, driver_call(d, FMCALL_STEPS), FM_BUSY, NULL);
    driver_tick(d, 500); /* as at first */
    (void)driver_call(d, FMCALL_STEPS);
}

T(leave__after_a_start_waits_for_the_trees)
{
    struct driver *d = *state;
    reserved_job(d);
    make_tree(d, "/fA", 5);
    d->now += 1000;
    restart(d);
    leave_narrowed(d, 5);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    driver_tick(d, d->config.call_timeout_ms);
    assert_null(driver_find(d, EFFECT_CALL)); /* joins of before may be acted on yet */
    driver_tick(d, 1);
    list_done(d, &list_of_five);
    leave_narrowed(d, 5);
    driver_done(d, driver_call(d, FMCALL_LEAVE), FM_OK, NULL);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    leave_narrowed(d, 6);
    assert_int_equal(driver_answered(d), ANSWER_LEFT);
    driver_tick(d, d->config.relay_timeout_ms);
    lose_join(d, "0");
    leave_narrowed(d, 6); /* which waits anew */
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
}

/* libfabric would ask again for ever. */
T(leave__does_not_wait_for_ever_for_the_trees)
{
    struct driver *d = *state;
    reserved_job(d);
    restart(d);
    leave_narrowed(d, 5);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_LATER);
    driver_tick(d, d->config.relay_timeout_ms);
    leave_narrowed(d, 5);
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
}

T(trees__are_learned_after_a_start_by_the_first_request)
{
    struct driver *d = *state;
    reserved_job(d);
    restart(d);
    driver_tick(d, d->config.call_timeout_ms + 1);
    assert_null(driver_find(d, EFFECT_CALL));
    make_tree(d, "/fA", 5);
    driver_tick(d, 1);
    list_done(d, &list_of_five);
    clean(d, "0", false);
    assert_int_equal(driver_answered(d), ANSWER_CLEANED);
}

/* The cleanup itself goes first, and is one call as before. */
T(trees__are_learned_behind_a_cleanup)
{
    struct driver *d = *state;
    reserved_job(d);
    restart(d);
    driver_tick(d, d->config.call_timeout_ms + 1);
    clean(d, "0", false);
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    list_done(d, &list_of_five);
    clean(d, "1", false);
    assert_int_equal(driver_answered(d), ANSWER_CLEANED);
    assert_null(driver_find(d, EFFECT_CALL));
}

T(trees__are_learned_from_the_list_of_a_cleanup)
{
    struct driver *d = *state;
    reserved_job(d);
    lose_join(d, "0");
    d->now += d->config.call_timeout_ms + 1;
    clean(d, "/fB", true);
    list_done(d, &list_of_five);
    assert_int_equal(steps_listed(d), 1);
}

/* I8: what is listed may be of a join whose answer is to come: it counts once. */
T(trees__that_are_being_made_are_not_learned)
{
    struct driver *d = *state;
    reserved_job_of(d, 2);
    restart(d);
    driver_tick(d, d->config.call_timeout_ms + 1);
    join_of(d, "/fA", "{\"macs\":[\"1:1:1\"]}");
    (void)driver_call(d, FMCALL_JOIN);
    clean(d, "/fB", true);
    list_done(d, &list_of_five);
    join_of(d, "0", "{\"macs\":[\"1:1:2\"]}");
    assert_null(driver_answer(d));
    (void)driver_call(d, FMCALL_JOIN);
}

/* Of four places three are other calls', and one more waits, when the list is due. */
static uint64_t busy(struct driver *d)
{
    static const char *const jobs[] = {"b", "c", "d", "e"};
    uint64_t call = 0;
    d->config.calls_at_once = 4;
    reserved_job(d);
    for (int i = 0; i < 4; i++) {
        char token[] = {'t', jobs[i][0], '\0'};
        reserve(d, jobs[i], WISH_AUTO);
        driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, token);
    }
    lose_join(d, "0");
    for (int i = 0; i < 4; i++) {
        driver_release(d, jobs[i]);
        call = i < 3 ? driver_call(d, FMCALL_RELEASE) : call;
    }
    driver_tick(d, d->config.call_timeout_ms + 1);
    assert_null(driver_find(d, EFFECT_CALL));
    return call;
}

/* It has the last place: what jobs wait for goes first. */
T(list__waits_for_releases)
{
    struct driver *d = *state;
    driver_done(d, busy(d), FM_OK, NULL);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    (void)driver_call(d, FMCALL_STEPS);
}

/* Who asks for the list need not wait behind others for it. */
T(list__that_is_asked_for_is_no_longer_the_last)
{
    struct driver *d = *state;
    uint64_t call = busy(d);
    ask_steps(d);
    driver_done(d, call, FM_OK, NULL);
    list_done(d, &list_of_five);
    assert_int_equal(driver_answered(d), ANSWER_STEPS);
}

T(list__that_is_asked_for_goes_before_cleanups)
{
    struct driver *d = *state;
    reserved_job(d);
    lose_join(d, "0");
    clean(d, "0", false);
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    clean(d, "1", false);
    driver_tick(d, d->config.call_timeout_ms + 1); /* it is due, behind these */
    ask_steps(d);
    driver_done(d, call, FM_OK, NULL);
    (void)driver_call(d, FMCALL_STEPS);
}

/* The end of a step may be acted on yet, although it was given up. */
T(list__waits_until_a_lost_cleanup_has_settled)
{
    struct driver *d = *state;
    d->now += 2 * d->config.call_timeout_ms;
    d->config.cleanup_timeout_ms = 100;
    reserved_job(d);
    make_tree(d, "/fA", 5);
    clean(d, "/fA", false);
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    driver_tick(d, 99);
    driver_done(d, call, FM_TIMEOUT, NULL);
    driver_tick(d, 1);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, d->config.call_timeout_ms);
    (void)driver_call(d, FMCALL_STEPS);
}

UNIT_RUN(NULL, NULL)
