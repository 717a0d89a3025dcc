/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* F3: a VNI is quarantined until every node has said that nothing of the job is left there. */

/* order 0: it is not told. */
static enum answer_kind report_in_order(struct driver *d, const char *job, uint64_t number,
                                        const char *node, enum node_state state, uint64_t order)
{
    const char *services = state == NODE_DESTROYED ? NULL : "cxi0:12,cxi1:7";
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = job, .number = number,
               .node = node, .state = state, .services = services, .order = order);
    return driver_answered(d);
}

static enum answer_kind report(struct driver *d, const char *job, uint64_t number, const char *node,
                               enum node_state state)
{
    return report_in_order(d, job, number, node, state, 0);
}

static uint32_t fence(struct driver *d, const char *node)
{
    DRIVER_ASK(d, CORE_FENCE, fence, node, "power supply");
    assert_int_equal(driver_answered(d), ANSWER_FENCED);
    return driver_answer(d)->count;
}

/* A running job of n1-n3; small, so that no fabric manager is in the way. */
static void start(struct driver *d)
{
    driver_init(d);
    driver_up(d);
    struct reserve_request request = driver_request("a", 3);
    request.nodes = "n[1-3]";
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}
DRIVER_FIXTURE(start_driver, start)

WITH(start_driver, report__frees_vnis_when_all_are_clean)
{
    struct driver *d = *state;
    for (int i = 1; i <= 3; i++)
        assert_int_equal(report(d, "a", 1,
                                i == 1   ? "n1"
                                : i == 2 ? "n2"
                                         : "n3",
                                NODE_CREATED),
                         ANSWER_REPORTED);
    assert_int_equal(report(d, "a", 1, "n1", NODE_DESTROYED), ANSWER_REPORTED);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);

    struct core_waiting waiting;
    core_waiting(driver_job(d, "a"), &waiting);
    assert_int_equal(waiting.count, 2);
    assert_int_equal(waiting.unheard, 0);
    assert_int_equal(waiting.named, 2);

    assert_int_equal(report(d, "a", 1, "n2", NODE_DESTROYED), ANSWER_REPORTED);
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(report(d, "a", 1, "n3", NODE_DESTROYED), ANSWER_REPORTED);
    assert_int_equal(driver_held(d), 0);
    assert_null(driver_job(d, "a"));
    assert_int_equal(report(d, "a", 1, "n3", NODE_DESTROYED), ANSWER_NOT_FOUND);
}

