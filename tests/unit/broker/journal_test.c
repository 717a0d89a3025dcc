/* SPDX-License-Identifier: Apache-2.0 */
/* Save before speaking (architecture.md; B6, I2): no word leaves before its records are durable. */

#include "tests/unit/unit.h"

#include "broker/journal.h"
#include "broker/log/log.h"
#include "broker/turn.h"
#include "tests/unit/broker/gate.h"

struct desk {
    uv_loop_t loop;
    struct gate gate;
    struct journal *journal;
    struct turn turn;
    const char *doing; /* what the turn was said to do when the last word came out */
    char said[512];    /* "A1 E2 A3!io " in order; ! and the code when refused */
    unsigned flushes, closed;
    unsigned commits_at_first; /* commits begun when the first word came out */
    bool deposed;
    void (*on_effect)(struct desk *desk, const struct effect *effect);
    char call[64]; /* the last one, whole */
};

static uint64_t mark_of(const struct effect *effect)
{
    return effect->kind == EFFECT_ANSWER  ? effect->u.answer.ticket
           : effect->kind == EFFECT_EVENT ? effect->u.event->seq
                                          : effect->u.call.id;
}

static void perform(void *arg, const struct effect *effect, int code)
{
    struct desk *desk = arg;
    size_t length = strlen(desk->said);
    desk->doing = desk->turn.what;
    if (length == 0)
        desk->commits_at_first = desk->gate.commits;
    (void)snprintf(desk->said + length, sizeof desk->said - length, "%c%llu%s%s ",
                   effect->kind == EFFECT_ANSWER  ? 'A'
                   : effect->kind == EFFECT_EVENT ? 'E'
                                                  : 'C',
                   (unsigned long long)mark_of(effect), code != 0 ? "!" : "",
                   code != 0 ? error_word(code) : "");
    if (effect->kind == EFFECT_CALL)
        (void)snprintf(
            desk->call, sizeof desk->call, "%d %s %u %s %u %s", effect->u.call.kind,
            effect->u.call.about.name, effect->u.call.about.addresses,
            effect->u.call.about.step ? effect->u.call.about.step : "-", effect->u.call.about.tree,
            secret_none(effect->u.call.about.token) ? "-"
                                                    : secret_expose(effect->u.call.about.token));
    if (desk->on_effect)
        desk->on_effect(desk, effect);
}

static void on_flushed(void *arg)
{
    ((struct desk *)arg)->flushes++;
}

static void on_deposed(void *arg)
{
    ((struct desk *)arg)->deposed = true;
}

static void on_closed(void *arg)
{
    ((struct desk *)arg)->closed++;
}

/* The store goes on by itself with what it is offered. */
static bool takes;

static int takes_what_is_offered(void **state)
{
    takes = true;
    return 0;
}

static int open_desk(void **state)
{
    static struct desk desk;
    memset(&desk, 0, sizeof desk);
    log_set_level(-1);
    assert_int_equal(uv_loop_init(&desk.loop), 0);
    turn_init(&desk.turn, &desk.loop);
    gate_init(&desk.gate, false);
    desk.gate.takes = takes;
    struct journal_sink sink = {.arg = &desk,
                                .turn = &desk.turn,
                                .perform = perform,
                                .flushed = on_flushed,
                                .deposed = on_deposed};
    struct error err;
    desk.journal = journal_create(&desk.loop, &desk.gate.store, &sink, &err);
    assert_non_null(desk.journal);
    *state = &desk;
    return 0;
}

static int close_desk(void **state)
{
    struct desk *desk = *state;
    journal_destroy(desk->journal, on_closed, desk);
    gate_release(&desk->gate);
    while (desk->closed == 0)
        (void)uv_run(&desk->loop, UV_RUN_ONCE);
    (void)uv_run(&desk->loop, UV_RUN_NOWAIT);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
    return 0;
}

static void save(struct desk *desk, uint64_t number)
{
    struct record record = {.kind = RECORD_GONE, .u.gone = number};
    journal_save(desk->journal, &record);
}

static void say(struct desk *desk, enum effect_kind kind, uint64_t mark)
{
    const struct event_record event = {.seq = mark};
    struct effect effect = {.kind = kind};
    if (kind == EFFECT_ANSWER)
        effect.u.answer.ticket = mark;
    else if (kind == EFFECT_EVENT)
        effect.u.event = &event;
    else
        effect.u.call.id = mark;
    journal_defer(desk->journal, &effect);
}

