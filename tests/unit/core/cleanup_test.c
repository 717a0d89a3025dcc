/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* F19, I6: the trees of a step are removed for whoever holds the job's token, and of no other. */

static const char *const no_scope[] = {NULL};

static void clean_within(struct driver *d, const char *step, bool below, int64_t wait_ms,
                         const char *const *scopes, size_t scope_count)
{
    DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = 1, .step = step, .below = below,
               .scopes = scopes, .scope_count = scope_count, .wait_ms = wait_ms);
}

static void clean(struct driver *d, const char *step)
{
    clean_within(d, step, false, 0, no_scope, 0);
}

static void steps_done(struct driver *d, uint64_t call, const struct fmcall_step *steps,
                       size_t count)
{
    static struct fmcall_steps all; /* the answer shows it until the next step */
    all = (struct fmcall_steps){.steps = steps, .count = count};
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = FM_OK, .steps = &all,
                .words = "200");
}

static const char *token_shown(const struct driver *d)
{
    return secret_expose(driver_find(d, EFFECT_CALL)->u.call.about.token);
}

static const char *step_named(const struct driver *d)
{
    return driver_find(d, EFFECT_CALL)->u.call.about.step;
}

static uint64_t pending(const struct driver *d)
{
    return driver_status(d).cleanups.pending;
}

static void start(struct driver *d)
{
    driver_init(d);
    driver_up(d);
    driver_reserved_job(d, "a");
}
DRIVER_FIXTURE(start_driver, start)

static const struct record *saved(const struct driver *d, enum record_kind kind)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_SAVE && effects[i].u.record.kind == kind)
            return &effects[i].u.record;
    }
    return NULL;
}

WITH(start_driver, cleanup__is_saved_and_done_with_the_token)
{
    struct driver *d = *state;
    clean(d, "/fA/fB");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    assert_non_null(saved(d, RECORD_CLEANUP));
    assert_string_equal(saved(d, RECORD_CLEANUP)->u.cleanup.step, "/fA/fB");
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    assert_string_equal(step_named(d), "/fA/fB");
    assert_string_equal(token_shown(d), "sess-a");
    assert_int_equal(pending(d), 1);
    driver_done(d, call, FM_OK, NULL);
    assert_string_equal(saved(d, RECORD_CLEANED)->u.cleanup.step, "/fA/fB");
    assert_int_equal(pending(d), 0);
}

/* Whatever the core is asked for: a step outside of any scope of the token is not touched. */
WITH(start_driver, cleanup__stays_within_every_scope)
{
    struct driver *d = *state;
    static const char *const scopes[] = {"/fA", "/fA/fB"};
    static const char *const outside[] = {"/fA", "/fA/fC", "/fA/fBB", "fA", "/fA/fB2/fB", "0"};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        clean_within(d, outside[i], true, 0, scopes, 2);
        assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
        assert_non_null(strstr(driver_answer(d)->detail, outside[i]));
        assert_null(driver_find(d, EFFECT_CALL));
        assert_null(driver_find(d, EFFECT_SAVE));
    }
    clean_within(d, "/fA/fB/fC", false, 0, scopes, 2);
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
}