static void reserve_of(struct driver *d, const char *nodes, uint32_t count)
{
    driver_init(d);
    driver_up(d);
    struct reserve_request request = driver_request("a", count);
    request.nodes = nodes;
    request.wish = WISH_OFF;
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* Whoever fences must know whom: who lingers comes first, by name, and who said nothing is named,
 * too, unless the job did not name its nodes. */
UNIT(waiting__tells_whom_to_fence)
{
    struct driver d;
    struct core_waiting waiting;
    struct nodefold silent;
    reserve_of(&d, "n[1-128]", 128);
    core_silent_nodes(driver_job(&d, "a"), &silent);
    assert_string_equal(silent.text, ""); /* nothing is waited for */
    (void)report(&d, "a", 1, "n2", NODE_CREATED);
    (void)report(&d, "a", 1, "n10", NODE_CREATED);
    driver_release(&d, "a");
    (void)report(&d, "a", 1, "n20", NODE_LINGERING);
    (void)report(&d, "a", 1, "n3", NODE_LINGERING);
    (void)report(&d, "a", 1, "n50", NODE_DESTROYED);
    (void)fence(&d, "n60");
    core_waiting(driver_job(&d, "a"), &waiting);
    assert_int_equal(waiting.count, 126);
    assert_int_equal(waiting.unheard, 122);
    assert_int_equal(waiting.lingering, 2);
    assert_int_equal(waiting.created, 2);
    assert_int_equal(waiting.named, 4);
    assert_int_equal(waiting.named_lingering, 2);
    static const char *const names[] = {"n3", "n20", "n2", "n10"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(waiting.names[i], names[i]);
        assert_string_equal(waiting.services[i], "cxi0:12,cxi1:7");
    }
    core_silent_nodes(driver_job(&d, "a"), &silent);
    assert_string_equal(silent.text, "n[1,4-9,11-19,21-49,51-59,61-128]");
    assert_int_equal(silent.count, waiting.unheard);
    assert_int_equal(silent.left_out, 0);
    driver_end(&d);

    reserve_of(&d, "n[1-3]", 3); /* none has spoken */
    driver_release(&d, "a");
    core_silent_nodes(driver_job(&d, "a"), &silent);
    assert_string_equal(silent.text, "n[1-3]");
    driver_end(&d);

    reserve_of(&d, NULL, 3);
    driver_release(&d, "a");
    core_waiting(driver_job(&d, "a"), &waiting);
    assert_int_equal(waiting.unheard, 3);
    core_silent_nodes(driver_job(&d, "a"), &silent);
    assert_string_equal(silent.text, "");
    driver_end(&d);
}

/* Of each kind the first twenty by name, whatever came first. */
UNIT(waiting__names_the_first)
{
    struct driver d;
    struct core_waiting waiting;
    char node[16];
    reserve_of(&d, "n[1-60]", 60);
    driver_release(&d, "a");
    for (int i = 0; i < 60; i++) {
        snprintf(node, sizeof node, "n%d", i * 7 % 60 + 1);
        (void)report(&d, "a", 1, node, i * 7 % 60 < 30 ? NODE_LINGERING : NODE_CREATED);
    }
    core_waiting(driver_job(&d, "a"), &waiting);
    assert_int_equal(waiting.lingering, 30);
    assert_int_equal(waiting.created, 30);
    assert_int_equal(waiting.named, 2 * WAITING_EACH_MAX);
    assert_int_equal(waiting.named_lingering, WAITING_EACH_MAX);
    for (int i = 0; i < WAITING_EACH_MAX; i++) {
        snprintf(node, sizeof node, "n%d", i + 1);
        assert_string_equal(waiting.names[i], node);
        snprintf(node, sizeof node, "n%d", i + 31);
        assert_string_equal(waiting.names[WAITING_EACH_MAX + i], node);
    }
    driver_end(&d);
}

/* What has said nothing may have services that it could not tell of. */
WITH(start_driver, report__silence_is_not_clean)
{
    struct driver *d = *state;
    (void)report(d, "a", 1, "n1", NODE_CREATED);
    driver_release(d, "a");
    (void)report(d, "a", 1, "n1", NODE_DESTROYED);
    assert_int_equal(driver_held(d), 1);
    driver_tick(d, d->config.vni_hold_ms - 1);
    assert_int_equal(driver_held(d), 1);
    driver_tick(d, 1); /* told, and counted */
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_find(d, EFFECT_TRACE)->u.trace.level, 4);
    assert_non_null(strstr(driver_find(d, EFFECT_TRACE)->u.trace.text, "2 of its 3 nodes"));
    assert_int_equal(driver_status(d).vnis_unconfirmed, 1);
}

/* F3: where services will not go a process can still use the VNIs, however long that takes. */
UNIT(report__lingering_outlasts_the_hold)
{
    for (int fenced = 0; fenced < 2; fenced++) {
        struct driver d;
        start(&d);
        (void)report(&d, "a", 1, "n1", NODE_LINGERING);
        driver_release(&d, "a");
        (void)report(&d, "a", 1, "n2", NODE_DESTROYED);
        driver_tick(&d, d.config.vni_hold_ms);
        assert_int_equal(driver_held(&d), 1);
        assert_int_equal(driver_find(&d, EFFECT_TRACE)->u.trace.level, 4);
        assert_non_null(strstr(driver_find(&d, EFFECT_TRACE)->u.trace.text, "n1 has CXI services"));
        assert_int_equal(driver_status(&d).vnis_overdue, 1);
        assert_int_equal(core_next_deadline(d.core), INT64_MAX); /* time is not waited for */
        driver_tick(&d, 10 * d.config.vni_hold_ms);
        assert_int_equal(driver_held(&d), 1);
        assert_null(driver_find(&d, EFFECT_TRACE)); /* told once */
        if (fenced)
            DRIVER_ASK(&d, CORE_FENCE, fence, .node = "n1");
        else
            (void)report(&d, "a", 1, "n1", NODE_DESTROYED);
        assert_int_equal(driver_held(&d), 0); /* n3 has been silent long enough */
        assert_int_equal(driver_status(&d).vnis_overdue, 0);
        assert_int_equal(driver_status(&d).vnis_unconfirmed, 1);
        driver_end(&d);
    }
}

/* Released last: nothing is quarantined at all. */
WITH(start_driver, report__all_clean_before_the_release)
{
    struct driver *d = *state;
    (void)report(d, "a", 1, "n1", NODE_DESTROYED);
    (void)report(d, "a", 1, "n2", NODE_DESTROYED);
    (void)report(d, "a", 1, "n3", NODE_DESTROYED);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    assert_int_equal(driver_held(d), 0);
}

