/* SPDX-License-Identifier: Apache-2.0 */
/* Short stories with a known end: what the simulator meets by chance, once each and in full view.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/reservation/reservation.h"
#include "tests/sim/script.h"

static void said_at(const struct script *s, const char *text, bool expected, int line)
{
    if (script_said(s, text) == expected)
        return;
    print_error("line %d: \"%s\" was %ssaid; the step said:\n%s", line, text,
                expected ? "not " : "", s->text);
    fail();
}
#define SAID(text) said_at(s, text, true, __LINE__)
#define NOT_SAID(text) said_at(s, text, false, __LINE__)

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static int begin(void **state)
{
    struct script *s = malloc(sizeof *s);
    if (!s)
        return -1;
    script_init(s);
    *state = s;
    return 0;
}

static int finish(void **state)
{
    struct script *s = *state;
    script_release(s);
    free(s);
    return 0;
}

/* Booted, the link is up, the fabric manager empty. */
static struct script *up(void **state)
{
    struct script *s = *state;
    script_boot(s);
    SAID("login");
    script_come_up(s, NULL);
    SAID("listing -> up");
    return s;
}

/* … and job 17 has 23 addresses. */
static struct script *up_with_job(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    SAID("save 1 active wanted maybe");
    SAID("call reserve elcap-17 23");
    NOT_SAID("answer");
    script_done(s, "reserve elcap-17", FM_OK);
    SAID("answer created 1 reserved [1024]");
    SAID("event reserved 1");
    return s;
}

static const struct reservation *job(const struct script *s, const char *id)
{
    return core_find(s->core, "elcap", id);
}

/* A cancel overtakes the prolog. */
static void release__before_reserve_refuses_it_once(void **state)
{
    struct script *s = up(state);
    script_release_job(s, "17");
    SAID("answer not-found");
    script_reserve(s, "17", 128);
    SAID("its release came before its reserve -> not reserved");
    SAID("answer released-before-reserve");
    NOT_SAID("save");
    NOT_SAID("call");
    script_reserve(s, "17", 128); /* it really starts */
    SAID("call reserve elcap-17 23");
}

static void release__tombstone_fades(void **state)
{
    struct script *s = up(state);
    script_release_job(s, "17");
    script_wait(s, s->config.tombstone_ms + 1);
    script_reserve(s, "17", 128);
    SAID("save 1 active wanted maybe");
}

/* F18: the fabric manager is not asked first; the job that waits is told. */
static void release__while_the_reserve_is_under_way(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    script_release_job(s, "17");
    SAID("answer released-meanwhile");
    SAID("answer accepted 1");
    SAID("save 1 releasing");
    script_done(s, "reserve elcap-17", FM_OK);
    SAID("call release elcap-17");
    script_done(s, "release elcap-17", FM_OK);
    assert_false(script_calling(s, "release elcap-17"));
    script_wait(s, s->config.vni_hold_ms);
    assert_null(job(s, "17"));
}

/* A requeued Slurm job keeps its id: the new life waits until the name is free (F20). */
static void requeue__waits_for_the_old_one(void **state)
{
    struct script *s = up_with_job(state);
    script_release_job(s, "17");
    SAID("call release elcap-17");
    script_reserve(s, "17", 128);
    SAID("save 2 active wanted maybe");
    NOT_SAID("call reserve");
    NOT_SAID("answer");
    script_done(s, "release elcap-17", FM_OK);
    SAID("call reserve elcap-17 23");
    script_done(s, "reserve elcap-17", FM_OK);
    SAID("answer created 2 reserved [1025]"); /* F3: 1024 is quarantined */
}

/* F21: given up in time, and what comes late is given back. */
static void timeout__late_success_is_released(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    script_wait(s, s->config.reserve_timeout_ms - 1);
    NOT_SAID("answer");
    script_wait(s, 1);
    SAID("answer created 1 timeout [1024]");
    SAID("event timeout 1");
    script_done(s, "reserve elcap-17", FM_OK);
    SAID("reserved late, no longer wanted -> release");
    SAID("call release elcap-17");
    script_done(s, "release elcap-17", FM_OK);
    assert_int_equal(job(s, "17")->fm_side, FM_SIDE_NOTHING);
    assert_int_equal(job(s, "17")->state, JOB_ACTIVE);
}

/* A call that got no answer at all may be acted on after a first look: it is looked for again. */
static void timeout__release_is_repeated_until_nothing_can_come(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    script_wait(s, s->config.reserve_timeout_ms);
    script_wait(s, s->config.call_timeout_ms - s->config.reserve_timeout_ms);
    script_done(s, "reserve elcap-17", FM_TIMEOUT);
    SAID("call release elcap-17");
    script_done(s, "release elcap-17", FM_GONE); /* too early to be believed */
    assert_int_not_equal(job(s, "17")->fm_side, FM_SIDE_NOTHING);
    script_wait(s, s->config.call_timeout_ms);
    SAID("call release elcap-17");
    script_done(s, "release elcap-17", FM_OK); /* there it was */
    assert_int_equal(job(s, "17")->fm_side, FM_SIDE_NOTHING);
}