static void step(struct desk *desk, uint64_t number)
{
    save(desk, number);
    say(desk, EFFECT_ANSWER, number);
    journal_flush(desk->journal);
}

static void look(struct desk *desk, uint64_t mark)
{
    say(desk, EFFECT_ANSWER, mark);
    journal_flush(desk->journal);
}

static void word__waits_for_its_record(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    assert_string_equal(desk->said, "");
    assert_int_equal(desk->gate.commits, 0); /* not within the step: the turn may bring more */
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 1);
    assert_string_equal(desk->said, "");
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 ");
    assert_string_equal(desk->doing, "saying what is saved"); /* G11: whose time it is */
    assert_int_equal(desk->gate.records, 1);
    assert_int_equal(desk->flushes, 1);
    assert_true(journal_clean(desk->journal));
}

static void word__is_said_at_once_when_nothing_is_unsaved(void **state)
{
    struct desk *desk = *state;
    look(desk, 1);
    assert_string_equal(desk->said, "A1 ");
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 0);
}

/* What no answer waits for is committed after a while. */
static void await_commit(struct desk *desk, unsigned commits)
{
    journal_turn(desk->journal);
    while (desk->gate.commits < commits) {
        (void)uv_run(&desk->loop, UV_RUN_ONCE);
        journal_turn(desk->journal);
    }
}

/* G27: what was given back delays no request that comes just then. */
static void record_without_answer__goes_with_the_next_that_has_one(void **state)
{
    struct desk *desk = *state;
    save(desk, 1);
    say(desk, EFFECT_EVENT, 1);
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 0);
    assert_false(journal_clean(desk->journal));
    step(desk, 2);
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 1);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "E1 A2 ");
    assert_int_equal(desk->gate.records, 2);
    save(desk, 3);
    say(desk, EFFECT_CALL, 4);
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 2);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "E1 A2 C4 ");
}

static void record_without_answer__is_saved_soon(void **state)
{
    struct desk *desk = *state;
    for (unsigned i = 1; i <= 2; i++) {
        save(desk, i);
        await_commit(desk, i);
        gate_finish(&desk->gate, &desk->loop, 0);
        assert_true(journal_clean(desk->journal));
    }
}

/* No answer overtakes what it was built on. */
static void word_without_record__waits_for_what_is_unsaved(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    look(desk, 2); /* behind what is gathered */
    journal_turn(desk->journal);
    look(desk, 3); /* behind what is being written */
    assert_string_equal(desk->said, "");
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 A2 A3 ");
    assert_int_equal(desk->gate.commits, 1);
}

/* G4: one commit for all steps of a turn, and one for all that came while it was written. */
static void commits__are_shared(void **state)
{
    struct desk *desk = *state;
    for (uint64_t i = 1; i <= 30; i++)
        step(desk, i);
    journal_turn(desk->journal);
    for (uint64_t i = 31; i <= 70; i++) {
        step(desk, i);
        journal_turn(desk->journal);
    }
    assert_int_equal(desk->gate.commits, 1);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_int_equal(desk->gate.commits, 2);
    gate_finish(&desk->gate, &desk->loop, 0);
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 2);

    const struct journal_counters *counters = journal_counters(desk->journal);
    assert_int_equal(counters->commits, 2);
    assert_int_equal(counters->records, 70);
    assert_int_equal(counters->sizes.count, 2);
    assert_int_equal(counters->sizes.sum, 70);
    assert_int_equal(counters->sizes.buckets[6], 1); /* of 40 */
    assert_int_equal(counters->times.count, 2);
    assert_int_equal(counters->times.sum, 14);
    assert_int_equal(journal_unsaved(desk->journal), 0);
}

static void next_commit__begins_before_the_words_of_the_last_go_out(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    journal_turn(desk->journal);
    step(desk, 2);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 ");
    assert_int_equal(desk->commits_at_first, 2);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 A2 ");
}

static void answer_again(struct desk *desk, const struct effect *effect)
{
    uint64_t ticket = effect->u.answer.ticket;
    if (ticket < 4) {
        look(desk, ticket + 10);
        step(desk, ticket + 20);
    }
}