/* Granted once more, perhaps to a job that started anew before its release came: whose epilog a
 * node then speaks of cannot be told, so only time counts. */
WITH(start_driver, report__of_what_was_granted_twice)
{
    struct driver *d = *state;
    struct reserve_request request = driver_request("a", 3);
    request.nodes = "n[1-3]";
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0); /* a mere repeat costs no commit */
    (void)report(d, "a", 1, "n1", NODE_DESTROYED);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 2);
    driver_reserve(d, request);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    (void)report(d, "a", 1, "n2", NODE_DESTROYED);
    (void)report(d, "a", 1, "n3", NODE_DESTROYED);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
    driver_tick(d, d->config.vni_hold_ms);
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_count(d, EFFECT_TRACE), 0); /* each node has said what there was */
}

/* A former life's word says nothing of the next one. */
WITH(start_driver, report__is_about_one_life)
{
    struct driver *d = *state;
    driver_release(d, "a");
    struct reserve_request request = driver_request("a", 1);
    request.nodes = "n1";
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(report(d, "a", 1, "n1", NODE_DESTROYED), ANSWER_REPORTED);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 2);
    assert_int_equal(report(d, "a", 2, "n1", NODE_DESTROYED), ANSWER_REPORTED);
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(report(d, "a", 9, "n1", NODE_DESTROYED), ANSWER_NOT_FOUND);
}

WITH(start_driver, report__refuses_other_nodes)
{
    struct driver *d = *state;
    assert_int_equal(report(d, "a", 1, "n4", NODE_DESTROYED), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "node");
    driver_reserve(d, driver_request("b", 1)); /* did not say which node: one may report */
    assert_int_equal(report(d, "b", 2, "x", NODE_CREATED), ANSWER_REPORTED);
    assert_int_equal(report(d, "b", 2, "y", NODE_CREATED), ANSWER_INVALID);
    assert_int_equal(report(d, "b", 2, "x", NODE_DESTROYED), ANSWER_REPORTED);
    assert_int_equal(report(d, "c", 1, "n1", NODE_CREATED), ANSWER_NOT_FOUND);
}

/* Its VNIs may be another job's by now. */
UP(report__too_late_to_have_made_services)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a"); /* with addresses: its record outlives the hold */
    d->config.fm_present = true;
    driver_release(d, "a");
    assert_int_equal(report(d, "a", 1, "n1", NODE_CREATED),
                     ANSWER_REPORTED); /* still quarantined */
    (void)report(d, "a", 1, "n1", NODE_DESTROYED);
    driver_tick(d, d->config.vni_hold_ms);
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(report(d, "a", 1, "n2", NODE_CREATED), ANSWER_GIVEN_BACK);
    assert_int_equal(report(d, "a", 1, "n1", NODE_DESTROYED), ANSWER_REPORTED);
}

/* F3, I1: a node that has said "created" is not overtaken by time: it may be cut off, with its
 * services alive. */
WITH(start_driver, report__created_outlasts_the_hold)
{
    struct driver *d = *state;
    (void)report_in_order(d, "a", 1, "n1", NODE_CREATED, 5);
    driver_release(d, "a");
    driver_tick(d, 10 * d->config.vni_hold_ms);
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(driver_status(d).vnis_overdue, 1);
    (void)report_in_order(d, "a", 1, "n1", NODE_LINGERING, 6); /* back, and known */
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
    assert_int_equal(driver_held(d), 1);
    (void)report_in_order(d, "a", 1, "n1", NODE_DESTROYED, 7);
    assert_int_equal(driver_held(d), 0);
}

static void boot_in(struct driver *d, const char *node, uint64_t order, const char *const *clusters)
{
    DRIVER_ASK(d, CORE_NODE_BOOT, boot, .node = node, .order = order, .clusters = clusters);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
}

static void boot(struct driver *d, const char *node, uint64_t order)
{
    boot_in(d, node, order, NULL);
}

/* F3: in two clusters nodes can have the same name. */
WITH(start_driver, report__boot_ends_nothing_of_another_clusters_node)
{
    struct driver *d = *state;
    static const char *const none[] = {NULL}, *const other[] = {"tuolumne", NULL},
                             *const both[] = {"tuolumne", "elcap", NULL};
    for (unsigned i = 0; i < 3; i++)
        (void)report_in_order(d, "a", 1, ((const char *[]){"n1", "n2", "n3"})[i],
                              i == 0 ? NODE_LINGERING : NODE_DESTROYED, 5);
    driver_release(d, "a");
    boot_in(d, "n1", 8, none);
    boot_in(d, "n1", 8, other);
    assert_int_equal(driver_answer(d)->count, 0);
    assert_int_equal(driver_held(d), 1);
    boot_in(d, "n1", 8, both);
    assert_int_equal(driver_answer(d)->count, 1);
    assert_int_equal(driver_held(d), 0);
}

