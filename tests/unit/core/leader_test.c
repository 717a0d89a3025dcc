/* SPDX-License-Identifier: Apache-2.0 */
/* B7: which of several brokers leads, and until when; what a commit's answer means. */

#include "tests/unit/unit.h"

#include "core/leader/commit.h"
#include "core/leader/leader.h"

enum { LEASE_MS = 5000, DEADLINE_MS = 4500, OWN = 77, OTHERS = 99 };

/* One question after the other, as the broker's loop asks them. */
struct desk {
    struct leader leader;
    int64_t now_ms;
    uint64_t random;
};

static struct desk new_desk(void)
{
    struct desk desk = {.now_ms = 1000, .random = OWN};
    leader_init(&desk.leader, LEASE_MS);
    return desk;
}

static void asks(struct desk *desk, enum leader_question question)
{
    const struct leader_ask ask = leader_next(&desk->leader, desk->now_ms, desk->random);
    assert_int_equal(ask.question, question);
    if (question > LEADER_TEST)
        assert_int_equal(ask.lease, desk->leader.lease);
}

/* Sent now, answered so much later. */
static void hears(struct desk *desk, enum leader_outcome outcome, int64_t took_ms)
{
    struct leader_answer answer = {
        .question = desk->leader.asked, .outcome = outcome, .sent_ms = desk->now_ms};
    if (outcome == LEADER_OK)
        answer.ttl_ms = LEASE_MS;
    desk->now_ms += took_ms;
    leader_answered(&desk->leader, &answer, desk->now_ms);
}

static void hears_of_holder(struct desk *desk, uint64_t holder, int64_t took_ms)
{
    const struct leader_answer answer = {.question = LEADER_CAMPAIGN,
                                         .outcome = LEADER_OK,
                                         .sent_ms = desk->now_ms,
                                         .holder = holder,
                                         .holder_revision = 12};
    desk->now_ms += took_ms;
    leader_answered(&desk->leader, &answer, desk->now_ms);
}

static bool may_act(const struct desk *desk, int64_t at_ms)
{
    return leader_may_act(&desk->leader, at_ms);
}

/* It has passed the test, and asks for its lease. */
static struct desk tested(void)
{
    struct desk desk = new_desk();
    asks(&desk, LEADER_TEST);
    hears(&desk, LEADER_OK, 0);
    asks(&desk, LEADER_GRANT);
    return desk;
}

/* Its lease was granted at 1000, and it asks who leads. */
static struct desk standing_by(void)
{
    struct desk desk = tested();
    hears(&desk, LEADER_OK, 0);
    asks(&desk, LEADER_CAMPAIGN);
    return desk;
}

static struct desk leading(void)
{
    struct desk desk = standing_by();
    hears_of_holder(&desk, OWN, 0);
    assert_int_equal(desk.leader.phase, LEADER_LEADING);
    return desk;
}

static void has_ended(const struct desk *desk)
{
    assert_int_equal(desk->leader.phase, LEADER_ENDED);
    assert_int_equal(leader_wake(&desk->leader), INT64_MAX);
    assert_false(may_act(desk, 0));
}

/* ---- a standby ---- */

#define TEST UNIT

TEST(test__is_repeated_until_it_is_answered)
{
    struct desk desk = new_desk();
    asks(&desk, LEADER_TEST);
    asks(&desk, LEADER_NOTHING); /* one at a time */
    assert_int_equal(leader_wake(&desk.leader), INT64_MAX);
    hears(&desk, LEADER_UNKNOWN, 10);
    asks(&desk, LEADER_NOTHING); /* not at once: the cluster is away */
    desk.now_ms = leader_wake(&desk.leader);
    asks(&desk, LEADER_TEST);
}

/* A gateway that runs a transaction without its guard. */
TEST(test__refused_ends_it_for_good)
{
    struct desk desk = new_desk();
    asks(&desk, LEADER_TEST);
    hears(&desk, LEADER_REFUSED, 1);
    has_ended(&desk);
    assert_true(desk.leader.refused);
}

/* The ledger is an older one than it has seen. */
TEST(campaign__refused_ends_it_for_good)
{
    struct desk desk = standing_by();
    hears(&desk, LEADER_REFUSED, 1);
    has_ended(&desk);
    assert_true(desk.leader.refused);
}