/* Whoever hears a word may step the core at once; what comes of it keeps the order. */
static void saying__may_cause_more_words(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    step(desk, 2);
    journal_turn(desk->journal);
    desk->on_effect = answer_again;
    gate_finish(&desk->gate, &desk->loop, 0);
    /* 11 was asked for before 21 was unsaved; 12 after it. */
    assert_string_equal(desk->said, "A1 A2 A11 ");
    assert_int_equal(desk->flushes, 1);
    assert_false(journal_clean(desk->journal));
    journal_turn(desk->journal);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 A2 A11 A21 A12 A22 ");
}

static void failed_commit__is_repeated_and_its_answers_are_refused_once(void **state)
{
    struct desk *desk = *state;
    save(desk, 1);
    say(desk, EFFECT_CALL, 7);
    say(desk, EFFECT_ANSWER, 1);
    say(desk, EFFECT_EVENT, 8);
    journal_turn(desk->journal);
    save(desk, 2);
    say(desk, EFFECT_EVENT, 9);
    say(desk, EFFECT_ANSWER, 2);
    gate_finish(&desk->gate, &desk->loop, ERROR_FULL);
    assert_string_equal(desk->said, "A1!full A2!full ");
    const struct journal_counters *counters = journal_counters(desk->journal);
    assert_true(counters->failing);
    assert_string_equal(counters->error.text, "the gate says full");
    assert_int_equal(counters->commit_failures, 1);
    assert_int_equal(counters->times.count, 0);
    assert_int_equal(journal_unsaved(desk->journal), 2);

    look(desk, 3); /* would tell what is not saved: refused, without waiting */
    assert_string_equal(desk->said, "A1!full A2!full A3!full ");
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 1); /* not before the second is over */

    gate_await(&desk->loop, &desk->gate.commits, 2);
    gate_finish(&desk->gate, &desk->loop, ERROR_IO);
    gate_await(&desk->loop, &desk->gate.commits, 3);
    desk->said[0] = '\0';
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "C7 E8 ");
    assert_int_equal(desk->gate.commits, 4); /* those gathered meanwhile, behind it */
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "C7 E8 E9 ");
    assert_int_equal(desk->gate.records, 2);
    assert_false(counters->failing);
    assert_int_equal(counters->commit_failures, 2);

    step(desk, 4);
    journal_turn(desk->journal);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "C7 E8 E9 A4 ");
}

/* B7: a broker that lost its leadership says nothing more of what it could not save. */
static void deposed__says_nothing_but_no(void **state)
{
    struct desk *desk = *state;
    save(desk, 1);
    say(desk, EFFECT_CALL, 7);
    say(desk, EFFECT_ANSWER, 1);
    journal_turn(desk->journal);
    save(desk, 2);
    say(desk, EFFECT_EVENT, 9);
    say(desk, EFFECT_ANSWER, 2);
    gate_finish(&desk->gate, &desk->loop, ERROR_NOT_LEADER);
    assert_true(desk->deposed);
    assert_string_equal(desk->said, "A1!not-leader A2!not-leader ");
    step(desk, 3);
    say(desk, EFFECT_CALL, 8);
    journal_turn(desk->journal);
    assert_string_equal(desk->said, "A1!not-leader A2!not-leader A3!not-leader ");
    assert_int_equal(desk->gate.commits, 1);
    assert_true(journal_clean(desk->journal));
}

/* What is wiped is seen where it is (the linker's --wrap). */
static const char *wiped; /* what was wiped last, before it was */

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */
void __real_explicit_bzero(void *memory, size_t size);
void __wrap_explicit_bzero(void *memory, size_t size);

void __wrap_explicit_bzero(void *memory, size_t size)
{
    static char copy[64];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)size, (const char *)memory);
    wiped = copy;
    __real_explicit_bzero(memory, size);
}
/* NOLINTEND(readability-identifier-naming) */

