/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* F1, F2: VNIs by default one, by request 0–4, unique. */
UP(reserve__gives_vnis)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->vni_count, 1);
    assert_int_equal(driver_answer(d)->reservation->vnis[0], 1024);

    struct reserve_request four = driver_request("b", 2);
    four.vni_count = 4;
    driver_reserve(d, four);
    assert_int_equal(driver_answer(d)->reservation->vni_count, 4);
    assert_int_equal(driver_answer(d)->reservation->vnis[0], 1025);

    struct reserve_request none = driver_request("c", 2);
    none.vni_count = 0;
    driver_reserve(d, none);
    assert_int_equal(driver_answer(d)->reservation->vni_count, 0);
}

static struct reserve_request request_of_vni(const char *job, uint16_t vni)
{
    struct reserve_request q = driver_request(job, 1);
    q.vni_count = 2;
    q.vnis[0] = 1030;
    q.vnis[1] = vni;
    q.vnis_named = true;
    q.wish = WISH_OFF;
    return q;
}

/* F1, I1: what a running job has of another broker no job gets before its nodes are clean; nobody
 * can name what another has, or what no job gets. */
UP(reserve__takes_over_the_vnis_of_a_running_job)
{
    struct driver *d = *state;
    driver_reserve(d, request_of_vni("a", 1025));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->vnis[0], 1030);
    assert_int_equal(driver_answer(d)->reservation->vnis[1], 1025);
    driver_reserve(d, request_of_vni("a", 1025));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    driver_reserve(d, request_of_vni("a", 1026));
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    assert_string_equal(driver_answer(d)->field, "vnis");
    for (char job[] = "b"; job[0] < 'h'; job[0]++) {
        driver_reserve(d, driver_request(job, 1));
        assert_int_not_equal(driver_answer(d)->reservation->vnis[0], 1025);
        assert_int_not_equal(driver_answer(d)->reservation->vnis[0], 1030);
    }
    driver_release(d, "a");
    driver_reserve(d, request_of_vni("x", 1025));
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    assert_null(driver_job(d, "x"));
    driver_reserve(d, request_of_vni("x", 10));
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    struct reserve_request q = request_of_vni("x", 10);
    q.vnis[0] = 1000;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "vnis");
}

/* F2: single-node jobs too, unless the site says otherwise. */
FRESH(reserve__single_node_policy)
{
    struct driver *d = *state;
    d->config.vni_single_node = false;
    driver_up(d);
    driver_reserve(d, driver_request("a", 1));
    assert_int_equal(driver_answer(d)->reservation->vni_count, 0);
    struct reserve_request asked = driver_request("b", 1);
    asked.vni_count = 2;
    driver_reserve(d, asked);
    assert_int_equal(driver_answer(d)->reservation->vni_count, 2);
}

/* F12: what a job does not say the site does; a repeat may leave it to the site as well. */
FRESH(reserve__site_chooses_traffic_classes)
{
    struct driver *d = *state;
    d->config.classes_allowed = TC_ALL;
    driver_up(d);
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answer(d)->reservation->traffic_classes,
                     TC_BEST_EFFORT | TC_LOW_LATENCY);
    d->config.classes_default = TC_BULK_DATA;
    driver_configure(d);
    driver_reserve(d, driver_request("b", 2));
    assert_int_equal(driver_answer(d)->reservation->traffic_classes, TC_BULK_DATA);
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_int_equal(driver_answer(d)->reservation->traffic_classes,
                     TC_BEST_EFFORT | TC_LOW_LATENCY);
    struct reserve_request own = driver_request("c", 2);
    own.traffic_classes = TC_DEDICATED_ACCESS;
    driver_reserve(d, own);
    assert_int_equal(driver_answer(d)->reservation->traffic_classes, TC_DEDICATED_ACCESS);
}