WITH(start_driver, cleanup__tree_by_tree_where_the_token_opens_no_job)
{
    struct driver *d = *state;
    static const uint16_t trees[] = {77, 78}, others[] = {5};
    static const struct fmcall_step steps[] = {{"/fA", trees, 2}, {"/fA/fB", others, 1}};
    clean(d, "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_REFUSED, NULL);
    uint64_t call = driver_call(d, FMCALL_STEPS);
    assert_string_equal(token_shown(d), "sess-a");
    driver_done(d, call, FM_REFUSED, NULL);
    call = driver_call(d, FMCALL_STEPS);
    assert_null(token_shown(d)); /* looking does no harm */
    steps_done(d, call, steps, 2);
    call = driver_call(d, FMCALL_END_TREE);
    assert_int_equal(driver_find(d, EFFECT_CALL)->u.call.about.tree, 77);
    assert_string_equal(token_shown(d), "sess-a");
    driver_done(d, call, FM_GONE, NULL);
    /* I6: the step has closed 78 itself meanwhile, and that is another step's now. */
    static const uint16_t last[] = {79}, taken[] = {5, 78};
    static const struct fmcall_step later[] = {{"/fA", last, 1}, {"/fA/fB", taken, 2}};
    steps_done(d, driver_call(d, FMCALL_STEPS), later, 2);
    call = driver_call(d, FMCALL_END_TREE);
    assert_int_equal(driver_find(d, EFFECT_CALL)->u.call.about.tree, 79);
    driver_done(d, call, FM_OK, NULL);
    steps_done(d, driver_call(d, FMCALL_STEPS), &later[1], 1);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(pending(d), 0);
    /* What was learned is not asked again. */
    clean(d, "/fA/fB");
    (void)driver_call(d, FMCALL_STEPS);
}

UNIT(cleanup__the_login_only_if_the_site_says_so)
{
    static const uint16_t trees[] = {77};
    static const struct fmcall_step steps[] = {{"/fA", trees, 1}};
    for (int allowed = 0; allowed < 2; allowed++) {
        struct driver d;
        driver_init(&d);
        d.config.cleanup_login = allowed;
        driver_up(&d);
        driver_reserved_job(&d, "a");
        clean_within(&d, "/fA", false, 5000, no_scope, 0);
        driver_done(&d, driver_call(&d, FMCALL_END_STEP), FM_REFUSED, NULL);
        steps_done(&d, driver_call(&d, FMCALL_STEPS), steps, 1);
        driver_done(&d, driver_call(&d, FMCALL_END_TREE), FM_REFUSED, NULL);
        if (allowed) {
            uint64_t call = driver_call(&d, FMCALL_END_STEP);
            assert_null(token_shown(&d));
            driver_done(&d, call, FM_OK, NULL);
            assert_int_equal(driver_answered(&d), ANSWER_CLEANED);
        } else {
            assert_int_equal(driver_answered(&d), ANSWER_GIVEN_UP);
            assert_non_null(strstr(driver_answer(&d)->detail, "cleanup_login"));
        }
        assert_int_equal(pending(&d), 0);
        driver_end(&d);
    }
}

/* What was learned while it was allowed is not used any more. */
FRESH(cleanup__the_login_not_after_the_site_forbids_it)
{
    struct driver *d = *state;
    d->config.cleanup_login = true;
    driver_up(d);
    driver_reserved_job(d, "a");
    clean(d, "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_REFUSED, NULL);
    driver_done(d, driver_call(d, FMCALL_STEPS), FM_REFUSED, NULL);
    driver_done(d, driver_call(d, FMCALL_STEPS), FM_DENIED, NULL);
    assert_int_equal(pending(d), 0); /* not even the login may look: given up */
    clean(d, "/fA");
    static const uint16_t trees[] = {77};
    static const struct fmcall_step steps[] = {{"/fA", trees, 1}};
    steps_done(d, driver_call(d, FMCALL_STEPS), steps, 1);
    driver_done(d, driver_call(d, FMCALL_END_TREE), FM_REFUSED, NULL);
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    assert_null(token_shown(d));
    driver_done(d, call, FM_OK, NULL);
    d->config.cleanup_login = false;
    driver_configure(d);
    clean(d, "/fA");
    (void)driver_call(d, FMCALL_END_STEP);
    assert_string_equal(token_shown(d), "sess-a");
}

/* All is over but a call that has not come back: only that is waited for, not a time that is over.
 */
FRESH(cleanup__that_outlasts_its_job_is_no_deadline)
{
    struct driver *d = *state;
    d->config.cleanup_login = true;
    driver_up(d);
    struct reserve_request q = driver_request("a", 128);
    q.vni_count = 0;
    driver_reserve(d, q);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-a");
    clean(d, "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_REFUSED, NULL);
    driver_done(d, driver_call(d, FMCALL_STEPS), FM_REFUSED, NULL);
    static const uint16_t trees[] = {77};
    static const struct fmcall_step steps[] = {{"/fA", trees, 1}};
    steps_done(d, driver_call(d, FMCALL_STEPS), steps, 1);
    driver_done(d, driver_call(d, FMCALL_END_TREE), FM_REFUSED, NULL);
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_TIMEOUT, NULL); /* with the login */
    const int64_t settled_ms = d->now + d->config.call_timeout_ms;
    driver_tick(d, 500);
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    driver_released_job(d, "a");
    assert_int_equal(core_next_deadline(d->core), settled_ms);
    driver_tick(d, settled_ms - d->now);
    assert_non_null(driver_job(d, "a"));
    assert_true(core_next_deadline(d->core) > d->now);
    driver_done(d, call, FM_OK, NULL);
    assert_null(driver_job(d, "a"));
}

/* Another job's trouble is nobody's business. */
WITH(start_driver, cleanup__tells_each_job_its_own_trouble)
{
    struct driver *d = *state;
    driver_reserved_job(d, "b");
    clean(d, "0");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_BUSY, NULL);
    DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = 2, .step = "0", .scopes = no_scope,
               .wait_ms = 1000);
    driver_tick(d, 1000);
    assert_int_equal(driver_answered(d), ANSWER_PENDING);
    assert_null(strstr(driver_answer(d)->detail, "the fabric manager's words"));
}