/* F3: no service outlives a boot. What was said after it counts, whatever arrives first. */
WITH(start_driver, report__boot_ends_what_was_said_before)
{
    struct driver *d = *state;
    (void)report_in_order(d, "a", 1, "n1", NODE_CREATED, 5);
    (void)report_in_order(d, "a", 1, "n2", NODE_LINGERING, 5);
    (void)report_in_order(d, "a", 1, "n3", NODE_CREATED, 9);
    driver_release(d, "a");
    boot(d, "n1", 8);
    assert_int_equal(driver_answer(d)->count, 1);
    boot(d, "n2", 8);
    boot(d, "n3", 8); /* it has made services since */
    assert_int_equal(driver_answer(d)->count, 0);
    boot(d, "n4", 8);
    driver_tick(d, d->config.vni_hold_ms);
    assert_int_equal(driver_held(d), 1);
    (void)report_in_order(d, "a", 1, "n1", NODE_CREATED, 5); /* late: from before the boot */
    assert_int_equal(driver_held(d), 1);
    boot(d, "n3", 10);
    assert_int_equal(driver_held(d), 0);
}

/* ---- a boot that tells when it was (F3, I1) ---- */

enum { SLACK_MS = 300 * 1000 };

/* How many reservations do not wait for the node any more. clock: of the node, as far as it is
 * ahead; delay: of the report. */
static uint32_t boot_at(struct driver *d, const char *node, int64_t booted_ms, int64_t clock,
                        int64_t delay)
{
    static const char *const clusters[] = {"elcap", NULL};
    DRIVER_ASK(d, CORE_NODE_BOOT, boot, .node = node, .order = 8, .clusters = clusters,
               .uptime_ms = d->now - booted_ms - delay, .booted_ms = booted_ms + clock);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
    return driver_answer(d)->count;
}

/* Job a is released, and an hour later only the nodes' words end its quarantine. */
static int64_t release_and_wait(struct driver *d)
{
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    const int64_t released = d->now;
    driver_release(d, "a");
    driver_tick(d, 12 * SLACK_MS);
    return released;
}

/* A node whose spool was lost has nothing to say of it. */
WITH(start_driver, boot__ends_silence_about_what_was_over)
{
    struct driver *d = *state;
    const int64_t released = release_and_wait(d);
    assert_int_equal(boot_at(d, "n1", released - 1, 0, 0), 0); /* it was active then */
    assert_int_equal(boot_at(d, "n1", released + SLACK_MS, 0, 0), 0);
    assert_int_equal(boot_at(d, "n1", released + SLACK_MS + 1, 0, 0), 1);
    assert_int_equal(boot_at(d, "n1", released + SLACK_MS + 1, 0, 0), 0); /* once more: no news */
    (void)report_in_order(d, "a", 1, "n2", NODE_DESTROYED, 1);
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(boot_at(d, "n3", d->now, 0, 0), 1);
    assert_int_equal(driver_held(d), 0);
}

/* Of two times the earlier one counts: either may be wrong. */
WITH(start_driver, boot__at_an_uncertain_time_ends_nothing)
{
    struct driver *d = *state;
    const int64_t released = release_and_wait(d), active = released - 1;
    assert_int_equal(boot_at(d, "n1", active, 2 * SLACK_MS, 0), 0); /* a clock that is ahead */
    assert_int_equal(boot_at(d, "n1", active, 0, 2 * SLACK_MS), 0); /* a report that comes late */
    assert_int_equal(boot_at(d, "n1", d->now, -d->now, 0), 0);      /* a clock that was not set */
    assert_int_equal(boot_at(d, "n1", d->now, -10 * SLACK_MS, 0), 1);
    boot(d, "n2", 8); /* no time is told */
    assert_int_equal(driver_answer(d)->count, 0);
    assert_int_equal(driver_held(d), 1);
}

/* What is active may have services that were made since the boot, and be silent about them. */
WITH(start_driver, boot__ends_nothing_of_what_is_active)
{
    struct driver *d = *state;
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    driver_tick(d, 12 * SLACK_MS);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(boot_at(d, i == 1 ? "n1" : i == 2 ? "n2" : "n3", d->now, 0, 0), 0);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
}

