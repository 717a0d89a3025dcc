/* SPDX-License-Identifier: Apache-2.0 */
/* The election on a loop, by a cluster whose answers the test gives (B7). */

#include "tests/unit/unit.h"

#include "broker/clock.h"
#include "broker/log/log.h"
#include "tests/unit/broker/fakeetcd.h"

struct stand {
    uv_loop_t loop;
    struct leadership *leadership;
    unsigned won, lost, refused, resigned;
    char words[ERROR_TEXT_SIZE];
    struct store store;
};

static void on_won(void *arg)
{
    ((struct stand *)arg)->won++;
}

static void note(struct stand *stand, unsigned *count, const char *words)
{
    (*count)++;
    (void)snprintf(stand->words, sizeof stand->words, "%s", words);
}

static void on_lost(void *arg, const char *words)
{
    note(arg, &((struct stand *)arg)->lost, words);
}

static void on_refused(void *arg, const char *words)
{
    note(arg, &((struct stand *)arg)->refused, words);
}

static void on_resigned(void *arg)
{
    ((struct stand *)arg)->resigned++;
}

static int open_stand(void **state)
{
    static struct stand stand;
    memset(&stand, 0, sizeof stand);
    log_set_level(-1);
    assert_int_equal(uv_loop_init(&stand.loop), 0);
    fakeetcd_open();
    fakeetcd.ttl_ms = 4000; /* a question each second while it leads */
    const struct leadership_hooks hooks = {&stand, on_won, on_lost, on_refused, on_resigned};
    stand.leadership =
        leadership_create(&stand.loop, (struct etcd *)&fakeetcd, 2000, "unix:/own", &hooks);
    *state = &stand;
    return 0;
}

static int close_stand(void **state)
{
    struct stand *stand = *state;
    leadership_destroy(stand->leadership);
    (void)uv_run(&stand->loop, UV_RUN_DEFAULT);
    fakeetcd_close();
    return uv_loop_close(&stand->loop);
}

/* Answers the next question, which has to be this one. */
static void answer(struct stand *stand, enum leader_question question, enum leader_outcome outcome,
                   uint64_t holder, const char *url)
{
    const unsigned next = fakeetcd.questions + (fakeetcd.asked.question == LEADER_NOTHING);
    fakeetcd_await(&stand->loop, &fakeetcd.questions, next);
    assert_int_equal(fakeetcd.asked.question, question);
    fakeetcd_say(outcome, holder, url);
    while (fakeetcd.answered)
        (void)uv_run(&stand->loop, UV_RUN_NOWAIT);
}

static void become_leader(struct stand *stand)
{
    fakeetcd.automatic = true;
    fakeetcd_await(&stand->loop, &stand->won, 1);
    fakeetcd.automatic = false;
}

#define STAND_TEST(name) UNIT_WITH(name, open_stand, close_stand)

STAND_TEST(standby__knows_who_leads)
{
    struct stand *stand = *state;
    answer(stand, LEADER_TEST, LEADER_OK, 0, "");
    answer(stand, LEADER_GRANT, LEADER_OK, 0, "");
    answer(stand, LEADER_CAMPAIGN, LEADER_OK, 99, "https://m2:7470");
    const struct leadership_facts *facts = leadership_facts(stand->leadership);
    assert_int_equal(facts->phase, LEADER_STANDBY);
    assert_string_equal(facts->leader, "https://m2:7470");
    assert_string_equal(facts->member, "https://m1:2379");
    assert_int_equal(facts->lease_ms, 4000);
    assert_true(facts->lease_age_ms >= 0);
    assert_int_equal(facts->unreachable_ms, -1);
    assert_int_equal(facts->answered, 3);
    assert_int_equal(facts->took_us, 1000);
    assert_true(leadership_holds(stand->leadership)); /* it acts as nothing */
    answer(stand, LEADER_CAMPAIGN, LEADER_OK, 0, "");
    assert_string_equal(leadership_facts(stand->leadership)->leader, "");
}

STAND_TEST(cluster__that_does_not_answer_is_noticed)
{
    struct stand *stand = *state;
    for (int i = 0; i < 4; i++)
        answer(stand, LEADER_TEST, LEADER_UNKNOWN, 0, "");
    const struct leadership_facts *facts = leadership_facts(stand->leadership);
    assert_true(facts->unreachable_ms >= 0);
    assert_string_equal(facts->error, "the fake says no");
    assert_int_equal(facts->unanswered, 4);
    answer(stand, LEADER_TEST, LEADER_OK, 0, "");
    assert_int_equal(leadership_facts(stand->leadership)->unreachable_ms, -1);
    assert_string_equal(leadership_facts(stand->leadership)->error, "");
}

STAND_TEST(cluster__that_fails_the_test_is_refused)
{
    struct stand *stand = *state;
    answer(stand, LEADER_TEST, LEADER_REFUSED, 0, "");
    assert_int_equal(stand->refused, 1);
    assert_string_equal(stand->words, "the fake says no");
    leadership_resign(stand->leadership); /* how the broker ends */
    assert_int_equal(stand->resigned, 1);
}