WITH(start_driver, cleanup__of_a_subtree_takes_no_sibling)
{
    struct driver *d = *state;
    static const uint16_t tree[] = {1};
    static const struct fmcall_step steps[] = {
        {"/fA", tree, 1}, {"/fAB", tree, 1}, {"/fA/fB", tree, 1}, {"0", tree, 1}};
    clean_within(d, "/fA", true, 0, no_scope, 0);
    steps_done(d, driver_call(d, FMCALL_STEPS), steps, 4);
    assert_string_equal(step_named(d), "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    assert_string_equal(step_named(d), "/fA/fB");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(pending(d), 0);
}

WITH(start_driver, cleanup__is_merged_when_repeated)
{
    struct driver *d = *state;
    clean_within(d, "/fA", true, 0, no_scope, 0);
    uint64_t call = driver_call(d, FMCALL_STEPS);
    clean(d, "/fA/fB"); /* the first one does it too, but may have looked already */
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    assert_null(driver_find(d, EFFECT_SAVE));
    assert_int_equal(pending(d), 1);
    steps_done(d, call, NULL, 0);
    steps_done(d, driver_call(d, FMCALL_STEPS), NULL, 0);
    assert_int_equal(pending(d), 0);
}

WITH(start_driver, cleanup__answers_when_done_or_when_it_is_time)
{
    struct driver *d = *state;
    clean_within(d, "0", false, 2000, no_scope, 0);
    assert_null(driver_answer(d));
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    assert_int_equal(core_next_deadline(d->core), d->now + 2000);
    driver_tick(d, 2000);
    assert_int_equal(driver_answered(d), ANSWER_PENDING);
    clean_within(d, "0", false, 2000, no_scope, 0);
    driver_done(d, call, FM_OK, NULL);
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    assert_int_equal(driver_answered(d), ANSWER_CLEANED);
}

WITH(start_driver, cleanup__is_tried_until_its_time_is_over)
{
    struct driver *d = *state;
    clean(d, "0");
    uint64_t losses = 0, tries = 0;
    while (pending(d) > 0) {
        const struct effect *effect = driver_find(d, EFFECT_CALL);
        if (effect && effect->u.call.kind == FMCALL_END_STEP) {
            tries++;
            driver_done(d, effect->u.call.id, FM_TIMEOUT, NULL);
        } else {
            assert_true(core_next_deadline(d->core) > d->now);
            driver_tick(d, core_next_deadline(d->core) - d->now);
        }
        losses = driver_status(d).link_losses;
    }
    assert_true(tries > 20 && tries < 40);
    assert_int_equal(losses, 0); /* a job's token says nothing of the link */
    assert_true(d->now <= 1000000 + d->config.cleanup_timeout_ms);
}

/* What the log has last of this level, or NULL. */
static const char *logged(const struct driver *d, int level)
{
    const char *text = NULL;
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_TRACE && effects[i].u.trace.level == level)
            text = effects[i].u.trace.text;
    }
    return text;
}