/* A call waits with all its texts: the core's are gone when the disk has its record (F8, F19). */
static void call__carries_what_it_asks_for(void **state)
{
    struct desk *desk = *state;
    char name[] = "elcap-f1", step_path[] = "/fA/fB", token[] = "sess-1";
    struct effect effect = {.kind = EFFECT_CALL,
                            .u.call = {.id = 7,
                                       .kind = FMCALL_END_TREE,
                                       .about = {.name = name,
                                                 .addresses = 23,
                                                 .step = step_path,
                                                 .tree = 4077,
                                                 .token = secret_of(token)}}};
    char expected[64];
    save(desk, 1);
    journal_defer(desk->journal, &effect);
    memset(name, 'x', sizeof name - 1);
    memset(step_path, 'x', sizeof step_path - 1);
    memset(token, 'x', sizeof token - 1);
    journal_turn(desk->journal);
    gate_finish(&desk->gate, &desk->loop, 0);
    (void)snprintf(expected, sizeof expected, "%d elcap-f1 23 /fA/fB 4077 sess-1", FMCALL_END_TREE);
    assert_string_equal(desk->call, expected);
    effect.u.call.about.step = NULL;
    effect.u.call.about.token = secret_of(NULL);
    journal_defer(desk->journal, &effect);
    journal_flush(desk->journal);
    (void)snprintf(expected, sizeof expected, "%d xxxxxxxx 23 - 4077 -", FMCALL_END_TREE);
    assert_string_equal(desk->call, expected);
    assert_string_equal(desk->said, "C7 C7 ");
}

static void note_jobpoll(struct desk *desk, const struct effect *effect)
{
    (void)snprintf(desk->call, sizeof desk->call, "%llu %s",
                   (unsigned long long)effect->u.jobpoll.id, effect->u.jobpoll.cluster);
}

static void jobpoll__carries_its_cluster(void **state)
{
    struct desk *desk = *state;
    char cluster[] = "elcap";
    const struct effect effect = {.kind = EFFECT_JOBPOLL, .u.jobpoll = {9, cluster}};
    save(desk, 1);
    journal_defer(desk->journal, &effect);
    memset(cluster, 'x', sizeof cluster - 1);
    desk->on_effect = note_jobpoll;
    journal_turn(desk->journal);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->call, "9 elcap");
}

static void event_without_texts(struct desk *desk, const struct effect *effect)
{
    (void)desk;
    assert_int_equal(effect->u.event->kind, EVENT_RESERVED);
    assert_null(effect->u.event->job);
}

/* The core may drop an event while its record is being written. */
static void event__outlives_the_one_of_the_core(void **state)
{
    struct desk *desk = *state;
    struct event_record event = {.seq = 8, .kind = EVENT_RESERVED, .job = "f1"};
    const struct effect effect = {.kind = EFFECT_EVENT, .u.event = &event};
    save(desk, 1);
    journal_defer(desk->journal, &effect);
    memset(&event, 0xff, sizeof event);
    desk->on_effect = event_without_texts;
    await_commit(desk, 1);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "E8 ");
}

/* A token does not outlive the call that it was for, performed or not (F13). */
static void call__is_wiped_when_it_has_been_performed(void **state)
{
    struct desk *desk = *state;
    const struct effect effect = {
        .kind = EFFECT_CALL,
        .u.call = {.kind = FMCALL_END_STEP,
                   .about = {.name = "elcap-f1", .token = secret_of("sess-1")}}};
    wiped = NULL;
    journal_defer(desk->journal, &effect);
    journal_flush(desk->journal);
    assert_non_null(wiped);
    assert_string_equal(wiped, "sess-1");
    wiped = NULL;
    save(desk, 1);
    journal_defer(desk->journal, &effect);
    journal_turn(desk->journal);
    gate_finish(&desk->gate, &desk->loop, ERROR_NOT_LEADER);
    assert_non_null(wiped);
    assert_string_equal(wiped, "sess-1");
}

/* Leaks are found by the sanitizer. */
static void destroy__forgets_what_is_unsaved(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    journal_turn(desk->journal);
    step(desk, 2);
    assert_false(journal_clean(desk->journal));
}

static void destroy__forgets_a_batch_that_failed(void **state)
{
    struct desk *desk = *state;
    save(desk, 1);
    say(desk, EFFECT_CALL, 7);
    journal_turn(desk->journal);
    gate_finish(&desk->gate, &desk->loop, ERROR_IO);
    assert_string_equal(desk->said, "");
}