/* F12: within what the site allows; who has more from before keeps it, and may say so again. */
FRESH(reserve__site_allows_traffic_classes)
{
    struct driver *d = *state;
    d->config.classes_allowed = TC_ALL;
    driver_up(d);
    struct reserve_request q = driver_request("a", 2);
    q.traffic_classes = TC_BEST_EFFORT | TC_DEDICATED_ACCESS;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    d->config.classes_allowed = TC_ALL & ~TC_DEDICATED_ACCESS;
    driver_configure(d);
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    q.job = "b";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "traffic_classes");
    assert_string_equal(driver_answer(d)->detail,
                        "traffic class dedicated_access is not allowed here ([vni] "
                        "allowed_traffic_classes): leave it out");
    assert_null(driver_job(d, "b"));
    d->config.classes_allowed = TC_ALL;
    driver_configure(d);
    q.traffic_classes = TC_ALL;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* F12: what no node.conf allows by default would fail the prolog of each of the job's nodes. */
UP(reserve__allows_by_default_what_nodes_do)
{
    struct driver *d = *state;
    static const uint8_t open[] = {TC_BEST_EFFORT, TC_LOW_LATENCY, TC_BEST_EFFORT | TC_LOW_LATENCY};
    static const uint8_t closed[] = {TC_DEDICATED_ACCESS, TC_BULK_DATA,
                                     TC_BEST_EFFORT | TC_BULK_DATA};
    static const char *const jobs[] = {"a", "b", "c"};
    for (size_t i = 0; i < sizeof open; i++) {
        struct reserve_request q = driver_request(jobs[i], 2);
        q.traffic_classes = open[i];
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_CREATED);
    }
    for (size_t i = 0; i < sizeof closed; i++) {
        struct reserve_request q = driver_request("x", 2);
        q.traffic_classes = closed[i];
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_INVALID);
        assert_string_equal(driver_answer(d)->field, "traffic_classes");
    }
    assert_null(driver_job(d, "x"));
}

/* F4: a clear, fatal answer; nothing stays behind. */
FRESH(reserve__pool_exhausted_is_fatal)
{
    struct driver *d = *state;
    idset_init(&d->config.vni_pool);
    idset_add(&d->config.vni_pool, 100);
    idset_add(&d->config.vni_pool, 101);
    driver_up(d);
    struct reserve_request four = driver_request("a", 2);
    four.vni_count = 4;
    driver_reserve(d, four);
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    assert_string_equal(
        driver_answer(d)->detail,
        "failed to reserve 4 VNIs (2 available): run the job when others have ended");
    assert_null(driver_job(d, "a"));
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
}

/* B5: since when nothing is left, and whose released jobs hold it. */
FRESH(reserve__tells_since_when_nothing_is_left)
{
    struct driver *d = *state;
    idset_init(&d->config.vni_pool);
    idset_add(&d->config.vni_pool, 100);
    d->config.total_addresses = 45;
    d->config.addresses_per_job = 23;
    driver_up(d);
    assert_int_equal(driver_status(d).vnis_none_ms, 0);
    assert_int_equal(driver_status(d).addresses_full_ms, 0);
    driver_reserved_job(d, "a");
    const int64_t since = d->now;
    driver_tick(d, 1000);
    assert_int_equal(driver_status(d).vnis_none_ms, since);
    assert_int_equal(driver_status(d).addresses_full_ms, since);
    assert_int_equal(driver_status(d).vnis_held_most_uid, UID_UNKNOWN);
    assert_int_equal(driver_status(d).nodes_waited_ms, 0);
    driver_release(d, "a");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_status(d).vnis_held_most_uid, 5588);
    assert_int_equal(driver_status(d).nodes_waited_ms, since + 1000);
    assert_int_equal(driver_status(d).vnis_none_ms, since); /* held is not free */
    assert_int_equal(driver_status(d).addresses_full_ms, 0);
}