WITH(start_driver, boot__ends_what_names_the_node_only)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("b", 2)); /* a number of nodes, no list */
    struct reserve_request request = driver_request("c", 2);
    request.cluster = "elcap2"; /* whose n1 is another machine */
    request.nodes = "n[1-2]";
    driver_reserve(d, request);
    driver_release(d, "b");
    DRIVER_STEP(d, CORE_RELEASE, release, .cluster = "elcap2", .job = "c");
    (void)report_in_order(d, "a", 1, "n2", NODE_CREATED, 9); /* since the boot, by its order */
    (void)release_and_wait(d);
    assert_int_equal(boot_at(d, "n4", d->now, 0, 0), 0);
    assert_int_equal(boot_at(d, "n2", d->now, 0, 0), 0);
    assert_int_equal(boot_at(d, "n1", d->now, 0, 0), 1);
    /* And that is no last word: what the node says since is believed. */
    (void)report_in_order(d, "a", 1, "n2", NODE_DESTROYED, 10);
    (void)report_in_order(d, "a", 1, "n1", NODE_CREATED, 9);
    (void)report_in_order(d, "a", 1, "n3", NODE_DESTROYED, 9);
    assert_non_null(driver_job(d, "a"));
    (void)report_in_order(d, "a", 1, "n1", NODE_DESTROYED, 10);
    assert_null(driver_job(d, "a"));
}

/* Without VNIs nothing waits for nodes: it is the fabric manager that is waited for. */
WITH(start_driver, boot__ends_nothing_of_what_has_no_vnis)
{
    struct driver *d = *state;
    struct reserve_request request = driver_request("b", 128);
    request.nodes = "n[1-128]";
    request.vni_count = 0;
    driver_reserve(d, request);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-b");
    driver_release(d, "b");
    driver_tick(d, 12 * SLACK_MS);
    assert_int_equal(driver_job(d, "b")->state, JOB_RELEASING);
    assert_int_equal(boot_at(d, "n1", d->now, 0, 0), 0);
    assert_int_equal(fence(d, "n1"), 0);
    assert_int_equal(report(d, "b", 2, "n1", NODE_CREATED),
                     ANSWER_REPORTED); /* it asked for none */
}

/* [vni] hold = reports: silence is waited for, too. */
WITH(start_driver, report__silence_is_waited_for_unless_the_site_says_how_long)
{
    struct driver *d = *state;
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    driver_release(d, "a");
    driver_tick(d, INT64_C(365) * 24 * 3600 * 1000);
    assert_int_equal(driver_held(d), 1);
    for (int i = 1; i <= 3; i++)
        (void)report(d, "a", 1, i == 1 ? "n1" : i == 2 ? "n2" : "n3", NODE_DESTROYED);
    assert_int_equal(driver_held(d), 0);
}

/* I1: nodes with a launch document make services without a report. So they are waited for also when
 * [vni] hold is a time by the job's end; other jobs' are not. */
WITH(start_driver, report__nodes_with_a_launch_document_are_waited_for_by_any_hold)
{
    struct driver *d = *state;
    struct reserve_request request = driver_request("b", 2);
    request.nodes = "n[4-5]";
    request.launch = true;
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    driver_reserve(d, request);
    DRIVER_ASK(d, CORE_LAUNCH, launch, .cluster = "elcap", .job = "a");
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_int_equal(driver_find(d, EFFECT_SAVE)->u.record.u.reservation.launched, 1);
    driver_reserve(d, driver_request("c", 2));
    driver_set_hold(d, 1000);
    driver_release(d, "a");
    assert_int_equal(driver_job(d, "a")->hold_until_ms, 0); /* not known */
    driver_release(d, "b");
    driver_release(d, "c");
    assert_int_equal(driver_held(d), 3);
    driver_tick(d, INT64_C(365) * 24 * 3600 * 1000);
    assert_int_equal(driver_held(d), 2);
    (void)report(d, "b", 2, "n4", NODE_DESTROYED);
    assert_int_equal(fence(d, "n5"), 1);
    assert_int_equal(driver_held(d), 1);
}