/* Whoever reads that it was given up is told what to do, each time something else. */
UNIT(cleanup__given_up_says_what_to_do_next)
{
    static const uint16_t tree[] = {77};
    static const struct fmcall_step steps[] = {{"/fA", tree, 1}};
    static const struct {
        enum fmcall_outcome outcome;
        bool login;
        const char *cause, *next;
    } cases[] = {
        {FM_TIMEOUT, false, "the fabric manager said last: ", "ask again with mcastctl cleanup"},
        {FM_REFUSED, false, "the job's token does not open them", "set [hwcoll] cleanup_login"},
        {FM_REFUSED, true, "the fabric manager refuses the login", "remove them at the fabric"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct driver d;
        driver_init(&d);
        d.config.cleanup_login = cases[i].login;
        driver_up(&d);
        driver_reserved_job(&d, "a");
        clean(&d, "/fA");
        while (pending(&d) > 0) {
            const struct effect *effect = driver_find(&d, EFFECT_CALL);
            if (effect && effect->u.call.kind == FMCALL_STEPS && !cases[i].login)
                steps_done(&d, effect->u.call.id, steps, 1);
            else if (effect && fmcall_is_cleanup(effect->u.call.kind))
                driver_done(&d, effect->u.call.id, cases[i].outcome, NULL);
            else
                driver_tick(&d, core_next_deadline(d.core) - d.now);
        }
        const char *text = logged(&d, 4);
        assert_words(text, "elcap-a: the trees of step /fA are not removed: ");
        assert_words(text, cases[i].cause);
        assert_words(text, "-> given up, they stay until the job ends; to be rid of them sooner, ");
        assert_words(text, cases[i].next);
        assert_null(strstr(text, "background")); /* it does not go on there */
        assert_null(strstr(text, "it is asked again"));
        driver_end(&d);
    }
}

/* Who is given up is told what the fabric manager said of that step, and nothing that it said of
 * another one. */
UNIT(cleanup__given_up_says_what_was_said_of_it)
{
    struct driver d;
    start(&d);
    clean(&d, "/fA");
    driver_done(&d, driver_call(&d, FMCALL_END_STEP), FM_BUSY, NULL);
    clean_within(&d, "/fB", false, 2 * d.config.cleanup_timeout_ms, no_scope, 0);
    uint64_t call = driver_call(&d, FMCALL_END_STEP); /* of /fB */
    d.now += 1000;
    driver_done(&d, call, FM_OK, NULL);
    (void)driver_call(&d, FMCALL_END_STEP); /* of /fA, and never answered */
    clean_within(&d, "/fC", false, 2 * d.config.cleanup_timeout_ms, no_scope, 0);
    driver_tick(&d, d.config.cleanup_timeout_ms);
    assert_int_equal(driver_answered(&d), ANSWER_GIVEN_UP);
    assert_words(driver_answer(&d)->detail, "it was not done in time");
    driver_end(&d);

    start(&d);
    clean_within(&d, "/fA", false, 2 * d.config.cleanup_timeout_ms, no_scope, 0);
    call = driver_call(&d, FMCALL_END_STEP);
    d.now += d.config.cleanup_timeout_ms - 100;
    driver_done(&d, call, FM_BUSY, NULL);
    driver_tick(&d, 100);
    assert_int_equal(driver_answered(&d), ANSWER_GIVEN_UP);
    assert_words(driver_answer(&d)->detail, "said last: the fabric manager's words");
    driver_end(&d);
}

/* Names that libfabric sends and that are no steps: what is below /fA does not include them. */
WITH(start_driver, cleanup__tells_once_of_steps_that_it_cannot_reach)
{
    struct driver *d = *state;
    static const uint16_t tree[] = {1};
    static const struct fmcall_step steps[] = {
        {"/fA//fB", tree, 1}, {"/fA", tree, 1}, {"(null)", tree, 1}};
    for (int i = 0; i < 2; i++) {
        clean_within(d, "/fA", true, 0, no_scope, 0);
        steps_done(d, driver_call(d, FMCALL_STEPS), steps, 3);
        if (i == 0) {
            assert_words(logged(d, 4), "lists trees of 2 steps whose name is none, first "
                                       "\"/fA//fB\"");
            assert_words(logged(d, 4), "FI_CXI_COLL_JOB_STEP_ID");
        } else {
            assert_null(logged(d, 4));
        }
        assert_string_equal(step_named(d), "/fA");
        driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
        assert_int_equal(pending(d), 0);
    }
}

WITH(start_driver, cleanup__ends_with_the_job)
{
    struct driver *d = *state;
    clean_within(d, "0", false, 60000, no_scope, 0);
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_CLEANED); /* the waiting one is told first */
    uint64_t release = driver_call(d, FMCALL_RELEASE);
    driver_done(d, release, FM_OK, NULL);
    driver_tick(d, d->config.vni_hold_ms);
    assert_non_null(driver_job(d, "a"));               /* not before the call has come back */
    assert_true(core_next_deadline(d->core) > d->now); /* and no time is waited for */
    driver_done(d, call, FM_REFUSED, NULL);
    assert_null(driver_job(d, "a"));
    assert_int_equal(pending(d), 0);
}

/* What the login ends would be the step of the job's next life: its name rests (F21, I6). */
UNIT(cleanup__with_the_login_hits_no_later_life)
{
    static const uint16_t trees[] = {77};
    static const struct fmcall_step steps[] = {{"/fA", trees, 1}};
    for (int lost = 0; lost < 2; lost++) {
        struct driver d;
        driver_init(&d);
        d.config.cleanup_login = true;
        d.config.call_timeout_ms = 1000;
        d.config.reserve_timeout_ms = 2000;
        driver_up(&d);
        driver_reserved_job(&d, "a");
        clean(&d, "/fA");
        driver_done(&d, driver_call(&d, FMCALL_END_STEP), FM_REFUSED, NULL);
        steps_done(&d, driver_call(&d, FMCALL_STEPS), steps, 1);
        driver_done(&d, driver_call(&d, FMCALL_END_TREE), FM_REFUSED, NULL);
        uint64_t end_step = driver_call(&d, FMCALL_END_STEP);
        driver_released_job(&d, "a");
        driver_reserve(&d, driver_request("a", 128));
        assert_null(driver_find(&d, EFFECT_CALL));
        driver_done(&d, end_step, lost ? FM_TIMEOUT : FM_OK, NULL);
        if (lost) {
            assert_null(driver_find(&d, EFFECT_CALL));
            driver_tick(&d, d.config.call_timeout_ms);
        }
        (void)driver_call(&d, FMCALL_RESERVE);
        driver_end(&d);
    }
}

UP(cleanup__of_a_job_without_addresses_has_nothing_to_do)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 2));
    clean(d, "0");
    assert_int_equal(driver_answered(d), ANSWER_CLEANED);
    assert_null(driver_find(d, EFFECT_SAVE));
}

WITH(start_driver, cleanup__is_bounded)
{
    struct driver *d = *state;
    char step[32];
    unsigned taken = 0;
    for (unsigned i = 0; i < 1100; i++) {
        (void)snprintf(step, sizeof step, "/f%u", i);
        clean(d, step);
        taken += driver_answered(d) == ANSWER_ACCEPTED;
    }
    assert_int_equal(taken, 1000);
    assert_int_equal(driver_answered(d), ANSWER_TOO_MANY);
    clean(d, "/f7"); /* a repeat costs as much */
    assert_int_equal(driver_answered(d), ANSWER_TOO_MANY);
    d->now += 20;
    clean(d, "/f7");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
}