TEST(standby__asks_again_who_leads)
{
    struct desk desk = standing_by();
    hears_of_holder(&desk, OTHERS, 1);
    assert_int_equal(desk.leader.holder, OTHERS);
    assert_false(may_act(&desk, desk.now_ms));
    asks(&desk, LEADER_NOTHING);
    assert_int_equal(leader_wake(&desk.leader), desk.now_ms + LEASE_MS / 20);
    desk.now_ms = leader_wake(&desk.leader);
    asks(&desk, LEADER_CAMPAIGN);
    hears_of_holder(&desk, 0, 1); /* none, at that moment */
    assert_int_equal(desk.leader.phase, LEADER_STANDBY);
}

/* Who wins with a lease that is nearly over ends before it has loaded. */
TEST(standby__renews_its_lease_before_half_of_it_is_over)
{
    struct desk desk = standing_by();
    hears_of_holder(&desk, OTHERS, 0);
    desk.now_ms = 1000 + DEADLINE_MS - LEASE_MS / 2;
    asks(&desk, LEADER_KEEPALIVE);
    hears(&desk, LEADER_OK, 5);
    asks(&desk, LEADER_CAMPAIGN); /* at once */
}

/* Cut off, or stopped, for longer than its lease: the id is never used again. */
TEST(standby__draws_another_lease_when_its_own_is_over)
{
    struct desk desk = standing_by();
    hears(&desk, LEADER_UNKNOWN, 0);
    desk.now_ms = 1000 + DEADLINE_MS;
    desk.random = OWN + 1;
    asks(&desk, LEADER_GRANT);
    assert_int_equal(desk.leader.lease, OWN + 1);
    hears(&desk, LEADER_GONE, 1); /* as when the id were taken */
    desk.random = OWN + 2;
    asks(&desk, LEADER_GRANT);
    assert_int_equal(desk.leader.lease, OWN + 2);
}

/* The cluster has forgotten its lease: keepalive without TTL. */
TEST(standby__without_a_lease_gets_another)
{
    struct desk desk = standing_by();
    hears(&desk, LEADER_GONE, 1); /* a campaign by a lease that is gone */
    desk.random = OWN + 1;
    asks(&desk, LEADER_GRANT);
    hears(&desk, LEADER_OK, 1);
    asks(&desk, LEADER_CAMPAIGN);
    hears_of_holder(&desk, OTHERS, 1);
    desk.now_ms += LEASE_MS / 2;
    asks(&desk, LEADER_KEEPALIVE);
    hears(&desk, LEADER_GONE, 1);
    assert_int_equal(desk.leader.phase, LEADER_STANDBY);
    asks(&desk, LEADER_GRANT);
}

/* The first try may have been carried out when it was sent: the lease runs since then. */
TEST(grant__that_is_repeated_counts_from_the_first_try)
{
    struct desk desk = tested();
    hears(&desk, LEADER_UNKNOWN, 900);
    desk.now_ms = leader_wake(&desk.leader);
    desk.random = OWN + 1; /* not drawn again: two leases would be granted */
    asks(&desk, LEADER_GRANT);
    assert_int_equal(desk.leader.lease, OWN);
    hears(&desk, LEADER_OK, 900);
    assert_int_equal(desk.leader.deadline_ms, 1000 + DEADLINE_MS);
}

TEST(grant__answered_after_its_lease_is_followed_by_another)
{
    struct desk desk = tested();
    hears(&desk, LEADER_OK, DEADLINE_MS);
    desk.random = OWN + 1;
    asks(&desk, LEADER_GRANT);
    assert_int_equal(desk.leader.lease, OWN + 1);
    hears(&desk, LEADER_OK, 1); /* which counts from its own sending */
    assert_int_equal(desk.leader.deadline_ms, 1000 + 2 * DEADLINE_MS);
}

/* ---- winning ---- */

TEST(win__is_by_the_revision_of_its_key)
{
    struct desk desk = leading();
    assert_int_equal(desk.leader.revision, 12);
    assert_true(may_act(&desk, desk.now_ms));
    asks(&desk, LEADER_KEEPALIVE); /* at once: a whole lease to begin with */
}