STAND_TEST(leader__extends_the_lease_of_its_store)
{
    struct stand *stand = *state;
    struct error err = {0};
    become_leader(stand);
    assert_null(leadership_store(stand->leadership, &err));
    assert_string_equal(err.text, "the fake has no store");
    fakeetcd.store = &stand->store;
    assert_ptr_equal(leadership_store(stand->leadership, &err), &stand->store);
    answer(stand, LEADER_KEEPALIVE, LEADER_OK, 0, "");
    const int64_t first_ms = fakeetcd.extended_ms;
    assert_true(first_ms > clock_read_ns(CLOCK_BOOTTIME) / 1000000);
    leadership_forget_store(stand->leadership);
    answer(stand, LEADER_KEEPALIVE, LEADER_OK, 0, "");
    assert_int_equal(fakeetcd.extended_ms, first_ms);
    assert_true(leadership_holds(stand->leadership));
    assert_string_equal(leadership_facts(stand->leadership)->leader, "unix:/own");
}

/* B7: with what the keepalive has looked up; without a look those of before are still the latest.
 */
STAND_TEST(leader__knows_its_standbys)
{
    struct stand *stand = *state;
    become_leader(stand);
    assert_false(leadership_facts(stand->leadership)->looked);
    fakeetcd.look = &(struct etcd_standbys){.count = 1, .all = {{.url = "https://m2:7470"}}};
    answer(stand, LEADER_KEEPALIVE, LEADER_OK, 0, "");
    fakeetcd.look = NULL;
    answer(stand, LEADER_KEEPALIVE, LEADER_OK, 0, "");
    const struct leadership_facts *facts = leadership_facts(stand->leadership);
    assert_true(facts->looked);
    assert_int_equal(facts->standbys.count, 1);
    assert_string_equal(facts->standbys.all[0].url, "https://m2:7470");
    fakeetcd.look = &(struct etcd_standbys){0};
    answer(stand, LEADER_KEEPALIVE, LEADER_OK, 0, "");
    assert_int_equal(leadership_facts(stand->leadership)->standbys.count, 0);
}

/* I10: whoever asks first notices, not only the timer. */
STAND_TEST(lease__that_runs_out_is_lost_at_once)
{
    struct stand *stand = *state;
    fakeetcd.ttl_ms = 300;
    become_leader(stand);
    while (leadership_holds(stand->leadership))
        ;
    assert_int_equal(stand->lost, 1);
    assert_false(leadership_holds(stand->leadership));
    assert_int_equal(stand->lost, 1);
    assert_int_equal(leadership_facts(stand->leadership)->phase, LEADER_ENDED);
}

STAND_TEST(lease__that_runs_out_is_noticed_by_the_loop)
{
    struct stand *stand = *state;
    fakeetcd.ttl_ms = 300;
    become_leader(stand);
    fakeetcd_await(&stand->loop, &stand->lost, 1);
}

STAND_TEST(lease__that_the_cluster_ended_is_lost)
{
    struct stand *stand = *state;
    become_leader(stand);
    answer(stand, LEADER_KEEPALIVE, LEADER_GONE, 0, "");
    assert_int_equal(stand->lost, 1);
    assert_string_equal(stand->words, "the lease has ended");
}

STAND_TEST(ledger__that_says_so_deposes)
{
    struct stand *stand = *state;
    become_leader(stand);
    leadership_deposed(stand->leadership, "another leads");
    assert_int_equal(stand->lost, 1);
    assert_string_equal(stand->words, "another leads");
}

STAND_TEST(leader__that_resigns_waits_for_the_answer)
{
    struct stand *stand = *state;
    become_leader(stand);
    answer(stand, LEADER_KEEPALIVE, LEADER_OK, 0, "");
    leadership_resign(stand->leadership);
    answer(stand, LEADER_RESIGN, LEADER_UNKNOWN, 0, "");
    assert_int_equal(stand->resigned, 0);
    answer(stand, LEADER_RESIGN, LEADER_OK, 0, "");
    assert_int_equal(stand->resigned, 1);
    assert_int_equal(stand->lost, 0);
}

STAND_TEST(standby__that_resigns_tries_once)
{
    struct stand *stand = *state;
    answer(stand, LEADER_TEST, LEADER_OK, 0, "");
    answer(stand, LEADER_GRANT, LEADER_OK, 0, "");
    answer(stand, LEADER_CAMPAIGN, LEADER_OK, 99, "https://m2:7470");
    leadership_resign(stand->leadership);
    answer(stand, LEADER_RESIGN, LEADER_UNKNOWN, 0, "");
    assert_int_equal(stand->resigned, 1);
}

UNIT(none__is_a_broker_that_is_alone)
{
    assert_true(leadership_holds(NULL));
    assert_null(leadership_facts(NULL));
    leadership_forget_store(NULL);
    leadership_deposed(NULL, "");
    leadership_destroy(NULL);
}

UNIT_RUN(NULL, NULL)
