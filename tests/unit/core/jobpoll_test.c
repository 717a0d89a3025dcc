/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* Job list polls: the broker asks which jobs are active (F20, F22). */

static void init_asked(struct driver *d)
{
    driver_init(d);
    d->config.clusters[0].jobpoll = true;
    d->config.clusters[0].jobpoll_every_ms = 300 * 1000;
}
DRIVER_FIXTURE(init_asked_driver, init_asked)

/* The one that the last step began; of elcap. */
static uint64_t asked(const struct driver *d)
{
    const struct effect *effect = driver_find(d, EFFECT_JOBPOLL);
    assert_non_null(effect);
    assert_string_equal(effect->u.jobpoll.cluster, "elcap");
    assert_int_equal(driver_count(d, EFFECT_JOBPOLL), 1);
    return effect->u.jobpoll.id;
}

/* Asked at once, in the first step. */
static uint64_t started(struct driver *d)
{
    driver_start(d);
    assert_int_equal(core_next_deadline(d->core), d->now);
    driver_tick(d, 0);
    return asked(d);
}

static void named(struct driver *d, uint64_t id, const char *const *active, size_t count)
{
    DRIVER_STEP(d, CORE_JOBPOLL_DONE, jobpoll, .id = id, .ok = true, .active = active,
                .count = count);
}

static void failed(struct driver *d, uint64_t id, const char *words)
{
    DRIVER_STEP(d, CORE_JOBPOLL_DONE, jobpoll, .id = id, .words = words);
}

static struct core_cluster_status shown(const struct driver *d)
{
    struct core_cluster_status status;
    assert_true(core_cluster_status(d->core, 0, &status));
    return status;
}

static void tick_to(struct driver *d, int64_t when_ms)
{
    assert_true(when_ms > d->now);
    driver_tick(d, when_ms - d->now);
}

/* F22: at the start; a job that is twice not named is released, the grace period apart. */
WITH(init_asked_driver, jobpoll__releases_what_is_not_named_twice)
{
    struct driver *d = *state;
    static const char *const active[] = {"a", "zzz"};
    uint64_t first = started(d);
    driver_reserve(d, driver_request("a", 2));
    driver_reserve(d, driver_request("b", 2));
    failed(d, first, "it was asked too early");
    tick_to(d, core_next_deadline(d->core));
    named(d, asked(d), active, 2);
    assert_int_equal(driver_job(d, "b")->state, JOB_ACTIVE);
    assert_int_equal(shown(d).jobpoll_ms, d->now);

    assert_int_equal(core_next_deadline(d->core), d->now + d->config.sync_grace_ms);
    tick_to(d, d->now + d->config.sync_grace_ms);
    named(d, asked(d), active, 2);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    assert_int_equal(driver_job(d, "b")->state, JOB_RELEASING);
}

/* As often as the site says, however often that is. */
UNIT(jobpoll__is_asked_as_often_as_is_configured)
{
    static const int64_t every_ms[] = {1, 2, 3600 * 1000, 0};
    for (size_t i = 0; i < sizeof every_ms / sizeof every_ms[0]; i++) {
        struct driver d;
        init_asked(&d);
        d.config.fm_present = false;
        d.config.clusters[0].jobpoll_every_ms = every_ms[i];
        named(&d, started(&d), NULL, 0);
        assert_int_equal(core_next_deadline(d.core),
                         every_ms[i] > 0 ? d.now + every_ms[i] : INT64_MAX);
        driver_end(&d);
    }
}

/* What it saw is as old as the question, not as the answer. */
WITH(init_asked_driver, jobpoll__counts_from_when_it_was_asked)
{
    struct driver *d = *state;
    uint64_t first = started(d);
    driver_reserve(d, driver_request("a", 2));
    d->now++;
    DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap");
    assert_int_equal(driver_answer(d)->sync->suspect_count, 1);
    d->now += 2 * d->config.sync_grace_ms;
    named(d, first, NULL, 0);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
}

/* A job that was reserved, or asked for again, after the question cannot be in its answer. */
WITH(init_asked_driver, jobpoll__does_not_miss_what_came_after_it)
{
    struct driver *d = *state;
    uint64_t id = started(d);
    for (int life = 0; life < 2; life++) {
        d->now += 100;
        driver_reserve(d, driver_request("a", 2)); /* the second time a repeat */
        d->now += 100;
        named(d, id, NULL, 0);
        tick_to(d, core_next_deadline(d->core));
        id = asked(d);
    }
    named(d, id, NULL, 0); /* missed for the first time */
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    assert_int_equal(core_next_deadline(d->core), d->now + d->config.sync_grace_ms);
}