FRESH(reserve__pool_exhausted_may_be_allowed)
{
    struct driver *d = *state;
    idset_init(&d->config.vni_pool);
    idset_add(&d->config.vni_pool, 100);
    d->config.vni_required = false;
    driver_up(d);
    driver_reserve(d, driver_request("a", 2));
    driver_reserve(d, driver_request("b", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->vni_count, 0);
    assert_string_equal(driver_answer(d)->detail, "failed to reserve 1 VNI: the job has none");
    driver_reserve(d, driver_request("b", 2)); /* again: the same, with its warning (I7) */
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_string_equal(driver_answer(d)->detail, "failed to reserve 1 VNI: the job has none");
    driver_reserve(d, driver_request("c", 128)); /* and when the answer waited */
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-c");
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_non_null(driver_answer(d)->detail);
}

/* Intent first: the record that says "may be there" is saved in the step that asks. F15: 23. */
UP(reserve__saves_the_intent_and_asks)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("f2Rs8sydSxmd", 128));
    const struct effect *save = driver_find(d, EFFECT_SAVE);
    assert_int_equal(save->u.record.u.reservation.fm_side, FM_SIDE_MAYBE);
    assert_int_equal(save->u.record.u.reservation.hwcoll, HWCOLL_WANTED);
    const struct effect *call = driver_find(d, EFFECT_CALL);
    assert_string_equal(call->u.call.about.name, "elcap-f2Rs8sydSxmd");
    assert_int_equal(call->u.call.about.addresses, 23);
    assert_null(driver_answer(d));

    driver_done(d, call->u.call.id, FM_OK, "sess-1");
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_RESERVED);
    assert_string_equal(secret_expose(driver_answer(d)->reservation->token), "sess-1");
    assert_int_equal(driver_events(d, EVENT_RESERVED), 1);
}

/* The same request again gets the same answer (I7), also while the first one waits. */
UP(reserve__is_idempotent)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_answer(d));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_done(d, call, FM_OK, "sess-1");
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 2);
    uint64_t number = driver_job(d, "a")->number;
    driver_reserve(d, driver_request("a", 128));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_int_equal(driver_answer(d)->reservation->number, number);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
}

UP(reserve__another_request_conflicts)
{
    struct driver *d = *state;
    struct reserve_request first = driver_request("a", 2);
    first.nodes = "n[1-2]";
    first.vni_count = 2;
    first.cores_per_node = 8;
    driver_reserve(d, first);
    enum { CASES = 8 };
    struct reserve_request other[CASES];
    static const char *const fields[CASES] = {
        "uid",       "nodes",  "nodes",           "cores_per_node",
        "vni_count", "hwcoll", "traffic_classes", "vni_count"};
    for (int i = 0; i < CASES; i++)
        other[i] = first;
    other[0].uid = 1;
    other[1].node_count = 3;
    other[2].nodes = "n[3-4]";
    other[3].cores_per_node = 9;
    other[4].vni_count = 1;
    other[5].wish = WISH_OFF;
    other[6].traffic_classes = TC_BULK_DATA;
    other[7].vni_count = 0;
    for (int i = 0; i < CASES; i++) {
        driver_reserve(d, other[i]);
        assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
        assert_string_equal(driver_answer(d)->field, fields[i]);
    }
}

UP(reserve__refuses_what_cannot_be)
{
    struct driver *d = *state;
    enum { CASES = 5 };
    struct reserve_request wrong[CASES];
    static const char *const fields[] = {"job", "node_count", "vni_count", "vni_count",
                                         "traffic_classes"};
    static const char *const words[] = {"a job id is", "at least one node", "0-4 VNIs", "0-4 VNIs",
                                        "an unknown traffic class"};
    for (int i = 0; i < CASES; i++)
        wrong[i] = driver_request(i == 0 ? "a b" : "a", i == 1 ? 0 : 2);
    wrong[2].vni_count = 5;
    wrong[3].vni_count = -2;
    wrong[4].traffic_classes = TC_ALL + 1;
    for (int i = 0; i < CASES; i++) {
        driver_reserve(d, wrong[i]);
        assert_int_equal(driver_count(d, EFFECT_ANSWER), 1);
        assert_int_equal(driver_answered(d), ANSWER_INVALID);
        assert_string_equal(driver_answer(d)->field, fields[i]);
        assert_non_null(strstr(driver_answer(d)->detail, words[i]));
        assert_null(driver_find(d, EFFECT_SAVE));
    }
    struct reserve_request q = driver_request("a", 2);
    q.cluster = "other";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_NO_CLUSTER);
}