/* F20: jobs start without; the release is remembered and done when it is back. */
static void outage__during_a_reserve(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    script_done(s, "reserve elcap-17", FM_BROKEN);
    NOT_SAID("event link-down"); /* one call that breaks may be about its object */
    script_wait(s, 250);
    script_done(s, "reserve elcap-17", FM_UNREACHED);
    SAID("answer created 1 unavailable [1024]");
    SAID("event link-down 0");
    script_reserve(s, "18", 128);
    SAID("answer created 2 unavailable [1025]"); /* not a moment's wait */
    script_release_job(s, "17");
    SAID("answer accepted 1");
    NOT_SAID("call");
    script_wait(s, s->config.link_retry_ms);
    SAID("login");
    script_come_up(s, NAMES("elcap-17"));
    SAID("call release elcap-17"); /* it may have been made, and it was */
}

/* F22: exactly once, also across a restart. */
static void lost__found_after_a_restart_is_told_once(void **state)
{
    struct script *s = up_with_job(state);
    script_crash(s);
    script_boot(s);
    assert_int_equal(job(s, "17")->hwcoll, HWCOLL_RESERVED);
    script_come_up(s, NULL);
    SAID("call check elcap-17");
    NOT_SAID("event lost");
    script_done(s, "check elcap-17", FM_GONE);
    SAID("says that it has no such reservation -> asked again in 30 s");
    NOT_SAID("event lost"); /* B11: one answer loses nothing */
    script_wait(s, s->config.stray_grace_ms);
    SAID("list");
    script_list(s, NULL, FM_OK);
    script_done(s, "check elcap-17", FM_GONE);
    SAID("event lost 1");
    SAID("save 1 active lost nothing");
    script_crash(s);
    script_boot(s);
    script_come_up(s, NULL);
    NOT_SAID("lost");
    NOT_SAID("call");
}

/* A page shifted while the list was read: asked by name, it is there. */
static void lost__not_when_only_the_list_lacked_it(void **state)
{
    struct script *s = up_with_job(state);
    script_wait(s, s->config.relist_ms);
    SAID("list");
    script_list(s, NULL, FM_OK);
    SAID("call check elcap-17");
    script_done(s, "check elcap-17", FM_OK);
    NOT_SAID("lost");
    assert_int_equal(job(s, "17")->hwcoll, HWCOLL_RESERVED);
}

/* An old state came back: the name is there, the job's token does not open it (F22). */
static void lost__another_token_under_its_name(void **state)
{
    struct script *s = up_with_job(state);
    script_wait(s, s->config.relist_ms);
    script_list(s, NAMES("elcap-17"), FM_OK);
    SAID("call check elcap-17");
    s->token = "another";
    script_done(s, "check elcap-17", FM_OK);
    NOT_SAID("event lost");
    script_wait(s, s->config.stray_grace_ms);
    script_list(s, NAMES("elcap-17"), FM_OK);
    script_done(s, "check elcap-17", FM_OK);
    SAID("event lost 1");
    SAID("ALARM name-conflict of cluster elcap");
    NOT_SAID("call release"); /* it may be another broker's (B11) */
}

/* A no to the second try says nothing of the first one (I3). */
static void denied__after_an_unanswered_try_is_released(void **state)
{
    struct script *s = up(state);
    s->config.reserve_timeout_ms = 60000;
    script_configure(s, "1024-1031");
    script_reserve(s, "17", 128);
    script_done(s, "reserve elcap-17", FM_TIMEOUT);
    script_wait(s, s->config.call_timeout_ms + 1000);
    SAID("call reserve elcap-17 23");
    script_done(s, "reserve elcap-17", FM_DENIED);
    SAID("answer created 1 denied [1024]");
    SAID("call release elcap-17");
    script_done(s, "release elcap-17", FM_OK); /* the first one had been acted on */
    assert_int_equal(job(s, "17")->fm_side, FM_SIDE_NOTHING);
}

/* F20: an old state came back with a job that is over. One look makes a suspicion, the second, a
 * grace period later, a deletion. */