/* The campaign was carried out, its answer lost: the key is found to be its own. */
TEST(win__that_was_not_answered_is_one)
{
    struct desk desk = standing_by();
    hears(&desk, LEADER_UNKNOWN, 1000);
    assert_int_equal(desk.leader.phase, LEADER_STANDBY);
    desk.now_ms = leader_wake(&desk.leader);
    asks(&desk, LEADER_CAMPAIGN);
    hears_of_holder(&desk, OWN, 1);
    assert_int_equal(desk.leader.phase, LEADER_LEADING);
    assert_int_equal(desk.leader.deadline_ms, 1000 + DEADLINE_MS); /* of the last keepalive */
}

TEST(win__after_the_deadline_is_none)
{
    struct desk desk = standing_by();
    hears_of_holder(&desk, OWN, DEADLINE_MS);
    has_ended(&desk);
    assert_int_equal(desk.leader.revision, 0);
}

/* ---- leading ---- */

/* A tenth of the lease is left for clocks that run apart, and for what lies between look and act.
 */
TEST(deadline__is_before_the_lease_ends)
{
    struct desk desk = leading();
    assert_int_equal(leader_wake(&desk.leader), desk.now_ms);
    assert_true(may_act(&desk, 1000 + DEADLINE_MS - 1));
    assert_false(may_act(&desk, 1000 + DEADLINE_MS));
    asks(&desk, LEADER_KEEPALIVE);
    assert_int_equal(leader_wake(&desk.leader), 1000 + DEADLINE_MS);
    assert_true(leader_check(&desk.leader, 1000 + DEADLINE_MS - 1));
    assert_false(leader_check(&desk.leader, 1000 + DEADLINE_MS));
    has_ended(&desk);
}

/* An answer that travelled long would stretch the lease. */
TEST(keepalive__counts_from_its_sending)
{
    struct desk desk = leading();
    desk.now_ms = 2000;
    asks(&desk, LEADER_KEEPALIVE);
    hears(&desk, LEADER_OK, 700);
    assert_int_equal(desk.leader.deadline_ms, 2000 + DEADLINE_MS);
    asks(&desk, LEADER_NOTHING);
    assert_int_equal(leader_wake(&desk.leader), 2700 + LEASE_MS / 4);
}

/* The process was stopped after it had asked: the answer waited in its socket. */
TEST(keepalive__answered_after_the_deadline_is_too_late)
{
    struct desk desk = leading();
    asks(&desk, LEADER_KEEPALIVE);
    hears(&desk, LEADER_OK, DEADLINE_MS);
    has_ended(&desk);
}

TEST(keepalive__unanswered_is_repeated_until_the_deadline)
{
    struct desk desk = leading();
    unsigned tries = 0;
    while (desk.leader.phase == LEADER_LEADING) {
        desk.now_ms = leader_wake(&desk.leader);
        if (leader_next(&desk.leader, desk.now_ms, OWN).question == LEADER_NOTHING)
            break;
        tries++;
        hears(&desk, LEADER_UNKNOWN, leader_try_ms(&desk.leader));
    }
    assert_true(tries >= 4);
    assert_true(desk.now_ms >= 1000 + DEADLINE_MS);
    has_ended(&desk);
}

TEST(keepalive__of_a_lease_that_is_gone_ends_it)
{
    struct desk desk = leading();
    asks(&desk, LEADER_KEEPALIVE);
    hears(&desk, LEADER_GONE, 1);
    has_ended(&desk);
}

TEST(deposed__is_final)
{
    struct desk desk = leading();
    asks(&desk, LEADER_KEEPALIVE);
    leader_deposed(&desk.leader);
    has_ended(&desk);
    hears(&desk, LEADER_OK, 1); /* an answer that was on its way */
    has_ended(&desk);
    leader_deposed(&desk.leader); /* two commits were under way */
    asks(&desk, LEADER_NOTHING);
}

/* The server may grant more than was asked for. */
TEST(lease__is_as_long_as_granted)
{
    struct desk desk = leading();
    asks(&desk, LEADER_KEEPALIVE);
    const struct leader_answer answer = {
        .question = LEADER_KEEPALIVE, .outcome = LEADER_OK, .sent_ms = 1000, .ttl_ms = 20000};
    leader_answered(&desk.leader, &answer, 1000);
    assert_int_equal(desk.leader.deadline_ms, 1000 + 18000);
}

/* ---- resigning ---- */