/* Where the request for a document finds no job, or one that has none, nothing is saved. */
WITH(start_driver, report__no_launch_document_leaves_no_trace)
{
    struct driver *d = *state;
    struct core_event launch = {.kind = CORE_LAUNCH, .u.launch = {.cluster = "elcap", .job = "a"}};
    driver_step(d, launch); /* [vni] hold is a time */
    assert_null(driver_find(d, EFFECT_SAVE));
    launch.u.launch.job = "unknown";
    driver_step(d, launch);
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    launch.u.launch.job = "a";
    (void)report(d, "a", 1, "n1", NODE_CREATED);
    driver_step(d, launch); /* an earlier start's */
    assert_null(driver_find(d, EFFECT_SAVE));
    assert_false(driver_job(d, "a")->launched);
}

/* Nor is less waited for because it was granted twice: only when all have spoken time counts. */
WITH(start_driver, report__granted_twice_and_silent_is_waited_for)
{
    struct driver *d = *state;
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    struct reserve_request request = driver_request("a", 3);
    request.nodes = "n[1-3]";
    driver_reserve(d, request);
    (void)report(d, "a", 1, "n1", NODE_DESTROYED);
    driver_release(d, "a");
    assert_int_equal(driver_job(d, "a")->hold_until_ms, 0); /* not known */
    driver_tick(d, INT64_C(365) * 24 * 3600 * 1000);
    assert_int_equal(driver_held(d), 1);
    (void)report(d, "a", 1, "n2", NODE_DESTROYED);
    assert_int_equal(driver_held(d), 1);
    (void)report(d, "a", 1, "n3", NODE_DESTROYED);
    assert_int_equal(driver_held(d), 0);
}

/* F3: a hold that ends by time without any report is counted as well. */
WITH(start_driver, report__hold_without_any_report_is_counted)
{
    struct driver *d = *state;
    driver_release(d, "a");
    driver_tick(d, d->config.vni_hold_ms);
    assert_int_equal(driver_held(d), 0);
    assert_non_null(strstr(driver_find(d, EFFECT_TRACE)->u.trace.text, "3 of its 3 nodes"));
    assert_int_equal(driver_status(d).vnis_unconfirmed, 1);
}

/* A lower [vni] hold applies to what is quarantined already; one that is higher, too. */
WITH(start_driver, report__reload_of_hold_applies_to_what_is_held)
{
    struct driver *d = *state;
    int64_t hold = d->config.vni_hold_ms;
    driver_release(d, "a");
    driver_tick(d, 5000);
    driver_set_hold(d, 2 * hold);
    assert_int_equal(driver_status(d).vnis_overdue,
                     0); /* it was not, so nothing is taken off the count */
    driver_tick(d, hold);
    assert_int_equal(driver_held(d), 1);
    driver_set_hold(d, hold);
    assert_int_equal(driver_held(d), 0);
}

static enum answer_kind report_vnis_in_order(struct driver *d, const char *job, uint64_t number,
                                             enum node_state node_state, uint16_t vni,
                                             uint64_t order)
{
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = job, .number = number,
               .node = "n1", .state = node_state, .services = "cxi0:12", .order = order,
               .vnis = ((const uint16_t[]){vni, vni}), .vni_count = 2); /* twice is once */
    return driver_answered(d);
}

static enum answer_kind report_vnis(struct driver *d, const char *job, uint64_t number,
                                    enum node_state node_state, uint16_t vni)
{
    return report_vnis_in_order(d, job, number, node_state, vni, 0);
}

/* I1: services of a life that the ledger has forgotten hold their VNI back again. */
UNIT(report__late_lingering_holds_its_vni_again)
{
    struct driver d;
    start(&d); /* has 1024 */
    assert_int_equal(report_vnis(&d, "old", 77, NODE_DESTROYED, 1030), ANSWER_NOT_FOUND);
    assert_int_equal(report_vnis(&d, "old", 77, NODE_LINGERING, 1024), ANSWER_NOT_FOUND);
    assert_int_equal(report_vnis(&d, "old", 77, NODE_LINGERING, 1030), ANSWER_REPORTED);
    assert_int_equal(driver_held(&d), 1);
    assert_true(driver_alarm(&d, ALARM_OLD_LEDGER)); /* a number that was never given */
    (void)report_vnis(&d, "old", 77, NODE_LINGERING, 1030);
    assert_int_equal(driver_held(&d), 1);
    (void)report_vnis(&d, "old", 77, NODE_LINGERING, 1031); /* which another job had till now */
    assert_int_equal(driver_held(&d), 2);
    driver_tick(&d, 10 * d.config.vni_hold_ms);
    assert_int_equal(driver_held(&d), 2);
    driver_reserve(&d, driver_request("old", 2)); /* it is not in the way of the same job */
    assert_int_equal(driver_answered(&d), ANSWER_CREATED);
    assert_int_equal(driver_job(&d, "old")->state, JOB_ACTIVE);
    assert_int_equal(report_vnis(&d, "old", 77, NODE_DESTROYED, 1030), ANSWER_REPORTED);
    assert_int_equal(driver_held(&d), 0);
    driver_end(&d);
}