/* F3: it would wait for two reports of that node. Nothing is drawn for it. */
UP(reserve__refuses_a_node_twice)
{
    struct driver *d = *state;
    static const struct {
        const char *nodes, *words;
    } cases[] = {
        {"n[1-3,2]", "nodes names n2 twice: name each node of the job once"},
        {"n[1-200000]-ib", "nodes names more than 65536 nodes by ranges within their names"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reserve_request q = driver_request("a", 4);
        q.nodes = cases[i].nodes;
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_INVALID);
        assert_string_equal(driver_answer(d)->field, "nodes");
        assert_non_null(strstr(driver_answer(d)->detail, cases[i].words));
        assert_null(driver_find(d, EFFECT_SAVE));
        assert_null(core_find(d->core, "elcap", "a"));
    }
    driver_reserve(d, driver_request("a", 4));
    assert_int_equal(driver_answer(d)->reservation->vnis[0], 1024);
}

/* F5, F21: who asks again after the timeout was lowered waits no longer than that. */
UP(reserve__repeated_waits_as_long_as_is_configured_now)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    d->config.reserve_timeout_ms = 500;
    driver_configure(d);
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_answer(d));
    driver_tick(d, 499);
    assert_null(driver_answer(d));
    driver_tick(d, 1);
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 2);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_TIMEOUT);
}

/* The longest names that there can be are asked for whole (sanitizers see the rest). */
FRESH(reserve__of_the_longest_names)
{
    struct driver *d = *state;
    char job[JOB_ID_MAX + 1], name[FM_NAME_MAX + 1];
    memset(d->config.clusters[0].name, 'c', CLUSTER_NAME_MAX);
    memset(job, 'j', JOB_ID_MAX);
    job[JOB_ID_MAX] = '\0';
    fm_name_format(name, d->config.clusters[0].name, job);
    assert_int_equal(strlen(name), FM_NAME_MAX);
    driver_up(d);
    struct reserve_request q = driver_request(job, 128);
    q.cluster = d->config.clusters[0].name;
    driver_reserve(d, q);
    (void)driver_call(d, FMCALL_RESERVE);
    assert_string_equal(driver_find(d, EFFECT_CALL)->u.call.about.name, name);
}

/* B4: who is denied is told which of the two budgets is spent, and by how much. */
UNIT(reserve__denied_tells_which_budget_is_spent)
{
    static const char *const words[] = {
        "23 of 30 multicast addresses are in use, 23 more are not",
        "cluster elcap has 23 of its 30 multicast addresses in use"};
    for (int own = 0; own < 2; own++) {
        struct driver d;
        driver_init(&d);
        d.config.addresses_per_job = 23;
        d.config.total_addresses = own ? 4086 : 30;
        d.config.clusters[0].budget = own ? 30 : 0;
        driver_up(&d);
        driver_reserved_job(&d, "a");
        driver_reserve(&d, driver_request("b", 128));
        assert_int_equal(driver_answered(&d), ANSWER_CREATED);
        assert_int_equal(driver_job(&d, "b")->hwcoll, HWCOLL_DENIED);
        assert_non_null(strstr(driver_job(&d, "b")->reason, words[own]));
        driver_end(&d);
    }
}

/* F21: given up in time; a late success is a leak in the making and is released. */
UP(reserve__late_success_is_released)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    assert_int_equal(core_next_deadline(d->core), d->now + d->config.reserve_timeout_ms);
    driver_tick(d, d->config.reserve_timeout_ms);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_TIMEOUT);
    assert_int_equal(driver_events(d, EVENT_TIMEOUT), 1);
    assert_null(driver_find(d, EFFECT_CALL)); /* one call a reservation */
    d->now += 100;
    driver_done(d, call, FM_OK, "sess-late");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
}

/* A RESERVE that never was answered may be acted on later still: the RELEASE that counts is one
 * sent after that. */
UP(reserve__unanswered_is_released_until_it_cannot_come_back)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_tick(d, d->config.reserve_timeout_ms);
    d->now += 8000;
    driver_done(d, call, FM_TIMEOUT, NULL);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_GONE, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_MAYBE);
    driver_tick(d, d->config.call_timeout_ms);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
}