static void stray__needs_two_looks(void **state)
{
    struct script *s = up_with_job(state);
    script_release_job(s, "17");
    script_done(s, "release elcap-17", FM_OK);
    script_wait(s, s->config.relist_ms);
    SAID("list");
    script_list(s, NAMES("elcap-17"), FM_OK);
    NOT_SAID("call");
    script_wait(s, s->config.stray_grace_ms);
    SAID("list");
    script_list(s, NAMES("elcap-17"), FM_OK);
    SAID("call check elcap-17");
    script_done(s, "check elcap-17", FM_OK);
    SAID("elcap-17: the fabric manager lists it with the session token of a job that is over -> "
         "delete");
    SAID("call release elcap-17");
}

/* B11, I3: another broker's job may have the id of one that is over here. */
static void stray__of_another_with_an_id_of_ours_is_left_alone(void **state)
{
    struct script *s = up_with_job(state);
    script_release_job(s, "17");
    script_done(s, "release elcap-17", FM_OK);
    script_wait(s, s->config.relist_ms);
    script_list(s, NAMES("elcap-17"), FM_OK);
    script_wait(s, s->config.stray_grace_ms);
    script_list(s, NAMES("elcap-17"), FM_OK);
    s->token = "sess-another";
    script_done(s, "check elcap-17", FM_OK);
    SAID("ALARM name-conflict of cluster elcap");
    NOT_SAID("call");
    script_wait(s, s->config.relist_ms);
    script_list(s, NAMES("elcap-17"), FM_OK);
    NOT_SAID("call");
}

/* B11: what the ledger never knew may be another broker's. */
static void stray__of_another_is_left_alone(void **state)
{
    struct script *s = up(state);
    script_wait(s, s->config.relist_ms);
    script_list(s, NAMES("elcap-99"), FM_OK);
    NOT_SAID("call");
    script_wait(s, s->config.stray_grace_ms);
    SAID("list");
    script_list(s, NAMES("elcap-99"), FM_OK);
    SAID("fabric manager lists elcap-99, this ledger has no record of it -> taken for active");
    SAID("ALARM name-conflict of cluster elcap");
    NOT_SAID("call");
    script_release_job(s, "99");
    NOT_SAID("call");
}

/* A list that was cut short neither loses a reservation nor confirms a stray. */
static void list__partial_concludes_nothing(void **state)
{
    struct script *s = up_with_job(state);
    script_wait(s, s->config.relist_ms);
    script_list(s, NAMES("elcap-99", "elcap-17"), FM_OK);
    script_wait(s, s->config.stray_grace_ms);
    SAID("list");
    script_list(s, NAMES("elcap-99"), FM_BUSY);
    SAID("the list was not whole: cut short -> nothing concluded");
    NOT_SAID("call");
    NOT_SAID("event");
}

/* B4: names of others begin with ours, ours with theirs. */
static void list__foreign_names_are_left_alone(void **state)
{
    struct script *s = up(state);
    static const char *const foreign[] = {"elcap22-17", "elca-17",  "elcap",     "elcap-",
                                          "ELCAP-17",   "elcap 17", "elcap-a b", NULL};
    struct core_status status;
    for (int look = 0; look < 4; look++) {
        script_wait(s, s->config.relist_ms);
        SAID("list");
        script_list(s, foreign, FM_OK);
        NOT_SAID("call");
        core_status(s->core, &status);
        assert_int_equal(status.strays, 0);
    }
}

/* 409 after a try that got no answer: what sits under our name is that try's and released first;
 * the job gets its own within its time. */
static void exists__is_cleared_then_reserved(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    script_done(s, "reserve elcap-17", FM_BUSY);
    script_wait(s, 250);
    script_done(s, "reserve elcap-17", FM_EXISTS);
    SAID("the fabric manager has one under this name already -> release it first");
    SAID("call release elcap-17");
}

/* 409 to the first try: it is another's (B11). */
static void exists__of_another_is_denied(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    script_done(s, "reserve elcap-17", FM_EXISTS);
    SAID("answer created 1 denied [1024]");
    SAID("ALARM name-conflict of cluster elcap");
    NOT_SAID("call");
}

/* F5: a running job keeps its VNI, and a VNI outside the pool never comes back to it. */
static void pool__shrinks_with_a_job_running(void **state)
{
    struct script *s = up_with_job(state);
    struct core_status status;
    script_configure(s, "2000-2001");
    core_status(s->core, &status);
    assert_int_equal(status.vnis_free, 2);
    assert_int_equal(status.vnis_live, 1);
    assert_int_equal(job(s, "17")->vnis[0], 1024);
    script_crash(s);
    script_boot(s);
    assert_int_equal(job(s, "17")->vnis[0], 1024);
    script_come_up(s, NAMES("elcap-17"));
    script_done(s, "check elcap-17", FM_OK);
    script_release_job(s, "17");
    script_done(s, "release elcap-17", FM_OK);
    script_wait(s, s->config.vni_hold_ms);
    core_status(s->core, &status);
    assert_int_equal(status.vnis_free, 2);
    assert_int_equal(status.vnis_live + status.vnis_in_quarantine, 0);
    script_reserve(s, "18", 1);
    SAID("answer created 2 ineligible [2000]");
}