/* A crowd that asks while one is written shares the next commit, whoever begins it. */
static void offer__grows_until_it_is_taken(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    journal_turn(desk->journal);
    step(desk, 2);
    journal_turn(desk->journal);
    step(desk, 3);
    journal_turn(desk->journal);
    assert_int_equal(desk->gate.commits, 1);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_int_equal(desk->gate.commits, 2);
    assert_int_equal(batch_size(desk->gate.batch), 2);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 A2 A3 ");
    assert_int_equal(desk->gate.commits, 2);
}

/* What is asked for between that and the moment when the loop hears of it waits for one more. */
static void offer__that_was_taken_grows_no_more(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    journal_turn(desk->journal);
    step(desk, 2);
    journal_turn(desk->journal);
    gate_take(&desk->gate);
    look(desk, 3); /* behind the second */
    step(desk, 4);
    look(desk, 5);
    journal_turn(desk->journal); /* two are under way: no third is offered */
    assert_null(desk->gate.ready);
    assert_int_equal(journal_unsaved(desk->journal), 3);
    for (uint64_t number = 1; number <= 4; number++)
        assert_int_equal(journal_about(desk->journal, number), number != 3);

    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 ");
    assert_false(journal_about(desk->journal, 1));
    assert_true(journal_about(desk->journal, 2));
    journal_turn(desk->journal);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 A2 A3 ");
    assert_true(journal_about(desk->journal, 4));
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_string_equal(desk->said, "A1 A2 A3 A4 A5 ");
    assert_int_equal(desk->gate.commits, 3);
    assert_int_equal(desk->gate.records, 3);
    assert_true(journal_clean(desk->journal));
}

/* It may even fail: the older one is durable all the same. */
static void offer__that_was_taken_may_fail(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    journal_turn(desk->journal);
    step(desk, 2);
    journal_turn(desk->journal);
    gate_take(&desk->gate);
    step(desk, 3);
    gate_finish(&desk->gate, &desk->loop, 0);
    gate_finish(&desk->gate, &desk->loop, ERROR_IO);
    assert_string_equal(desk->said, "A1 A2!io A3!io ");
    gate_await(&desk->loop, &desk->gate.commits, 3);
    journal_turn(desk->journal); /* the third is offered behind the second's new attempt */
    gate_finish(&desk->gate, &desk->loop, 0);
    gate_finish(&desk->gate, &desk->loop, 0);
    assert_int_equal(desk->gate.records, 3);
    assert_int_equal(desk->gate.commits, 4);
    assert_true(journal_clean(desk->journal));
}

static void destroy__forgets_what_was_taken(void **state)
{
    struct desk *desk = *state;
    step(desk, 1);
    journal_turn(desk->journal);
    step(desk, 2);
    journal_turn(desk->journal);
    gate_take(&desk->gate);
    step(desk, 3);
}

#define DESK_TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(word__waits_for_its_record),
        DESK_TEST(word__is_said_at_once_when_nothing_is_unsaved),
        DESK_TEST(word_without_record__waits_for_what_is_unsaved),
        DESK_TEST(record_without_answer__goes_with_the_next_that_has_one),
        DESK_TEST(record_without_answer__is_saved_soon),
        DESK_TEST(commits__are_shared),
        DESK_TEST(next_commit__begins_before_the_words_of_the_last_go_out),
        DESK_TEST(saying__may_cause_more_words),
        DESK_TEST(failed_commit__is_repeated_and_its_answers_are_refused_once),
        DESK_TEST(deposed__says_nothing_but_no),
        DESK_TEST(call__carries_what_it_asks_for),
        DESK_TEST(jobpoll__carries_its_cluster),
        DESK_TEST(event__outlives_the_one_of_the_core),
        DESK_TEST(call__is_wiped_when_it_has_been_performed),
        DESK_TEST(destroy__forgets_what_is_unsaved),
        DESK_TEST(destroy__forgets_a_batch_that_failed),
    };
    const struct CMUnitTest offers[] = {
        DESK_TEST(offer__grows_until_it_is_taken),
        DESK_TEST(offer__that_was_taken_grows_no_more),
        DESK_TEST(offer__that_was_taken_may_fail),
        DESK_TEST(destroy__forgets_what_was_taken),
    };
    int failed = cmocka_run_group_tests_name("journal", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("journal, which is taken from", tests,
                                          takes_what_is_offered, NULL);
    return failed + cmocka_run_group_tests_name("journal's offers", offers, NULL, NULL);
}