/* A no to the second try says nothing of the first, which may have been acted on late (I3). */
UP(reserve__no_to_a_retry_does_not_settle_the_first_try)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(d, 250);
    uint64_t second = driver_call(d, FMCALL_RESERVE);
    driver_tick(d, d->config.reserve_timeout_ms);
    driver_tick(d, d->config.call_timeout_ms); /* the first has settled by now */
    driver_done(d, second, FM_DENIED, NULL);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
}

/* Reserved at the second try: looked at by name once, when the first cannot be acted on any more.
 */
UP(reserve__second_try_is_checked_when_the_first_has_settled)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-2");
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, d->config.call_timeout_ms - 250);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-1");
    assert_int_equal(driver_events(d, EVENT_LOST), 0); /* said once */
    driver_tick(d, d->config.stray_grace_ms);
    driver_list(d, (const char *const[]){"elcap-a"}, 1, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-1");
    assert_int_equal(driver_events(d, EVENT_LOST), 1);
    assert_null(driver_find(d, EFFECT_CALL)); /* I11: its job may use what is there */
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
    driver_release(d, "a");
    (void)driver_call(d, FMCALL_RELEASE); /* it is the first try's: ours */
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
}

UP(reserve__denied_keeps_the_managers_words)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_DENIED, NULL);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_DENIED);
    assert_string_equal(driver_answer(d)->reservation->reason, "the fabric manager's words");
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
}

/* Who gets none because of the job's size is told so. */
UP(reserve__ineligible_tells_why)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 63));
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_INELIGIBLE);
    assert_string_equal(driver_answer(d)->reservation->reason,
                        "the job has 63 nodes, hardware collectives need at least 64");
    driver_reserve(d, driver_request("b", 64));
    (void)driver_call(d, FMCALL_RESERVE);
}

static uint32_t saved_round(const struct driver *d)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_SAVE && effects[i].u.record.kind == RECORD_FACTS)
            return effects[i].u.record.u.facts.next_vni;
    }
    return 0;
}

/* None but `required` fails for want of addresses. */
UP(reserve__required_fails_and_gives_everything_back)
{
    struct driver *d = *state;
    struct reserve_request q = driver_request("a", 128);
    q.wish = WISH_REQUIRED;
    driver_reserve(d, q);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_DENIED, NULL);
    assert_int_equal(driver_answered(d), ANSWER_NO_HWCOLL);
    assert_int_equal(saved_round(d), 1025); /* where VNIs are given out next, after a restart too */
    assert_int_equal(driver_status(d).use.jobs_active, 0);
    assert_int_equal(driver_held(d), 0); /* no client was told of them */
    assert_int_equal(driver_status(d).vnis_live, 0);
    assert_int_equal(driver_status(d).use.addresses, 0);
    q.node_count = 2; /* too small: no use in asking again */
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "hwcoll");
}

/* Something sits under the name already: it is deleted only when it can be an earlier try's. */
UP(reserve__name_in_use_is_cleared_first)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_EXISTS, NULL);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* B11: with no earlier try open it is another broker's. */
UP(reserve__name_of_another_is_left_alone)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_EXISTS, NULL);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_DENIED);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
    assert_int_equal(driver_events(d, EVENT_ALARM), 1);
    const struct event_record *alarm = core_event_at(d->core, core_last_seq(d->core) - 1);
    assert_int_equal(alarm->kind, EVENT_ALARM); /* F24: of which cluster, and of no job */
    assert_string_equal(alarm->cluster, "elcap");
    assert_null(alarm->job);
    driver_release(d, "a");
    for (int i = 0; i < 4; i++) { /* it stays there, and so does the alarm */
        assert_null(driver_find(d, EFFECT_CALL));
        driver_tick(d, d->config.relist_ms);
        driver_list(d, (const char *const[]){"elcap-a"}, 1, FM_OK);
        assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
        if (driver_find(d, EFFECT_CALL)) /* taken in, and looked at since */
            driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "theirs");
    }
    for (int i = 0; i < 3; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, NULL, 0, FM_OK);
        if (driver_find(d, EFFECT_CALL))
            driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    }
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* B11: an administrator can claim only what a list names, so one is read, also where none is else.
 */