/* F3: across a crash a released VNI stays quarantined; the time begins again, for how long the
 * broker was away only a clock could tell that may have been set. */
static void hold__survives_a_crash(void **state)
{
    struct script *s = up(state);
    struct core_status status;
    script_reserve(s, "17", 1);
    script_release_job(s, "17");
    script_wait(s, s->config.vni_hold_ms / 2);
    script_crash(s);
    script_boot(s);
    core_status(s->core, &status);
    assert_int_equal(status.vnis_in_quarantine, 1);
    script_wait(s, s->config.vni_hold_ms / 2);
    core_status(s->core, &status);
    assert_int_equal(status.vnis_in_quarantine, 1);
    script_wait(s, s->config.vni_hold_ms / 2);
    core_status(s->core, &status);
    assert_int_equal(status.vnis_free, 8);
    script_wait(s, s->config.call_timeout_ms); /* for calls of the life before the crash */
    assert_null(job(s, "17"));
    assert_int_equal(s->disk.reservation_count, 0);
}

/* The intent is on disk, the process died: whatever became of the call, nothing is left. */
static void crash__between_intent_and_answer(void **state)
{
    struct script *s = up(state);
    script_reserve(s, "17", 128);
    script_crash(s);
    script_boot(s);
    script_come_up(s, NAMES("elcap-17")); /* it was made, its token is lost */
    script_release_job(s, "17");
    SAID("answer accepted 1");
    SAID("save 1 releasing");
    while (!script_calling(s, "release elcap-17"))
        script_done(s, "reserve elcap-17", FM_EXISTS);
    script_wait(s, s->config.call_timeout_ms); /* the old call can no longer be acted on */
    script_done(s, "release elcap-17", FM_OK);
    while (script_calling(s, "release elcap-17"))
        script_done(s, "release elcap-17", FM_GONE);
    script_wait(s, s->config.call_timeout_ms + s->config.vni_hold_ms);
    while (script_calling(s, "release elcap-17"))
        script_done(s, "release elcap-17", FM_GONE);
    script_wait(s, s->config.call_timeout_ms + s->config.vni_hold_ms);
    assert_null(job(s, "17"));
    assert_int_equal(s->disk.reservation_count, 0);
}

/* A repeated reserve is a sign of life: an older sync does not count against it any more (I3). */
static void sync__repeated_reserve_clears_the_suspicion(void **state)
{
    struct script *s = up_with_job(state);
    script_sync(s, NULL);
    script_wait(s, s->config.sync_grace_ms);
    script_reserve(s, "17", 128);
    SAID("answer same 1 reserved [1024]");
    script_sync(s, NULL); /* listed before that start: it lacks nothing */
    NOT_SAID("save");
    script_wait(s, s->config.sync_grace_ms);
    script_sync(s, NULL); /* the first that lacks it */
    NOT_SAID("save");
    script_wait(s, s->config.sync_grace_ms);
    script_sync(s, NULL);
    SAID("did not name it twice in a row -> inactive, released");
}

int main(void)
{
#define SCENARIO(name) cmocka_unit_test_setup_teardown(name, begin, finish)
    const struct CMUnitTest tests[] = {
        SCENARIO(release__before_reserve_refuses_it_once),
        SCENARIO(release__tombstone_fades),
        SCENARIO(release__while_the_reserve_is_under_way),
        SCENARIO(requeue__waits_for_the_old_one),
        SCENARIO(timeout__late_success_is_released),
        SCENARIO(timeout__release_is_repeated_until_nothing_can_come),
        SCENARIO(outage__during_a_reserve),
        SCENARIO(lost__found_after_a_restart_is_told_once),
        SCENARIO(lost__not_when_only_the_list_lacked_it),
        SCENARIO(lost__another_token_under_its_name),
        SCENARIO(denied__after_an_unanswered_try_is_released),
        SCENARIO(stray__needs_two_looks),
        SCENARIO(stray__of_another_is_left_alone),
        SCENARIO(stray__of_another_with_an_id_of_ours_is_left_alone),
        SCENARIO(list__partial_concludes_nothing),
        SCENARIO(list__foreign_names_are_left_alone),
        SCENARIO(exists__is_cleared_then_reserved),
        SCENARIO(exists__of_another_is_denied),
        SCENARIO(pool__shrinks_with_a_job_running),
        SCENARIO(hold__survives_a_crash),
        SCENARIO(crash__between_intent_and_answer),
        SCENARIO(sync__repeated_reserve_clears_the_suspicion),
    };
    return cmocka_run_group_tests_name("scenarios", tests, NULL, NULL);
}