/* A failing squeue releases nothing, whatever it printed before; it is asked again. */
WITH(init_asked_driver, jobpoll__concludes_nothing_from_a_failure)
{
    struct driver *d = *state;
    uint64_t id = started(d);
    driver_reserve(d, driver_request("a", 2));
    for (int i = 1; i <= 4; i++) {
        failed(d, id, "exit status 1: Unable to contact slurm controller");
        assert_int_equal(driver_count(d, EFFECT_TRACE), 1);
        assert_int_equal(driver_find(d, EFFECT_TRACE)->u.trace.level, i == 1 ? 4 : 7);
        assert_int_equal(shown(d).jobpoll_failures, i);
        assert_string_equal(shown(d).jobpoll_error,
                            "exit status 1: Unable to contact slurm controller");
        tick_to(d, core_next_deadline(d->core));
        id = asked(d);
    }
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    assert_int_equal(shown(d).jobpoll_ms, 0);

    static const char *const active[] = {"a"};
    named(d, id, active, 1);
    assert_string_equal(shown(d).jobpoll_error, "");
    assert_int_equal(driver_find(d, EFFECT_TRACE)->u.trace.level, 5); /* it answers again */
    assert_int_equal(core_next_deadline(d->core), d->now + 300 * 1000);

    /* However short the words are that said why. */
    tick_to(d, core_next_deadline(d->core));
    failed(d, asked(d), "?");
    tick_to(d, core_next_deadline(d->core));
    named(d, asked(d), active, 1);
    assert_int_equal(driver_find(d, EFFECT_TRACE)->u.trace.level, 5);
    tick_to(d, core_next_deadline(d->core));
    named(d, asked(d), active, 1);
    assert_int_equal(driver_find(d, EFFECT_TRACE)->u.trace.level, 7);
}

/* F20: when the fabric manager is back. One at a time. */
WITH(init_asked_driver, jobpoll__is_asked_when_the_link_comes_up)
{
    struct driver *d = *state;
    driver_start(d);
    driver_login(d);
    uint64_t first = asked(d); /* because of the start: not a second one meanwhile, but then */
    driver_list(d, NULL, 0, FM_OK);
    assert_int_equal(driver_count(d, EFFECT_JOBPOLL), 0);
    named(d, first, NULL, 0);
    named(d, asked(d), NULL, 0);
    assert_int_equal(core_next_deadline(d->core), d->now + 300 * 1000);

    driver_configure(d);
    named(d, asked(d), NULL, 0); /* so does a reload */

    d->now += 1000;
    struct core_config gone = d->config;
    gone.clusters[0].jobpoll = false;
    driver_step(d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &gone});
    assert_int_equal(driver_count(d, EFFECT_JOBPOLL), 0);
    assert_false(shown(d).jobpoll);
}

/* An answer that nobody waits for, after a reload took the command away. */
WITH(init_asked_driver, jobpoll__ignores_a_stale_answer)
{
    struct driver *d = *state;
    uint64_t id = started(d);
    driver_reserve(d, driver_request("a", 2));
    struct core_config gone = d->config;
    gone.clusters[0].jobpoll = false;
    driver_step(d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &gone});
    DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap");
    d->now += d->config.sync_grace_ms;
    named(d, id, NULL, 0);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
}

/* list_every = 0: after a start, and until what was found is certain; then no more. */
WITH(init_asked_driver, jobpoll__only_when_there_is_a_reason)
{
    struct driver *d = *state;
    d->config.clusters[0].jobpoll_every_ms = 0;
    d->config.fm_present = false;
    d->config.fm_url_count = 0;
    uint64_t id = started(d);
    driver_reserve(d, driver_request("a", 2));
    failed(d, id, "it was asked too early");
    for (int i = 0; i < 2; i++) {
        tick_to(d, core_next_deadline(d->core));
        named(d, asked(d), NULL, 0);
    }
    assert_int_equal(driver_job(d, "a")->state, JOB_RELEASING);
    tick_to(d, core_next_deadline(d->core)); /* its VNI */
    assert_null(driver_job(d, "a"));
    assert_int_equal(core_next_deadline(d->core), INT64_MAX);
}

/* A command that prints ids in another form would end every job here. */
WITH(init_asked_driver, jobpoll__of_unknown_jobs_concludes_nothing)
{
    struct driver *d = *state;
    static const char *const other[] = {"4711", "4712"};
    driver_start(d);
    driver_reserve(d, driver_request("f2Rs8", 2));
    for (int i = 1; i <= 3; i++) {
        uint64_t id = asked(d);
        named(d, id, other, 2);
        assert_int_equal(shown(d).jobpoll_failures, i);
        assert_non_null(strstr(shown(d).jobpoll_error, "\"4711\" for one"));
        tick_to(d, core_next_deadline(d->core));
    }
    assert_int_equal(driver_job(d, "f2Rs8")->state, JOB_ACTIVE);
    driver_release(d, "f2Rs8");
}