/* A thousand at once, then one each 20 ms; what was saved up is a thousand again, no more. */
WITH(start_driver, cleanup__is_paid_for)
{
    struct driver *d = *state;
    for (int round = 0; round < 2; round++) {
        int taken = 0;
        for (int i = 0; i < 1010; i++) {
            clean(d, "/fA");
            taken += driver_answered(d) == ANSWER_ACCEPTED;
        }
        assert_int_equal(taken, 1000);
        for (int i = 0; i < 3; i++) {
            d->now += 19;
            clean(d, "/fA");
            assert_int_equal(driver_answered(d), ANSWER_TOO_MANY);
            d->now += 1;
            clean(d, "/fA");
            assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
        }
        d->now += 100 * 1000;
    }
}

/* Whoever asks for the same step for ever keeps no other step waiting. */
WITH(start_driver, cleanup__repeated_takes_turns)
{
    struct driver *d = *state;
    clean(d, "/fA");
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    clean(d, "/fB");
    clean(d, "/fA");
    driver_done(d, call, FM_OK, NULL);
    assert_string_equal(step_named(d), "/fB");
    call = driver_call(d, FMCALL_END_STEP);
    driver_done(d, call, FM_OK, NULL);
    assert_string_equal(step_named(d), "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    assert_int_equal(pending(d), 0);
}

/* "Not now", said of one step, is no reason for another to wait. */
WITH(start_driver, cleanup__waits_by_itself)
{
    struct driver *d = *state;
    clean(d, "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_BUSY, NULL);
    assert_null(driver_find(d, EFFECT_CALL));
    int64_t again_ms = core_next_deadline(d->core);
    clean(d, "/fB");
    assert_string_equal(step_named(d), "/fB");
    assert_true(core_next_deadline(d->core) > again_ms); /* not while one of them is in flight */
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(core_next_deadline(d->core), again_ms);
    driver_tick(d, core_next_deadline(d->core) - d->now);
    assert_string_equal(step_named(d), "/fA");
}

/* A fabric manager that says it has ended a tree, and lists it again, is not asked in a circle. */
WITH(start_driver, cleanup__of_a_tree_that_stays_is_tried_later)
{
    struct driver *d = *state;
    static const uint16_t trees[] = {77};
    static const struct fmcall_step steps[] = {{"/fA", trees, 1}};
    clean(d, "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_REFUSED, NULL);
    steps_done(d, driver_call(d, FMCALL_STEPS), steps, 1);
    driver_done(d, driver_call(d, FMCALL_END_TREE), FM_OK, NULL);
    steps_done(d, driver_call(d, FMCALL_STEPS), steps, 1);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(pending(d), 1);
    driver_tick(d, core_next_deadline(d->core) - d->now);
    steps_done(d, driver_call(d, FMCALL_STEPS), NULL, 0);
    assert_int_equal(pending(d), 0);
}

/* A tree that has the number of one that was ended before is another one, made since. */
WITH(start_driver, cleanup__of_a_tree_with_a_former_number_is_done)
{
    struct driver *d = *state;
    static const uint16_t trees[] = {77};
    static const struct fmcall_step steps[] = {{"/fA", trees, 1}};
    clean(d, "/fA");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_REFUSED, NULL);
    for (int i = 0; i < 2; i++) {
        steps_done(d, driver_call(d, FMCALL_STEPS), steps, 1);
        driver_done(d, driver_call(d, FMCALL_END_TREE), FM_OK, NULL);
        steps_done(d, driver_call(d, FMCALL_STEPS), NULL, 0);
        assert_int_equal(pending(d), 0);
        clean(d, "/fA");
    }
}

/* One user's many jobs leave room for others'. */
FRESH(cleanup__of_many_jobs_leaves_room)
{
    struct driver *d = *state;
    d->config.total_addresses = 100000;
    d->config.addresses_per_job = 4;
    driver_up(d);
    char step[32], job[16];
    for (unsigned i = 0; i < 150; i++) {
        (void)snprintf(job, sizeof job, "j%u", i);
        driver_reserved_job(d, job);
        for (unsigned s = 0; s < 1000; s++) {
            (void)snprintf(step, sizeof step, "/f%u", s);
            DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = i + 1, .step = step, .scopes = no_scope);
        }
    }
    assert_int_equal(driver_answered(d), ANSWER_TOO_MANY);
    assert_true(pending(d) < 100000);
    driver_reserved_job(d, "other");
    DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = 151, .step = "/fA", .scopes = no_scope);
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
}

/* A wild user's cleanups keep no job from starting. */
WITH(start_driver, cleanup__leaves_the_places_to_others)
{
    struct driver *d = *state;
    driver_reserved_job(d, "b");
    driver_reserved_job(d, "c");
    int calls = 0;
    for (uint64_t number = 1; number <= 3; number++) {
        DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = number, .step = "0", .scopes = no_scope);
        calls += driver_count(d, EFFECT_CALL);
    }
    assert_int_equal(calls, 2); /* an eighth of sixteen */
    driver_reserve(d, driver_request("x", 128));
    (void)driver_call(d, FMCALL_RESERVE);
}

