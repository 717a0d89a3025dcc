/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

static struct record saved(uint64_t number, const char *job, enum job_state state,
                           enum hwcoll_state hwcoll, enum fm_side side)
{
    return (struct record){
        .kind = RECORD_RESERVATION,
        .u.reservation = {.number = number,
                          .cluster = "elcap",
                          .job = job,
                          .uid = 5588,
                          .node_count = 128,
                          .wish = WISH_AUTO,
                          .vni_asked = 1,
                          .vni_count = 1,
                          .vnis = {(uint16_t)(1024 + number)},
                          .traffic_classes = 0x0a,
                          .addresses = 23,
                          .min_nodes = 64,
                          .token = secret_of(hwcoll == HWCOLL_RESERVED ? "sess-1" : NULL),
                          .state = (uint8_t)state,
                          .hwcoll = (uint8_t)hwcoll,
                          .fm_side = (uint8_t)side,
                          .created_ms = 1,
                          .hold_until_ms = state == JOB_RELEASING ? 1000000 + 5000 : 0}};
}

static void load(struct driver *d, struct record record)
{
    struct error err;
    assert_int_equal(core_load(d->core, &record, &err), 0);
}

static void begin(struct driver *d)
{
    driver_init(d);
    d->core = core_create(&d->config);
    load(d, (struct record){.kind = RECORD_FOUNDED});
}
DRIVER_FIXTURE(begin_driver, begin)

/* F22, S3: everything is there again, numbers go on. */
WITH(begin_driver, load__brings_everything_back)
{
    struct driver *d = *state;
    load(d, (struct record){.kind = RECORD_COUNTERS,
                            .u.counters = {.last_number = 41, .last_seq = 7}});
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_RESERVED, FM_SIDE_THERE));
    load(d, saved(9, "b", JOB_RELEASING, HWCOLL_RELEASED, FM_SIDE_THERE));
    core_start(d->core, d->now);
    assert_int_equal(driver_status(d).use.jobs_active, 1);
    assert_int_equal(driver_status(d).use.jobs_releasing, 1);
    assert_int_equal(driver_status(d).vnis_live, 1);
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(driver_status(d).use.addresses, 46);
    driver_reserve(d, driver_request("a", 128));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_string_equal(secret_expose(driver_answer(d)->reservation->token), "sess-1");
    driver_reserve(d, driver_request("c", 2));
    assert_int_equal(driver_answer(d)->reservation->number, 42);
    assert_int_equal(driver_find(d, EFFECT_EVENT)->u.event->seq, 8);
}

/* F22: a node list that is refused since (a node is there twice) may be in a ledger of before. */
WITH(begin_driver, load__takes_a_list_that_is_refused_now)
{
    struct driver *d = *state;
    struct record record = saved(5, "a", JOB_ACTIVE, HWCOLL_OFF, FM_SIDE_NOTHING);
    struct reserve_request q = driver_request("a", 4);
    record.u.reservation.nodes = q.nodes = "n[1-3,2]";
    record.u.reservation.node_count = 4;
    record.u.reservation.wish = q.wish = WISH_OFF;
    load(d, record);
    core_start(d->core, d->now);
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    q.job = "b";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
}

