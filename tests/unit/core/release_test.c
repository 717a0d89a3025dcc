/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* F18, I5: answered in the very step, whatever the fabric manager does. */
UP(release__never_waits_for_the_fabric_manager)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    assert_int_equal(driver_events(d, EVENT_RELEASED), 1);
    uint64_t call = driver_call(d, FMCALL_RELEASE);
    driver_release(d, "a"); /* twice: both resource managers do */
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    driver_done(d, call, FM_OK, NULL);
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_ALREADY_GONE);
}

/* B6: one answer a request, and no word of a cluster that nobody configured is remembered. */
UP(release__of_an_unconfigured_cluster_is_answered_once)
{
    struct driver *d = *state;
    driver_step(d, (struct core_event){.kind = CORE_RELEASE,
                                       .ticket = 7,
                                       .u.release = {.cluster = "elsewhere", .job = "a"}});
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 1);
    assert_int_equal(driver_answered(d), ANSWER_NO_CLUSTER);
    assert_int_equal(driver_answer(d)->ticket, 7);
    assert_string_equal(driver_answer(d)->detail,
                        "no cluster \"elsewhere\" is configured; there are elcap, elcap2");
    /* Of a configured one it is remembered, and answered once, too. */
    driver_release(d, "a");
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 1);
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
}

static int release_number(struct driver *d, const char *job, uint64_t number)
{
    DRIVER_ASK(d, CORE_RELEASE, release, .cluster = "elcap", .job = job, .number = number);
    return driver_answered(d);
}

/* F18, B5: of the life that is named alone. One that began since under the name lives on. */
UP(release__of_a_number_leaves_later_lives_alone)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    const uint64_t first = driver_job(d, "a")->number;
    assert_int_equal(release_number(d, "a", first + 1), ANSWER_OTHER_LIFE);
    assert_string_equal(driver_answer(d)->detail,
                        "job a of elcap has reservation 1, not 2: nothing was released");
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    assert_int_equal(release_number(d, "a", first), ANSWER_ACCEPTED);
    assert_int_equal(driver_answer(d)->reservation->number, first);
    /* The same again, when the job has begun anew: that life is released already. */
    driver_reserve(d, driver_request("a", 2));
    const uint64_t second = driver_job(d, "a")->number;
    assert_int_not_equal(second, first);
    assert_int_equal(release_number(d, "a", first), ANSWER_ACCEPTED);
    assert_int_equal(driver_answer(d)->reservation->number, first);
    assert_int_equal(driver_events(d, EVENT_RELEASED), 0);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    assert_int_equal(release_number(d, "a", second), ANSWER_ACCEPTED);
    assert_int_equal(driver_job(d, "a")->state, JOB_RELEASING);
}

/* Of another job's number nothing is taken, and no reserve is refused because of it later. */
UP(release__of_a_number_that_no_life_has_is_remembered_by_nobody)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    assert_int_equal(release_number(d, "b", driver_job(d, "a")->number), ANSWER_NOT_FOUND);
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    driver_reserve(d, driver_request("b", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* What was wiped last (the linker's --wrap). */
static char wiped[64];

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */
void __real_explicit_bzero(void *memory, size_t size);
void __wrap_explicit_bzero(void *memory, size_t size);

void __wrap_explicit_bzero(void *memory, size_t size)
{
    (void)snprintf(wiped, sizeof wiped, "%.*s", (int)size, (const char *)memory);
    __real_explicit_bzero(memory, size);
}
/* NOLINTEND(readability-identifier-naming) */

/* B8: nobody needs the job's token any more. */
UP(release__wipes_the_token)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    wiped[0] = '\0';
    driver_release(d, "a");
    assert_string_equal(wiped, "sess-a");
    assert_true(secret_none(driver_job(d, "a")->token));
}

/* F18: when it was released is on disk and shown; of an active job there is no such time. */
UP(release__is_recorded_with_its_time)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    const int64_t created = d->now;
    assert_int_equal(driver_job(d, "a")->released_ms, 0);
    d->now += 12345;
    driver_release(d, "a");
    const struct effect *saved = driver_find(d, EFFECT_SAVE);
    assert_non_null(saved);
    assert_int_equal(saved->u.record.kind, RECORD_RESERVATION);
    assert_int_equal(saved->u.record.u.reservation.released_ms, d->now);
    assert_int_equal(saved->u.record.u.reservation.created_ms, created);
    assert_int_equal(saved->u.record.u.reservation.hold_until_ms, d->now + d->config.vni_hold_ms);
    assert_int_equal(driver_job(d, "a")->released_ms, d->now);
    /* The second release, and what the fabric manager answers, do not change it. */
    const int64_t released = d->now;
    uint64_t call = driver_call(d, FMCALL_RELEASE);
    d->now += 1000;
    driver_release(d, "a");
    driver_done(d, call, FM_OK, NULL);
    assert_int_equal(driver_job(d, "a")->released_ms, released);
}

/* The intent is on disk, and was never sent: nothing can be there, and nothing is to be released.
 */
STARTED(release__of_what_was_never_asked_for_asks_for_nothing)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_MAYBE);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_release(d, "a");
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
    DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = true);
    driver_list(d, NULL, 0, FM_OK);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, d->config.vni_hold_ms);
    assert_null(driver_job(d, "a"));
}