static int load_one(struct driver *d, const struct record *record)
{
    struct error err;
    return core_load(d->core, record, &err);
}

/* A ledger with one reserved job, and perhaps a cleanup of one of its steps. */
static void restart(struct driver *d, const char *token, bool asked)
{
    d->core = core_create(&d->config);
    const struct record records[] = {
        {.kind = RECORD_COUNTERS, .u.counters = {.last_number = 1}},
        {.kind = RECORD_FOUNDED},
        {.kind = RECORD_RESERVATION,
         .u.reservation = {.number = 1,
                           .cluster = "elcap",
                           .job = "a",
                           .token = secret_of(token),
                           .node_count = 128,
                           .addresses = 23,
                           .wish = WISH_AUTO,
                           .state = JOB_ACTIVE,
                           .hwcoll = HWCOLL_RESERVED,
                           .fm_side = FM_SIDE_THERE,
                           .created_ms = 1}},
        {.kind = RECORD_CLEANUP,
         .u.cleanup = {.number = 1, .step = "/fA", .give_up_ms = INT64_MAX}},
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0] - !asked; i++)
        assert_int_equal(load_one(d, &records[i]), 0);
    core_start(d->core, d->now);
    driver_login(d);
    static const char *const names[] = {"elcap-a"};
    driver_list(d, names, 1, FM_OK);
}

FRESH(cleanup__goes_on_after_a_restart)
{
    struct driver *d = *state;
    restart(d, "sess-a", true);
    (void)driver_call(d, FMCALL_END_STEP);
    assert_string_equal(token_shown(d), "sess-a");
    /* However the clock was set: not kept for longer than one that is asked for now. */
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_BUSY, NULL);
    driver_tick(d, d->config.cleanup_timeout_ms);
    assert_int_equal(pending(d), 0);
}

/* A crash hides whether a step's end, with the login, may still be acted on. */
FRESH(cleanup__with_the_login_hits_no_later_life_after_a_restart)
{
    struct driver *d = *state;
    d->config.cleanup_login = true;
    d->config.call_timeout_ms = 1000;
    d->config.reserve_timeout_ms = 2000;
    restart(d, "sess-a", false);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, NULL);
    driver_released_job(d, "a");
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, d->config.call_timeout_ms);
    (void)driver_call(d, FMCALL_RESERVE);
}

/* No token is no reason to take the login. */
FRESH(cleanup__without_a_token_is_given_up)
{
    struct driver *d = *state;
    restart(d, NULL, false);
    clean_within(d, "/fA", false, 5000, no_scope, 0);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(driver_answered(d), ANSWER_GIVEN_UP);
    assert_non_null(strstr(driver_answer(d)->detail, "cleanup_login"));
    assert_int_equal(pending(d), 0);
}

static void forbid_the_login(struct driver *d)
{
    d->config.cleanup_login = false;
    driver_configure(d);
}

/* Without a token the login is the only way, where the site allows it; when a reload forbids it,
 * what waits is given up and says so, and what is under way is not sent again (F5, F19). */
UNIT(cleanup__without_a_token_ends_when_a_reload_forbids_the_login)
{
    for (int in_flight = 0; in_flight < 2; in_flight++) {
        struct driver d;
        driver_init(&d);
        d.config.cleanup_login = true;
        restart(&d, NULL, false);
        driver_done(&d, driver_call(&d, FMCALL_CHECK), FM_OK, NULL);
        clean_within(&d, "/fA", false, 60000, no_scope, 0);
        uint64_t call = driver_call(&d, FMCALL_END_STEP);
        assert_null(token_shown(&d));
        if (in_flight) {
            forbid_the_login(&d);
            assert_null(driver_answer(&d));
        }
        driver_done(&d, call, FM_BUSY, NULL);
        if (!in_flight) {
            assert_int_equal(pending(&d), 1);
            forbid_the_login(&d);
            driver_tick(&d, core_next_deadline(d.core) - d.now);
        }
        assert_int_equal(driver_count(&d, EFFECT_ANSWER), 1);
        assert_int_equal(driver_answered(&d), ANSWER_GIVEN_UP);
        assert_non_null(strstr(driver_answer(&d)->detail, "no token of the job is known"));
        assert_null(driver_find(&d, EFFECT_CALL));
        assert_int_equal(pending(&d), 0);
        driver_end(&d);
    }
}

/* Without a token it is done with the login: like any step's end with it, it must be over before
 * the next life of the job has the name (F21, I6). */