/* F22: each field is what it was, and what is saved of it next is no less. */
WITH(begin_driver, load__brings_back_each_field)
{
    struct driver *d = *state;
    const struct record record = {.kind = RECORD_RESERVATION,
                                  .u.reservation = {.number = 5,
                                                    .cluster = "elcap",
                                                    .job = "a",
                                                    .nodes = "elcap[1-128]",
                                                    .token = secret_of("sess-1"),
                                                    .reason = "a reason",
                                                    .uid = 5588,
                                                    .node_count = 128,
                                                    .cores_per_node = 96,
                                                    .addresses = 23,
                                                    .min_nodes = 64,
                                                    .vnis = {1030, 1031, 1032},
                                                    .vni_count = 3,
                                                    .vni_asked = 4,
                                                    .traffic_classes = TC_BULK_DATA,
                                                    .wish = WISH_REQUIRED,
                                                    .state = JOB_ACTIVE,
                                                    .hwcoll = HWCOLL_RESERVED,
                                                    .fm_side = FM_SIDE_THERE,
                                                    .regranted = 1,
                                                    .launched = 1,
                                                    .created_ms = 17,
                                                    .released_ms = 18,
                                                    .hold_until_ms = 19}};
    load(d, record);
    core_start(d->core, d->now);
    const struct reservation_record *was = &record.u.reservation,
                                    is = reservation_record(driver_job(d, "a"));
    assert_int_equal(is.number, was->number);
    assert_string_equal(is.cluster, was->cluster);
    assert_string_equal(is.job, was->job);
    assert_string_equal(is.nodes, was->nodes);
    assert_string_equal(secret_expose(is.token), "sess-1");
    assert_string_equal(is.reason, was->reason);
    assert_int_equal(is.uid, was->uid);
    assert_int_equal(is.node_count, was->node_count);
    assert_int_equal(is.cores_per_node, was->cores_per_node);
    assert_int_equal(is.addresses, was->addresses);
    assert_int_equal(is.min_nodes, was->min_nodes);
    assert_memory_equal(is.vnis, was->vnis, sizeof is.vnis);
    assert_int_equal(is.vni_count, was->vni_count);
    assert_int_equal(is.vni_asked, was->vni_asked);
    assert_int_equal(is.traffic_classes, was->traffic_classes);
    assert_int_equal(is.wish, was->wish);
    assert_int_equal(is.state, was->state);
    assert_int_equal(is.hwcoll, was->hwcoll);
    assert_int_equal(is.fm_side, was->fm_side);
    assert_int_equal(is.regranted, was->regranted);
    assert_int_equal(is.launched, was->launched);
    assert_int_equal(is.created_ms, was->created_ms);
    assert_int_equal(is.released_ms, was->released_ms);
    assert_int_equal(is.hold_until_ms, was->hold_until_ms);
}

/* F3: whether it was granted twice before the restart nothing tells, unless a node had reported
 * before: then it would be on disk. So the first report after it counts for any life. */
UNIT(load__does_not_know_which_life_a_node_speaks_of)
{
    for (int reported = 0; reported < 2; reported++) {
        struct driver d;
        begin(&d);
        load(&d, saved(5, "a", JOB_ACTIVE, HWCOLL_OFF, FM_SIDE_NOTHING));
        if (reported)
            load(&d,
                 (struct record){
                     .kind = RECORD_NODE,
                     .u.node = {.number = 5, .node = "elcap1", .order = 1, .state = NODE_CREATED}});
        core_start(d.core, d.now);
        driver_step(&d, (struct core_event){.kind = CORE_NODE_REPORT,
                                            .ticket = 1,
                                            .u.report = {.cluster = "elcap",
                                                         .job = "a",
                                                         .number = 5,
                                                         .node = "elcap2",
                                                         .state = NODE_CREATED,
                                                         .order = 2}});
        assert_int_equal(driver_job(&d, "a")->regranted, !reported);
        driver_end(&d);
    }
}

/* A crash between the intent and the answer: asked again, under the same name. */
WITH(begin_driver, load__intent_is_finished)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-a"};
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_WANTED, FM_SIDE_MAYBE));
    core_start(d->core, d->now);
    driver_login(d);
    driver_list(d, names, 1, FM_OK);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_EXISTS, NULL);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-2");
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
    assert_string_equal(secret_expose(driver_job(d, "a")->token), "sess-2");
}

/* Nobody may come back for it: it does not stay wanted for ever. */
WITH(begin_driver, load__intent_is_given_up_when_the_link_does_not_come)
{
    struct driver *d = *state;
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_WANTED, FM_SIDE_MAYBE));
    core_start(d->core, d->now);
    driver_tick(d, d->config.reserve_timeout_ms);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_TIMEOUT);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_MAYBE);
}

FRESH(load__intent_is_given_up_without_a_fabric_manager)
{
    struct driver *d = *state;
    d->config.fm_present = false;
    d->core = core_create(&d->config);
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_WANTED, FM_SIDE_MAYBE));
    core_start(d->core, d->now);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_UNAVAILABLE);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_MAYBE);
}