/* I1: so they do while the ledger still has the life, which waits for the fabric manager only. */
WITH(driver_is_up, report__late_lingering_of_one_that_is_released_holds_its_vni_again)
{
    struct driver *d = *state;
    d->config.relist_ms = 0; /* else what is released while a list is under way stays for it */
    driver_configure(d);
    driver_tick(d, d->config.stray_grace_ms); /* a reload's list */
    driver_list(d, NULL, 0, FM_OK);
    for (int gone = 0; gone < 2; gone++) {
        driver_reserved_job(d, "a");
        const uint64_t number = driver_job(d, "a")->number;
        const uint16_t vni = driver_job(d, "a")->vnis[0];
        driver_release(d, "a");
        const uint64_t release = driver_call(d, FMCALL_RELEASE);
        driver_tick(d, d->config.vni_hold_ms);
        assert_int_equal(driver_held(d), 0);
        (void)report_vnis_in_order(d, "a", number, NODE_DESTROYED, vni, 2);
        (void)report_vnis_in_order(d, "a", number, NODE_LINGERING, vni, 1);
        assert_int_equal(driver_held(d), 0); /* the node has told since that it is gone */
        assert_int_equal(report_vnis_in_order(d, "a", number, NODE_LINGERING, vni, 3),
                         ANSWER_REPORTED);
        assert_int_equal(driver_held(d), 1);
        if (gone)
            driver_done(d, release, FM_OK, NULL);
        assert_int_equal(driver_job(d, "a") == NULL, gone);
        assert_int_equal(driver_held(d), 1);
        (void)report_vnis_in_order(d, "a", number, NODE_DESTROYED, vni, 4);
        assert_int_equal(driver_held(d), 0);
        if (!gone)
            driver_done(d, release, FM_OK, NULL);
    }
}

/* One node cannot fill the ledger, nor empty the pool, by what it says of reservations that never
 * were. */
WITH(start_driver, report__unknown_lives_are_bounded)
{
    struct driver *d = *state;
    for (uint16_t i = 0; i < 1000; i++)
        (void)report_vnis(d, "old", 100u + i, NODE_LINGERING, (uint16_t)(2000 + i));
    assert_int_equal(driver_status(d).use.jobs_releasing, 8);
    assert_int_equal(driver_held(d), 8);
}

/* B8: reports of services that will not go, as long as they say so. */
WITH(start_driver, report__lingering_is_counted)
{
    struct driver *d = *state;
    static const struct {
        const char *node;
        enum node_state state;
        uint64_t lingering;
    } told[] = {{"n1", NODE_CREATED, 0},   {"n1", NODE_LINGERING, 1}, {"n2", NODE_LINGERING, 2},
                {"n2", NODE_LINGERING, 2}, {"n1", NODE_DESTROYED, 1}, {"n3", NODE_DESTROYED, 1},
                {"n2", NODE_CREATED, 0},   {"n2", NODE_LINGERING, 1}, {"n2", NODE_DESTROYED, 0}};
    driver_release(d, "a");
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        (void)report(d, "a", 1, told[i].node, told[i].state);
        assert_int_equal(driver_status(d).nodes_lingering, told[i].lingering);
    }
}

/* So many in all, by however many nodes. */
WITH(start_driver, report__unknown_lives_of_many_nodes_are_bounded)
{
    struct driver *d = *state;
    for (uint16_t i = 0; i < 300; i++) {
        const uint16_t vni = (uint16_t)(2000 + i);
        char node[16];
        (void)snprintf(node, sizeof node, "n%d", i + 1);
        DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "old",
                   .number = 100u + i, .node = node, .state = NODE_LINGERING, .vnis = &vni,
                   .vni_count = 1);
        assert_int_equal(driver_answered(d), i < 256 ? ANSWER_REPORTED : ANSWER_NOT_FOUND);
    }
    /* Of those that have reported few, too. */
    assert_int_equal(report_vnis(d, "old", 500, NODE_LINGERING, 3000), ANSWER_NOT_FOUND);
    assert_int_equal(driver_held(d), 256);
}