UNIT(cleanup__without_a_token_hits_no_later_life)
{
    for (int lost = 0; lost < 2; lost++) {
        struct driver d;
        driver_init(&d);
        d.config.cleanup_login = true;
        d.config.call_timeout_ms = 1000;
        d.config.reserve_timeout_ms = 2000;
        restart(&d, NULL, false);
        driver_done(&d, driver_call(&d, FMCALL_CHECK), FM_OK, NULL);
        driver_tick(&d, d.config.call_timeout_ms); /* what was before the restart has settled */
        clean(&d, "/fA");
        uint64_t end_step = driver_call(&d, FMCALL_END_STEP);
        driver_released_job(&d, "a");
        driver_reserve(&d, driver_request("a", 128));
        assert_null(driver_find(&d, EFFECT_CALL));
        driver_done(&d, end_step, lost ? FM_TIMEOUT : FM_OK, NULL);
        if (lost) {
            assert_null(driver_find(&d, EFFECT_CALL));
            driver_tick(&d, d.config.call_timeout_ms);
        }
        (void)driver_call(&d, FMCALL_RESERVE);
        driver_end(&d);
    }
}

/* What metrics and status count (B8): each end once, in its own number. */
WITH(start_driver, cleanup__is_counted_by_its_end)
{
    struct driver *d = *state;
    for (int i = 1; i <= 3; i++) {
        clean(d, "/fA");
        driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
        assert_int_equal(driver_status(d).cleanups.done, i);
    }
    for (int i = 1; i <= 2; i++) {
        clean(d, "/fB");
        uint64_t call = driver_call(d, FMCALL_END_STEP);
        driver_tick(d, d->config.cleanup_timeout_ms);
        driver_done(d, call, FM_BUSY, NULL);
        assert_int_equal(pending(d), 0);
        assert_int_equal(driver_status(d).cleanups.given_up, i);
    }
    assert_int_equal(driver_status(d).cleanups.done, 3);
}

/* Who waits a millisecond waits; and many may wait when the broker stops. */
UNIT(cleanup__is_waited_for)
{
    struct driver d;
    start(&d);
    clean_within(&d, "/fA", false, 1, no_scope, 0);
    assert_null(driver_answer(&d));
    uint64_t first = d.ticket;
    clean_within(&d, "/fA", false, 60000, no_scope, 0);
    clean_within(&d, "/fA", false, 60000, no_scope, 0);
    assert_null(driver_answer(&d));
    driver_tick(&d, 1);
    assert_int_equal(driver_count(&d, EFFECT_ANSWER), 1);
    assert_int_equal(driver_answered(&d), ANSWER_PENDING);
    assert_int_equal(driver_answer(&d)->ticket, first);
    driver_end(&d); /* with two that wait */
}

WITH(start_driver, steps__are_shown_with_the_login)
{
    struct driver *d = *state;
    static const uint16_t trees[] = {77, 78};
    static const struct fmcall_step steps[] = {{"/fA", trees, 2}};
    DRIVER_ASK(d, CORE_STEPS, steps, "elcap", "a", 5000);
    uint64_t call = driver_call(d, FMCALL_STEPS);
    assert_null(token_shown(d));
    steps_done(d, call, steps, 1);
    assert_int_equal(driver_answered(d), ANSWER_STEPS);
    assert_int_equal(driver_answer(d)->steps->count, 1);
    assert_null(driver_find(d, EFFECT_SAVE));

    DRIVER_ASK(d, CORE_STEPS, steps, "elcap", "a", 5000);
    call = driver_call(d, FMCALL_STEPS);
    driver_tick(d, 5000);
    assert_int_equal(driver_answered(d), ANSWER_PENDING);
    steps_done(d, call, steps, 1);
    assert_null(driver_answer(d));

    /* It does not tell, and is not asked again. */
    DRIVER_ASK(d, CORE_STEPS, steps, "elcap", "a", 5000);
    driver_done(d, driver_call(d, FMCALL_STEPS), FM_DENIED, NULL);
    assert_int_equal(driver_answered(d), ANSWER_GIVEN_UP);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* Who waited in vain is told what for: the link, the fabric manager's answer, or its last words. */
UNIT(cleanup__pending_says_what_is_waited_for)
{
    struct driver d;
    start(&d);
    clean_within(&d, "/fA", false, 100, no_scope, 0);
    uint64_t call = driver_call(&d, FMCALL_END_STEP);
    driver_tick(&d, 100);
    assert_int_equal(driver_answered(&d), ANSWER_PENDING);
    assert_words(driver_answer(&d)->detail, "the trees are not gone yet");
    clean_within(&d, "/fA", false, 100, no_scope, 0);
    driver_done(&d, call, FM_BUSY, NULL);
    driver_tick(&d, 100);
    assert_int_equal(driver_answered(&d), ANSWER_PENDING);
    assert_words(driver_answer(&d)->detail, "the fabric manager's words; it is asked again");
    /* What it said of that step says nothing of another one. */
    clean_within(&d, "/fB", false, 100, no_scope, 0);
    call = driver_call(&d, FMCALL_END_STEP);
    driver_tick(&d, 100);
    assert_int_equal(driver_answered(&d), ANSWER_PENDING);
    assert_words(driver_answer(&d)->detail, "the trees are not gone yet");
    driver_end(&d);

    start(&d);
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, NULL, 0, FM_UNREACHED);
    clean_within(&d, "/fA", false, 100, no_scope, 0);
    driver_tick(&d, 100);
    assert_int_equal(driver_answered(&d), ANSWER_PENDING);
    assert_words(driver_answer(&d)->detail, "the link to the fabric manager is not up");
    clean_within(&d, "/fA", false, 2 * d.config.cleanup_timeout_ms, no_scope, 0);
    driver_tick(&d, d.config.cleanup_timeout_ms);
    assert_int_equal(driver_answered(&d), ANSWER_GIVEN_UP);
    assert_words(driver_answer(&d)->detail, "the link to the fabric manager was not up in time");
    driver_end(&d);
}