/* F20, F22: inactive jobs are released, an active one that is gone is told. */
WITH(begin_driver, load__compares_with_the_fabric_manager)
{
    struct driver *d = *state;
    size_t count;
    static const char *const names[] = {"elcap-b"};
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_RESERVED, FM_SIDE_THERE));
    load(d, saved(9, "b", JOB_RELEASING, HWCOLL_RELEASED, FM_SIDE_THERE));
    core_start(d->core, d->now);
    driver_login(d);
    driver_list(d, names, 1, FM_OK);
    const struct effect *effects = core_effects(d->core, &count);
    bool checked = false, released = false;
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind != EFFECT_CALL)
            continue;
        checked |= effects[i].u.call.kind == FMCALL_CHECK &&
                   strcmp(effects[i].u.call.about.name, "elcap-a") == 0;
        released |= effects[i].u.call.kind == FMCALL_RELEASE &&
                    strcmp(effects[i].u.call.about.name, "elcap-b") == 0;
    }
    assert_true(checked);
    assert_true(released);
}

/* Reserved at the second try, released, and a crash before the first could not be acted on any
 * more: the release is asked for again when that time is over (I3). */
UNIT(load__remembers_that_an_earlier_try_is_open)
{
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    driver_reserve(&d, driver_request("a", 128));
    driver_done(&d, driver_call(&d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(&d, 250);
    driver_done(&d, driver_call(&d, FMCALL_RESERVE), FM_OK, "sess-2");
    assert_int_equal(driver_job(&d, "a")->hwcoll, HWCOLL_RESERVED);
    assert_int_equal(driver_job(&d, "a")->fm_side, FM_SIDE_MAYBE);
    driver_end(&d);

    begin(&d);
    load(&d, saved(5, "a", JOB_RELEASING, HWCOLL_RELEASED, FM_SIDE_MAYBE));
    core_start(d.core, d.now);
    driver_login(&d);
    driver_list(&d, NULL, 0, FM_OK);
    driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(&d, "a")->fm_side, FM_SIDE_MAYBE);
    driver_tick(&d, d.config.call_timeout_ms);
    driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_GONE, NULL);
    driver_tick(&d, d.config.vni_hold_ms);
    assert_null(driver_job(&d, "a"));
    driver_end(&d);
}

/* The job's reserve timed out, its release was given up and then confirmed; the crash made us
 * forget that the first one may yet be acted on, so the name rests (I4). */
WITH(begin_driver, load__a_given_up_release_does_not_hit_the_next_life)
{
    struct driver *d = *state;
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_TIMEOUT, FM_SIDE_NOTHING));
    core_start(d->core, d->now);
    driver_login(d);
    driver_list(d, NULL, 0, FM_OK);
    driver_release(d, "a");
    d->now += d->config.call_timeout_ms - 1000;
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, 1000);
    (void)driver_call(d, FMCALL_RESERVE);
}

/* The same of one that never had addresses: what was left at the fabric manager under its name may
 * have been deleted (I4). */
WITH(begin_driver, load__a_given_up_deletion_does_not_hit_the_next_life)
{
    struct driver *d = *state;
    load(d, saved(5, "a", JOB_RELEASING, HWCOLL_INELIGIBLE, FM_SIDE_NOTHING));
    load(d, saved(6, "b", JOB_ACTIVE, HWCOLL_INELIGIBLE, FM_SIDE_NOTHING));
    core_start(d->core, d->now);
    driver_login(d);
    driver_list(d, NULL, 0, FM_OK);
    d->now += d->config.call_timeout_ms - 1;
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, 1);
    (void)driver_call(d, FMCALL_RESERVE);
}

/* F3: whether the clock was set forward or back while the broker was down, a VNI is quarantined for
 * all of its time.
 */
UNIT(load__holding_back_begins_anew)
{
    const int64_t saved_untils[] = {1, 1000000, INT64_MAX / 2};
    for (size_t i = 0; i < sizeof saved_untils / sizeof saved_untils[0]; i++) {
        struct driver d;
        begin(&d);
        struct record record = saved(9, "b", JOB_RELEASING, HWCOLL_OFF, FM_SIDE_NOTHING);
        record.u.reservation.addresses = 0;
        record.u.reservation.hold_until_ms = saved_untils[i];
        load(&d, record);
        core_start(d.core, d.now);
        driver_tick(&d, d.config.vni_hold_ms - 1);
        assert_non_null(driver_job(&d, "b"));
        driver_tick(&d, 1);
        assert_null(driver_job(&d, "b"));
        driver_end(&d);
    }
}