TEST(resign__ends_what_it_does_at_once)
{
    struct desk desk = leading();
    leader_resign(&desk.leader);
    assert_false(may_act(&desk, desk.now_ms));
    asks(&desk, LEADER_RESIGN);
    hears(&desk, LEADER_UNKNOWN, 10);
    asks(&desk, LEADER_NOTHING); /* not at once */
    desk.now_ms = leader_wake(&desk.leader);
    asks(&desk, LEADER_RESIGN);
    hears(&desk, LEADER_OK, 1);
    has_ended(&desk);
}

/* The keepalive that was asked before says nothing of it. */
TEST(resign__waits_for_the_question_under_way)
{
    struct desk desk = leading();
    asks(&desk, LEADER_KEEPALIVE);
    leader_resign(&desk.leader);
    asks(&desk, LEADER_NOTHING);
    hears(&desk, LEADER_OK, 10);
    asks(&desk, LEADER_RESIGN);
    hears(&desk, LEADER_GONE, 1);
    has_ended(&desk);
}

/* A win that comes after it would keep the key for a whole lease. */
TEST(resign__while_a_campaign_is_under_way_gives_the_key_back)
{
    struct desk desk = standing_by();
    leader_resign(&desk.leader);
    hears_of_holder(&desk, OWN, 1);
    assert_false(may_act(&desk, desk.now_ms));
    asks(&desk, LEADER_RESIGN);
    hears(&desk, LEADER_OK, 1);
    has_ended(&desk);
}

/* It must not hang: the cluster is away, or there is nothing to give back. */
TEST(resign__without_a_cluster_ends)
{
    struct desk desk = new_desk();
    leader_resign(&desk.leader); /* before the test */
    has_ended(&desk);

    desk = new_desk();
    asks(&desk, LEADER_TEST);
    leader_resign(&desk.leader);
    has_ended(&desk);
    hears(&desk, LEADER_OK, 1);
    has_ended(&desk);

    desk = tested();
    hears(&desk, LEADER_UNKNOWN, 1); /* a lease was drawn, none is known to be granted */
    leader_resign(&desk.leader);
    has_ended(&desk);

    desk = standing_by();
    hears(&desk, LEADER_UNKNOWN, 0);
    leader_resign(&desk.leader);
    desk.now_ms = 1000 + DEADLINE_MS;
    asks(&desk, LEADER_NOTHING);
    has_ended(&desk);

    desk = leading();
    leader_resign(&desk.leader);
    assert_false(leader_check(&desk.leader, 1000 + DEADLINE_MS));
    has_ended(&desk);
}

TEST(try__is_a_quarter_of_the_lease_at_most_a_second)
{
    struct leader leader;
    leader_init(&leader, LEADER_LEASE_MIN_MS);
    assert_int_equal(leader_try_ms(&leader), 500);
    leader_init(&leader, LEADER_LEASE_MAX_MS);
    assert_int_equal(leader_try_ms(&leader), 1000);
}

/* ---- commits ---- */

static enum commit_verdict judged(struct commit_seen seen)
{
    const struct commit_guard guard = {.lease = OWN, .revision = 12, .commit = 3};
    return commit_judge(&guard, &seen);
}

TEST(commit__whose_guards_held_is_done)
{
    assert_int_equal(judged((struct commit_seen){.held = true}), COMMIT_DONE);
}

/* The answer of the first try was lost: its own number stands there. */
TEST(commit__repeated_is_done_once)
{
    assert_int_equal(judged((struct commit_seen){.revision = 12, .lease = OWN, .commit = 3}),
                     COMMIT_DONE);
}

TEST(commit__of_a_former_leader_is_not_done)
{
    static const struct commit_seen others[] = {
        {.revision = 0, .lease = OWN, .commit = 2},     /* the lease ran out */
        {.revision = 0, .lease = OWN, .commit = 3},     /* … after it was carried out */
        {.revision = 15, .lease = OTHERS},              /* another broker has won, */
        {.revision = 15, .lease = OTHERS, .commit = 3}, /* and has come as far */
        {.revision = 15,
         .lease = OWN,
         .commit = 3}, /* a leader key that this process did not make */
        {.revision = 12, .lease = OTHERS, .commit = 3},
        {.revision = 12, .lease = OWN, .commit = 4}, /* cannot be, so it is not trusted */
        {.revision = 12},                            /* no sequence key, or no such text */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(judged(others[i]), COMMIT_DEPOSED);
}

UNIT_RUN(NULL, NULL)