/* A cleanup that is soon given up is no help for what is asked now, although it would include it.
 */
WITH(start_driver, cleanup__is_not_left_to_one_that_is_nearly_given_up)
{
    struct driver *d = *state;
    clean_within(d, "/fA", true, 0, no_scope, 0);
    d->now += d->config.cleanup_timeout_ms / 2;
    clean(d, "/fA/fB");
    assert_int_equal(pending(d), 1);
    d->now += 1;
    clean(d, "/fA/fB");
    assert_int_equal(pending(d), 2);
}

/* I6: no token was ever given for what was only found, nor of what never was. */
UP(cleanup__of_what_is_not_ours_is_refused)
{
    struct driver *d = *state;
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, (const char *const[]){"elcap-77"}, 1, FM_OK);
    }
    assert_int_equal(driver_job(d, "77")->number, 1);
    assert_int_equal(driver_job(d, "77")->origin, ORIGIN_FOUND);
    d->config.cleanup_login = true;
    driver_configure(d);
    clean(d, "/fA");
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
    DRIVER_ASK(d, CORE_CLEANUP, cleanup, .number = 99, .step = "/fA", .scopes = no_scope);
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
}

/* What is done counts no more for how many a job may ask, however often it was tried. */
WITH(start_driver, cleanup__that_is_done_leaves_room)
{
    struct driver *d = *state;
    for (int i = 0; i < 5; i++) {
        clean(d, "/fA");
        driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    }
    clean(d, "/fB");
    for (int pause = 500; pause <= 2000; pause *= 2) { /* put last */
        driver_done(d, driver_call(d, FMCALL_END_STEP), FM_BUSY, NULL);
        driver_tick(d, pause);
    }
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_BUSY, NULL);
    clean(d, "/fC"); /* put first */
    assert_string_equal(step_named(d), "/fC");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    assert_int_equal(pending(d), 1);
    for (int i = 1; i <= 1000; i++) {
        char step[16];
        (void)snprintf(step, sizeof step, "%d", i);
        driver_tick(d, 20);
        clean(d, step);
        assert_int_equal(driver_answered(d), i < 1000 ? ANSWER_ACCEPTED : ANSWER_TOO_MANY);
    }
}

/* Nobody waits for it any more when the link is up at last: it is not asked. */
WITH(start_driver, steps__are_not_asked_for_when_nobody_waits)
{
    struct driver *d = *state;
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_UNREACHED);
    DRIVER_ASK(d, CORE_STEPS, steps, "elcap", "a", 100);
    assert_null(driver_answer(d));
    driver_tick(d, 100);
    assert_int_equal(driver_answered(d), ANSWER_PENDING);
    driver_tick(d, core_next_deadline(d->core) - d->now);
    driver_login(d);
    static const char *const names[] = {"elcap-a"};
    driver_list(d, names, 1, FM_OK);
    assert_int_equal(driver_count(d, EFFECT_CALL), 1);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-1");
    assert_null(driver_find(d, EFFECT_CALL));
}

/* Whoever looks at a job whose cleanups fail waits for no cleanup. */
WITH(start_driver, steps__are_shown_before_what_fails)
{
    struct driver *d = *state;
    clean(d, "0");
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_BUSY, NULL);
    DRIVER_ASK(d, CORE_STEPS, steps, "elcap", "a", 5000);
    steps_done(d, driver_call(d, FMCALL_STEPS), NULL, 0);
    assert_int_equal(driver_answered(d), ANSWER_STEPS);
    assert_int_equal(pending(d), 1);
    driver_tick(d, core_next_deadline(d->core) - d->now);
    uint64_t call = driver_call(d, FMCALL_END_STEP);
    /* And while one is under way, next. */
    clean(d, "1");
    DRIVER_ASK(d, CORE_STEPS, steps, "elcap", "a", 5000);
    driver_done(d, call, FM_OK, NULL);
    steps_done(d, driver_call(d, FMCALL_STEPS), NULL, 0);
    driver_done(d, driver_call(d, FMCALL_END_STEP), FM_OK, NULL);
    assert_int_equal(pending(d), 0);
}

UNIT_RUN(NULL, NULL)