/* B8: a key that the ledger has of a released job ends with it (as a leak, were it kept). */
WITH(begin_driver, load__key_of_a_released_job_ends_with_it)
{
    struct driver *d = *state;
    struct record record = saved(9, "b", JOB_RELEASING, HWCOLL_OFF, FM_SIDE_NOTHING);
    record.u.reservation.addresses = 0;
    record.u.reservation.vni_count = 0;
    record.u.reservation.interconnect = INTERCONNECT_OMNIPATH;
    record.u.reservation.key = secret_of("00112233445566778899aabbccddeef0");
    load(d, record);
    core_start(d->core, d->now);
    driver_tick(d, d->config.vni_hold_ms);
    assert_null(driver_job(d, "b"));
}

/* The last events are missing (found by fuzzing): the next one must not end the broker. */
WITH(begin_driver, load__events_that_break_off_are_dropped)
{
    struct driver *d = *state;
    load(d, (struct record){.kind = RECORD_COUNTERS,
                            .u.counters = {.last_number = 8, .last_seq = 20}});
    for (uint64_t seq = 3; seq <= 5; seq++)
        load(d, (struct record){.kind = RECORD_EVENT,
                                .u.event = {.seq = seq, .kind = EVENT_LINK_UP, .time_ms = 1}});
    core_start(d->core, d->now);
    const struct effect *saved = driver_find(d, EFFECT_SAVE);
    assert_non_null(saved);
    assert_int_equal(saved->u.record.kind, RECORD_PRUNE);
    assert_int_equal(saved->u.record.u.prune, 5);
    driver_reserve(d, driver_request("x", 2));
    assert_int_equal(driver_status(d).first_seq, 21);
    assert_int_equal(driver_status(d).last_seq, 21);
}

/* One row is enough: of the last ones, after which the next event would not follow; and of those
 * between, without which who replays them would not be told of the gap (F24). */
UNIT(load__one_missing_event_is_noticed)
{
    for (uint64_t last = 5; last <= 6; last++) {
        struct driver d;
        begin(&d);
        load(&d, (struct record){.kind = RECORD_COUNTERS,
                                 .u.counters = {.last_number = 8, .last_seq = last}});
        for (uint64_t seq = 3; seq <= 5; seq++)
            load(&d, (struct record){.kind = RECORD_EVENT,
                                     .u.event = {.seq = seq, .kind = EVENT_LINK_UP, .time_ms = 1}});
        core_start(d.core, d.now);
        assert_int_equal(driver_count(&d, EFFECT_SAVE), last == 6);
        assert_int_equal(driver_status(&d).last_seq, last);
        driver_reserve(&d, driver_request("x", 2));
        assert_int_equal(driver_status(&d).first_seq, last == 6 ? 7 : 3);
        driver_end(&d);
    }
    struct driver d;
    struct error err = {0};
    const struct record after = {.kind = RECORD_EVENT,
                                 .u.event = {.seq = 5, .kind = EVENT_LINK_UP, .time_ms = 1}};
    begin(&d);
    load(&d, (struct record){.kind = RECORD_EVENT,
                             .u.event = {.seq = 3, .kind = EVENT_LINK_UP, .time_ms = 1}});
    assert_int_equal(core_load(d.core, &after, &err), ERROR_CORRUPT);
    assert_non_null(strstr(err.text, "event 5 does not follow event 3"));
    driver_end(&d);
}