/* F3: quarantined for the configured time, then free, then gone. */
UP(release__holds_vnis_back)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 2));
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(core_next_deadline(d->core), d->now + d->config.vni_hold_ms);
    driver_tick(d, d->config.vni_hold_ms - 1);
    assert_int_equal(driver_held(d), 1);
    driver_tick(d, 1);
    assert_int_equal(driver_held(d), 0);
    assert_null(driver_job(d, "a"));
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_ALREADY_GONE);
}

/* A fabric manager that is down for a day must not use up the pool. */
UP(release__vnis_come_back_although_the_manager_is_down)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_UNREACHED, NULL);
    driver_tick(d, d->config.vni_hold_ms);
    driver_tick(d, 1);
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
    assert_int_equal(driver_job(d, "a")->vni_count, 0);
}

/* The release comes first. The reserve it overtook takes nothing; a job that
 * really starts again under its old id gets its own. */
UP(release__before_reserve_is_remembered)
{
    struct driver *d = *state;
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
    driver_reserve(d, driver_request("a", 128));
    assert_int_equal(driver_answered(d), ANSWER_OVERTAKEN);
    assert_null(driver_job(d, "a"));
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

UP(release__before_reserve_is_forgotten_in_time)
{
    struct driver *d = *state;
    driver_release(d, "a");
    driver_tick(d, d->config.tombstone_ms);
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* Cancel during a slow prolog: the reserve is still waiting for the fabric manager. */
UP(release__while_the_reserve_waits)
{
    struct driver *d = *state;
    size_t count;
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_release(d, "a");
    const struct effect *effects = core_effects(d->core, &count);
    int released = 0, accepted = 0;
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind != EFFECT_ANSWER)
            continue;
        released += effects[i].u.answer.kind == ANSWER_RELEASED;
        accepted += effects[i].u.answer.kind == ANSWER_ACCEPTED;
    }
    assert_int_equal(released, 1);
    assert_int_equal(accepted, 1);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_done(d, call, FM_OK, "sess-late");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
}

/* The first try gave no answer and may yet be acted on, the second met something else (409). What
 * is saved of the release must not say that all is known: after a crash it would count a RELEASE
 * that was sent too early, and the first try's object would stay (docs/model). */
UP(release__remembers_a_first_try_beside_what_was_in_its_way)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_TIMEOUT, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_EXISTS, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
    driver_release(d, "a");
    const struct effect *saved = driver_find(d, EFFECT_SAVE);
    assert_non_null(saved);
    assert_int_equal(saved->u.record.kind, RECORD_RESERVATION);
    assert_int_equal(saved->u.record.u.reservation.fm_side, FM_SIDE_MAYBE);
}

/* A requeued Slurm job keeps its id: the new life waits until the old one is gone. */
UP(release__same_id_again_while_the_old_one_is_deleted)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    uint64_t old = driver_job(d, "a")->number;
    uint16_t old_vni = driver_job(d, "a")->vnis[0];
    driver_release(d, "a");
    uint64_t call = driver_call(d, FMCALL_RELEASE);
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_find(d, EFFECT_CALL)); /* the name is not free yet */
    driver_done(d, call, FM_OK, NULL);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-2");
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_true(driver_job(d, "a")->number > old);
    assert_int_not_equal(driver_job(d, "a")->vnis[0], old_vni);
    assert_string_equal(secret_expose(driver_job(d, "a")->token), "sess-2");
}