/* When all of them are over each node begins anew. */
WITH(start_driver, report__unknown_lives_are_counted_anew)
{
    struct driver *d = *state;
    static const char *const nodes[] = {"n1", "n2"};
    for (int round = 0; round < 2; round++) {
        for (uint16_t i = 0; i < 2 * 9; i++) {
            const uint16_t vni = (uint16_t)(2000 + i);
            DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "old",
                       .number = 100u + i, .node = nodes[i / 9], .state = NODE_LINGERING,
                       .vnis = &vni, .vni_count = 1);
            assert_int_equal(driver_answered(d), i % 9 < 8 ? ANSWER_REPORTED : ANSWER_NOT_FOUND);
        }
        assert_int_equal(driver_held(d), 16);
        (void)fence(d, "n1");
        (void)fence(d, "n2");
        assert_int_equal(driver_held(d), 0);
        driver_tick(d, 1);
    }
}

/* F9: the resource manager hears of it once, and may drain the node. */
WITH(start_driver, report__lingering_is_an_event)
{
    struct driver *d = *state;
    driver_release(d, "a");
    (void)report(d, "a", 1, "n2", NODE_LINGERING);
    assert_int_equal(driver_events(d, EVENT_LINGERING), 1);
    assert_string_equal(driver_find(d, EFFECT_EVENT)->u.event->detail,
                        "node n2: CXI services cannot be destroyed: cxi0:12,cxi1:7");
    (void)report(d, "a", 1, "n2", NODE_LINGERING);
    assert_int_equal(driver_events(d, EVENT_LINGERING), 0);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0); /* I7, and nothing to write */
    assert_int_equal(driver_status(d).nodes_lingering, 1);
}

WITH(start_driver, fence__stands_for_the_node)
{
    struct driver *d = *state;
    (void)report(d, "a", 1, "n1", NODE_CREATED);
    driver_release(d, "a");
    (void)report(d, "a", 1, "n2", NODE_DESTROYED);
    (void)report(d, "a", 1, "n3", NODE_LINGERING);
    assert_int_equal(fence(d, "n2"), 0);
    assert_int_equal(fence(d, "n9"), 0);
    assert_int_equal(fence(d, "n3"), 1);
    assert_int_equal(driver_find(d, EFFECT_SAVE)->u.record.u.node.order, 0); /* it told none */
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(fence(d, "n1"), 1);
    assert_int_equal(driver_events(d, EVENT_FENCED), 1);
    assert_int_equal(driver_held(d), 0);
}

/* One that has not said anything, too; but not of a job that is active: it may yet make services
 * there, and not be able to tell of it. */
WITH(start_driver, fence__is_for_jobs_that_are_over)
{
    struct driver *d = *state;
    assert_int_equal(fence(d, "n3"), 0);
    (void)report(d, "a", 1, "n1", NODE_DESTROYED);
    (void)report(d, "a", 1, "n2", NODE_DESTROYED);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(fence(d, "n3"), 1);
    assert_int_equal(driver_find(d, EFFECT_SAVE)->u.record.u.node.order, 0); /* it told none */
    assert_int_equal(driver_held(d), 0);
}

/* I1: what was under way for long must not make a node clean that is not. */
WITH(start_driver, report__that_was_overtaken_changes_nothing)
{
    struct driver *d = *state;
    (void)report(d, "a", 1, "n2", NODE_DESTROYED);
    (void)report(d, "a", 1, "n3", NODE_DESTROYED);
    (void)report_in_order(d, "a", 1, "n1", NODE_CREATED, 10);
    (void)report_in_order(d, "a", 1, "n1", NODE_CREATED, 12); /* says the same, and is later */
    assert_int_equal(report_in_order(d, "a", 1, "n1", NODE_DESTROYED, 11), ANSWER_REPORTED);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(report_in_order(d, "a", 1, "n1", NODE_DESTROYED, 13), ANSWER_REPORTED);
    assert_int_equal(driver_held(d), 0);
}

/* Which services there are is news, also that it is not told any more; the same again is none. */
WITH(start_driver, report__other_services_are_news)
{
    struct driver *d = *state;
    static const char *const services[] = {"cxi0:12", "cxi0:12", NULL, NULL, "cxi0:12", "cxi0:13"};
    static const bool news[] = {true, false, true, false, true, true};
    for (size_t i = 0; i < sizeof news; i++) {
        DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "a", .number = 1,
                   .node = "n1", .state = NODE_CREATED, .services = services[i]);
        assert_int_equal(driver_answered(d), ANSWER_REPORTED);
        assert_int_equal(driver_count(d, EFFECT_SAVE), news[i]);
    }
}

UNIT_RUN(NULL, NULL)