WITH(begin_driver, load__refuses_what_cannot_be)
{
    struct driver *d = *state;
    struct error err;
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_RESERVED, FM_SIDE_THERE));
    struct record twice = saved(6, "b", JOB_ACTIVE, HWCOLL_OFF, FM_SIDE_NOTHING);
    twice.u.reservation.vnis[0] = 1024 + 5;
    assert_int_equal(core_load(d->core, &twice, &err), ERROR_CORRUPT);
    assert_non_null(strstr(err.text, "elcap-b"));
    struct record bad = saved(7, "c", JOB_RELEASING, HWCOLL_WANTED, FM_SIDE_MAYBE);
    assert_int_equal(core_load(d->core, &bad, &err), ERROR_CORRUPT);
    bad = saved(7, "c", JOB_ACTIVE, HWCOLL_RESERVED, FM_SIDE_NOTHING);
    assert_int_equal(core_load(d->core, &bad, &err), ERROR_CORRUPT);
    bad = (struct record){.kind = (enum record_kind)99};
    assert_int_equal(core_load(d->core, &bad, &err), ERROR_CORRUPT);
    assert_non_null(strstr(err.text, "unknown kind 99"));
    bad = (struct record){.kind = RECORD_CLEANUP, .u.cleanup = {.number = 9, .step = "/fA"}};
    assert_int_equal(core_load(d->core, &bad, &err), ERROR_CORRUPT);
    bad = (struct record){.kind = RECORD_NODE,
                          .u.node = {.number = 9, .node = "elcap1", .state = NODE_CREATED}};
    assert_int_equal(core_load(d->core, &bad, &err), ERROR_CORRUPT);
    assert_non_null(strstr(err.text, "node elcap1 reports for reservation 9"));
    bad = saved(1, "early", JOB_ACTIVE, HWCOLL_OFF, FM_SIDE_NOTHING);
    assert_int_equal(core_load(d->core, &bad, &err), ERROR_CORRUPT);
}

static int loaded_with(struct record older, struct record newer)
{
    struct driver d;
    struct error err = {0};
    begin(&d);
    load(&d, older);
    load(&d, newer);
    int rc = core_check_load(d.core, &err);
    assert_true(rc == 0 || strstr(err.text, "5 and 6"));
    if (rc == 0)
        core_start(d.core, d.now);
    driver_end(&d);
    return rc;
}

/* I1, I3: one name at the fabric manager cannot be two reservations'. A newer life may wait for it.
 */
UNIT(load__refuses_two_lives_with_one_name)
{
    struct record leaving = saved(5, "a", JOB_RELEASING, HWCOLL_RELEASED, FM_SIDE_THERE),
                  left = saved(5, "a", JOB_RELEASING, HWCOLL_RELEASED, FM_SIDE_NOTHING),
                  live = saved(5, "a", JOB_ACTIVE, HWCOLL_OFF, FM_SIDE_NOTHING),
                  reserved = saved(6, "a", JOB_ACTIVE, HWCOLL_RESERVED, FM_SIDE_THERE),
                  in_the_way = saved(6, "a", JOB_ACTIVE, HWCOLL_WANTED, FM_SIDE_THERE),
                  waiting = saved(6, "a", JOB_ACTIVE, HWCOLL_WANTED, FM_SIDE_MAYBE),
                  without = saved(6, "a", JOB_ACTIVE, HWCOLL_OFF, FM_SIDE_NOTHING),
                  released = saved(6, "a", JOB_RELEASING, HWCOLL_RELEASED, FM_SIDE_MAYBE);
    assert_int_equal(loaded_with(live, reserved), ERROR_CORRUPT);
    assert_int_equal(loaded_with(live, without), ERROR_CORRUPT);
    assert_int_equal(loaded_with(leaving, reserved), ERROR_CORRUPT);
    assert_int_equal(loaded_with(leaving, in_the_way), ERROR_CORRUPT);
    assert_int_equal(loaded_with(leaving, waiting), 0);
    assert_int_equal(loaded_with(leaving, released), 0);
    assert_int_equal(loaded_with(left, reserved), 0);
    assert_int_equal(loaded_with(left, in_the_way), 0);
}

/* F5: the pool was shrunk while we were away; the job keeps its VNI, nobody else gets it. */
FRESH(load__pool_shrunk_meanwhile)
{
    struct driver *d = *state;
    idset_init(&d->config.vni_pool);
    idset_add(&d->config.vni_pool, 1029);
    idset_add(&d->config.vni_pool, 2000);
    d->core = core_create(&d->config);
    load(d, saved(5, "a", JOB_ACTIVE, HWCOLL_OFF, FM_SIDE_NOTHING)); /* has 1029 */
    load(d, saved(6, "b", JOB_ACTIVE, HWCOLL_OFF,
                  FM_SIDE_NOTHING)); /* has 1030, no longer in the pool */
    core_start(d->core, d->now);
    driver_reserve(d, driver_request("c", 2));
    assert_int_equal(driver_answer(d)->reservation->vnis[0], 2000);
    driver_release(d, "b");
    driver_tick(d, d->config.vni_hold_ms);
    assert_int_equal(driver_status(d).vnis_free, 0);
}

UNIT_RUN(NULL, NULL)