/* A RELEASE that was not answered may be acted on late, and would take the new life with it. */
UP(release__unanswered_lets_the_name_rest)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    uint64_t call = driver_call(d, FMCALL_RELEASE);
    d->now += 10000;
    driver_done(d, call, FM_TIMEOUT, NULL);
    int64_t rests_until = d->now + d->config.call_timeout_ms;
    driver_tick(d, 500);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    d->now = rests_until - 1000;
    driver_reserve(d, driver_request("a", 128));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, 999);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, 1);
    (void)driver_call(d, FMCALL_RESERVE);
}

/* Released while it was being asked for by name: it still ends. */
/* I8: its job is there again and waits for its end. A list that names the job names it, too. */
UP(release__in_doubt_is_listed_under_the_name_of_the_next_life)
{
    static const char *const names[] = {"elcap-a"};
    struct driver *d = *state;
    d->config.reserve_timeout_ms = INT64_C(300) * 1000;
    d->config.relist_ms = 10 * 1000;
    driver_configure(d);
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_NOT_ROUTED, NULL);
    driver_reserve(d, driver_request("a", 128));
    int lists = 0;
    for (int i = 0; i < 200; i++) {
        driver_tick(d, 1000);
        const struct effect *call = driver_find(d, EFFECT_CALL);
        const bool listing = driver_find(d, EFFECT_LIST);
        const uint64_t release = call ? call->u.call.id : 0;
        if (listing)
            driver_list(d, names, 1, FM_OK);
        if (release != 0)
            driver_done(d, release, FM_NOT_ROUTED, NULL);
        lists += listing;
    }
    assert_true(lists >= 3);
    assert_non_null(driver_job(d, "a")->older);
    assert_int_not_equal(driver_job(d, "a")->older->fm_side, FM_SIDE_NOTHING);
}

/* F21: the list has it, and a ledger that has not would take it for a stray. A list that is not
 * whole ends it, too. */
UP(release__during_a_list_is_remembered_to_its_end)
{
    static const char *const names[] = {"elcap-a"};
    struct driver *d = *state;
    for (int whole = 0; whole < 2; whole++) {
        driver_set_hold(d, d->config.relist_ms);
        driver_reserved_job(d, "a");
        driver_tick(d, core_next_deadline(d->core) - d->now);
        const uint64_t list = driver_find(d, EFFECT_LIST)->u.list.id;
        driver_set_hold(d, 0);
        driver_released_job(d, "a");
        assert_non_null(driver_job(d, "a"));
        DRIVER_STEP(d, CORE_LIST_NAMES, names, .list = list, .names = names, .count = 1);
        DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = whole ? FM_OK : FM_BUSY);
        assert_null(driver_job(d, "a"));
    }
}

UP(release__of_a_doubted_one_ends)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    uint64_t check = driver_call(d, FMCALL_CHECK);
    driver_release(d, "a");
    driver_done(d, check, FM_BUSY, NULL);
    uint64_t release = driver_call(d, FMCALL_RELEASE);
    driver_tick(d, d->config.vni_hold_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, release, FM_BUSY, NULL);
    driver_tick(d, core_next_deadline(d->core) - d->now);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    driver_tick(d, d->config.call_timeout_ms);
    assert_null(driver_job(d, "a"));
}

UP(release__is_tried_until_it_is_done)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    uint64_t call = driver_call(d, FMCALL_RELEASE);
    for (int i = 0; i < 20; i++) {
        driver_done(d, call, i % 2 ? FM_BUSY : FM_DENIED, NULL);
        int64_t wait = core_next_deadline(d->core) - d->now;
        assert_true(wait > 0 && wait <= 30 * 1000);
        driver_tick(d, wait);
        if (!driver_find(d, EFFECT_CALL))
            driver_tick(d, core_next_deadline(d->core) - d->now);
        call = driver_call(d, FMCALL_RELEASE);
    }
    driver_done(d, call, FM_GONE, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_NOTHING);
}

UNIT_RUN(NULL, NULL)