/* F20: what was asked before a reconnect may be from before it. */
WITH(init_asked_driver, jobpoll__is_asked_anew_after_a_reconnect)
{
    struct driver *d = *state;
    d->config.clusters[0].jobpoll_every_ms = 0;
    uint64_t first = started(d);
    DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = true);
    driver_list(d, NULL, 0, FM_OK);
    named(d, first, NULL, 0);
    named(d, asked(d), NULL, 0);
    assert_int_equal(driver_count(d, EFFECT_JOBPOLL), 0);
}

/* Once it has shown that its ids are ours, one that names only jobs without reservation is
 * believed: else what leaked would stay as long as no other job is reserved (F20). */
WITH(init_asked_driver, jobpoll__of_known_ids_is_believed)
{
    struct driver *d = *state;
    static const char *const both[] = {"a", "b"}, *const other[] = {"c"};
    driver_start(d);
    driver_reserve(d, driver_request("a", 2));
    uint64_t id = asked(d); /* in that step */
    driver_reserve(d, driver_request("b", 2));
    named(d, id, both, 2);
    driver_release(d, "b");
    for (int i = 0; i < 2; i++) { /* a's epilog was lost */
        tick_to(d, core_next_deadline(d->core));
        named(d, asked(d), other, 1);
    }
    assert_int_equal(driver_job(d, "a")->state, JOB_RELEASING);
}

/* The command was wrong and has been mended while it ran: its answer is nobody's. */
WITH(init_asked_driver, jobpoll__from_before_a_reload_concludes_nothing)
{
    struct driver *d = *state;
    static const char *const active[] = {"a"}, *const less[] = {"b"};
    uint64_t id = started(d);
    driver_reserve(d, driver_request("a", 2));
    driver_reserve(d, driver_request("b", 2));
    named(d, id, less, 1); /* the first time that a is not named */
    tick_to(d, core_next_deadline(d->core));
    id = asked(d);
    driver_configure(d);
    named(d, id, less, 1);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    named(d, asked(d), active, 1);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
}

/* ---- in pieces and in lots ---- */

static void piece(struct driver *d, uint64_t id, const char *job)
{
    DRIVER_STEP(d, CORE_JOBPOLL_DONE, jobpoll, .id = id, .ok = true, .active = &job, .count = 1,
                .more = true);
}

/* Three jobs of which a second job list poll lacks two; one is compared in a step. Its id. */
static uint64_t second_of_three(struct driver *d)
{
    static const char *const one[] = {"a"};
    init_asked(d);
    d->config.sync_lot = 1;
    uint64_t id = started(d);
    driver_reserve(d, driver_request("a", 2));
    driver_reserve(d, driver_request("b", 2));
    driver_reserve(d, driver_request("c", 2));
    d->now++;
    named(d, id, NULL, 0); /* lacks none: they came after it was asked */
    while (!driver_find(d, EFFECT_JOBPOLL))
        driver_tick(d, core_next_deadline(d->core) - d->now);
    named(d, asked(d), one, 1);
    while (!driver_find(d, EFFECT_JOBPOLL))
        driver_tick(d, core_next_deadline(d->core) - d->now);
    return asked(d);
}

/* Nobody is asked again before all was compared. */
UNIT(jobpoll__is_compared_in_lots)
{
    struct driver d;
    uint64_t id = second_of_three(&d);
    piece(&d, id, "z");
    piece(&d, id, "a");
    assert_true(core_next_deadline(d.core) > d.now); /* the rest is waited for */
    named(&d, id, NULL, 0);
    for (int lots = 1; lots <= 3; lots++) {
        assert_int_equal(core_next_deadline(d.core), d.now);
        assert_int_equal(driver_job(&d, "b")->state, lots < 2 ? JOB_ACTIVE : JOB_RELEASING);
        assert_int_equal(driver_job(&d, "c")->state, lots < 3 ? JOB_ACTIVE : JOB_RELEASING);
        driver_tick(&d, 0);
        assert_int_equal(driver_count(&d, EFFECT_JOBPOLL), 0);
    }
    assert_int_equal(driver_job(&d, "a")->state, JOB_ACTIVE);
    assert_int_equal(core_next_deadline(d.core), d.now + 300 * 1000);
    assert_int_equal(shown(&d).jobpoll_ms, d.now);
    driver_end(&d);
}

/* What was not compared by then is not, whether all had been named or not; and it is asked anew. */
UNIT(jobpoll__ends_at_a_reload)
{
    for (int whole = 0; whole < 2; whole++) {
        struct driver d;
        uint64_t id = second_of_three(&d);
        piece(&d, id, "a");
        if (whole)
            named(&d, id, NULL, 0);
        driver_configure(&d);
        if (!whole) {
            piece(&d, id, "b");
            named(&d, id, NULL, 0);
        }
        assert_int_not_equal(asked(&d), id);
        assert_int_equal(driver_job(&d, "b")->state, JOB_ACTIVE);
        assert_int_equal(driver_job(&d, "c")->state, JOB_ACTIVE);
        driver_end(&d);
    }
}

UNIT_RUN(NULL, NULL)