FRESH(reserve__name_of_another_is_listed)
{
    struct driver *d = *state;
    d->config.relist_ms = 0;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_EXISTS, NULL);
    driver_tick(d, d->config.stray_grace_ms);
    assert_non_null(driver_find(d, EFFECT_LIST));
}

/* I6: each would reach the trees of the other. */
UP(reserve__token_of_another_job_is_unusable)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_reserve(d, driver_request("b", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-a");
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_DENIED);
    assert_true(secret_none(driver_job(d, "b")->token));
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    driver_release(d, "a"); /* then the token is free */
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    driver_reserve(d, driver_request("c", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-a");
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_RESERVED);
}

static void ask_launch(struct driver *d)
{
    DRIVER_ASK(d, CORE_LAUNCH, launch, .cluster = "elcap", .job = "r");
}

/* I1, F4: a document names VNIs, as an answer does, and one that is made meanwhile has no token. */
UP(reserve__keeps_documents_waiting)
{
    struct driver *d = *state;
    struct reserve_request q = driver_request("r", 128);
    q.nodes = "n[1-128]";
    q.wish = WISH_REQUIRED;
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    for (int granted = 0; granted <= 1; granted++) {
        driver_reserve(d, q);
        uint64_t call = driver_call(d, FMCALL_RESERVE);
        ask_launch(d);
        assert_null(driver_find(d, EFFECT_ANSWER));
        driver_done(d, call, granted ? FM_OK : FM_DENIED, granted ? "sess-r" : NULL);
        assert_int_equal(driver_count(d, EFFECT_ANSWER), 2);
        assert_int_equal(driver_answer(d)->kind, granted ? ANSWER_CREATED : ANSWER_NO_HWCOLL);
    }
    assert_true(driver_job(d, "r")->launched);
}

/* F3, F4: when refused as required, its VNIs were told to nobody: the pool does not run dry. */
FRESH(reserve__refusals_do_not_empty_the_pool)
{
    struct driver *d = *state;
    memset(&d->config.vni_pool, 0, sizeof d->config.vni_pool);
    assert_int_equal(idset_parse(&d->config.vni_pool, "2000-2001", NULL), 0);
    driver_up(d);
    for (int i = 0; i < 5; i++) {
        char job[2] = {(char)('a' + i), '\0'};
        struct reserve_request q = driver_request(job, 128);
        q.wish = WISH_REQUIRED;
        driver_reserve(d, q);
        driver_done(d, driver_call(d, FMCALL_RESERVE), FM_DENIED, NULL);
        assert_int_equal(driver_answered(d), ANSWER_NO_HWCOLL);
    }
}

/* B4, I8: nobody asks for more than the budget. */
FRESH(reserve__stays_within_the_budget)
{
    struct driver *d = *state;
    d->config.clusters[0].budget = 50;
    driver_up(d);
    driver_reserved_job(d, "a");
    driver_reserved_job(d, "b");
    driver_reserve(d, driver_request("c", 128));
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_DENIED);
    assert_non_null(strstr(driver_answer(d)->reservation->reason, "46 of its 50"));
    driver_release(d, "a");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    driver_reserved_job(d, "e");
}

/* Large jobs back to back: the next one waits a moment for what the last one is giving back. */
FRESH(reserve__waits_for_room_that_is_being_made)
{
    struct driver *d = *state;
    d->config.clusters[0].budget = 23;
    driver_up(d);
    driver_reserved_job(d, "a");
    driver_reserve(d, driver_request("b", 128)); /* no job is releasing: waiting is useless */
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_DENIED);
    driver_release(d, "a");
    uint64_t release = driver_call(d, FMCALL_RELEASE);
    driver_reserve(d, driver_request("c", 128));
    assert_null(driver_answer(d));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_done(d, release, FM_OK, NULL);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-c");
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_RESERVED);

    driver_release(d, "c");
    driver_reserve(d, driver_request("e", 128));
    driver_tick(d, d->config.reserve_timeout_ms);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_DENIED);
    assert_non_null(strstr(driver_answer(d)->reservation->reason, "23 of its 23"));
}

/* Every error with the fabric manager's own words. */
UP(reserve__timeout_tells_the_managers_last_words)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    for (int i = 0; i < 7; i++) {
        driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
        driver_tick(d, 250);
    }
    driver_tick(d, 250);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_TIMEOUT);
    assert_non_null(strstr(driver_answer(d)->reservation->reason, "the fabric manager's words"));
}

/* A VNI that was seen while its reserve waited, and was then released, is quarantined like any. */
UP(reserve__released_while_waiting_holds_its_vni)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
}

/* An unanswered RELEASE of what was in the way: the name rests before it is reserved (I4). */
FRESH(reserve__clears_the_name_only_when_no_release_is_open)
{
    struct driver *d = *state;
    d->config.reserve_timeout_ms = 60000;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_EXISTS, NULL);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_BUSY, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE); /* and so it is after a crash */
    driver_tick(d, d->config.call_timeout_ms);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_GONE, NULL);
    (void)driver_call(d, FMCALL_RESERVE);
}

/* B11: of a job that is over meanwhile, too, nothing is there that is ours. */
UP(reserve__name_of_another_after_a_release)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_release(d, "a");
    driver_done(d, call, FM_EXISTS, NULL);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* F21: a fabric manager that hangs costs the first job its time, and the next ones none; one that
 * answers anything is waited for again. */
FRESH(reserve__waits_once_for_a_manager_that_hangs)
{
    struct driver *d = *state;
    d->config.reserve_timeout_ms = 2000;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    (void)driver_call(d, FMCALL_RESERVE);
    driver_tick(d, 2000);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_TIMEOUT);
    driver_tick(d, 0);
    assert_non_null(driver_find(d, EFFECT_LIST)); /* one that is well answers this */
    const uint64_t list = driver_find(d, EFFECT_LIST)->u.list.id;
    driver_reserve(d, driver_request("b", 128));
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_UNAVAILABLE);
    assert_string_equal(driver_job(d, "b")->reason, "the fabric manager does not answer");
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_OK);
    driver_reserve(d, driver_request("c", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_TIMEOUT, NULL); /* cut off before */
    driver_tick(d, 2000);
    driver_reserve(d, driver_request("d", 128));
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_UNAVAILABLE);
}

/* F21: one that refuses in time answers, though the next try is under way when the job is given up:
 * the next job waits for it. */
FRESH(reserve__waits_for_a_manager_that_refuses)
{
    struct driver *d = *state;
    d->config.reserve_timeout_ms = 2000;
    driver_up(d);
    driver_tick(d, 500);
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_tick(d, 10);
    driver_done(d, call, FM_BUSY, NULL);
    driver_tick(d, 1700);
    (void)driver_call(d, FMCALL_RESERVE); /* the next try */
    driver_tick(d, 290);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_TIMEOUT);
    driver_tick(d, 0);
    assert_null(driver_find(d, EFFECT_LIST));
    driver_reserve(d, driver_request("b", 128));
    assert_null(driver_answer(d));
    assert_int_equal(driver_job(d, "b")->hwcoll, HWCOLL_WANTED);
}

/* I7: who asks again while the first waits is told the same, and that it is the same. */
UP(reserve__asked_again_while_it_waits)
{
    struct driver *d = *state;
    size_t count;
    enum answer_kind kinds[2];
    int found = 0;
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_answer(d));
    driver_done(d, call, FM_OK, "sess-a");
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count && found < 2; i++) {
        if (effects[i].kind == EFFECT_ANSWER)
            kinds[found++] = effects[i].u.answer.kind;
    }
    assert_int_equal(found, 2);
    assert_int_equal(kinds[0], ANSWER_CREATED);
    assert_int_equal(kinds[1], ANSWER_SAME);
}

/* The words of what broke are the job's own; others are told the cause only, as words may name it.
 */
UP(reserve__unreached_tells_why)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_UNREACHED, NULL);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_UNAVAILABLE);
    assert_string_equal(driver_job(d, "a")->reason, "the fabric manager's words");
    driver_reserve(d, driver_request("b", 128));
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_UNAVAILABLE);
    assert_string_equal(driver_job(d, "b")->reason, "the link to the fabric manager is down: it "
                                                    "cannot be reached");
}

UNIT_RUN(NULL, NULL)
