/* SPDX-License-Identifier: Apache-2.0 */
#include "core/leader/leader.h"

#include <assert.h>
#include <string.h>

/* A standby asks for the leader key so often: each 20th of the lease, which bounds how long a key
 * that was given back has no holder (G17). */
enum { POLLS_PER_LEASE = 20, POLL_MIN_MS = 100, POLL_MAX_MS = 500 };

enum {
    KEEPALIVES_PER_LEASE = 4,
    RETRY_MS = 50,       /* after a question without an answer */
    TRIES_PER_LEASE = 4, /* so that a member that is dead costs a quarter of the lease */
    TRY_MAX_MS = 1000,
    MARGIN_PARTS = 10, /* of the lease: two clocks run apart, and a look is older than the act */
};

static int64_t smaller(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int64_t larger(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

static int64_t poll_ms(const struct leader *leader)
{
    assert(leader->lease_ms > 0);
    return smaller(larger(leader->lease_ms / POLLS_PER_LEASE, POLL_MIN_MS), POLL_MAX_MS);
}

void leader_init(struct leader *leader, int64_t lease_ms)
{
    assert(lease_ms >= LEADER_LEASE_MIN_MS && lease_ms <= LEADER_LEASE_MAX_MS);
    memset(leader, 0, sizeof *leader);
    leader->lease_ms = lease_ms;
}

int64_t leader_try_ms(const struct leader *leader)
{
    assert(leader->lease_ms > 0);
    return smaller(leader->lease_ms / TRIES_PER_LEASE, TRY_MAX_MS);
}

/* ---- the lease ---- */

/* The cluster counts the lease from when the question came, which is not before it was sent. */
static void extend_lease(struct leader *leader, int64_t sent_ms, int64_t ttl_ms)
{
    assert(ttl_ms > 0);
    leader->ttl_ms = ttl_ms;
    leader->deadline_ms = sent_ms + ttl_ms - ttl_ms / MARGIN_PARTS;
}

static void end_leadership(struct leader *leader)
{
    assert(leader);
    leader->phase = LEADER_ENDED;
    leader->revision = 0;
    leader->next_ms = INT64_MAX;
}

/* The leader key, if it had one, went with the lease. A standby gets another lease. */
static void lease_over(struct leader *leader, int64_t now_ms)
{
    assert(leader->phase != LEADER_ENDED);
    if (leader->phase == LEADER_LEADING || leader->resigning) {
        end_leadership(leader);
        return;
    }
    leader->lease = 0;
    leader->ttl_ms = leader->deadline_ms = leader->granting_ms = 0;
    leader->next_ms = now_ms;
}

bool leader_may_act(const struct leader *leader, int64_t now_ms)
{
    assert(leader->phase != LEADER_LEADING || leader->revision > 0);
    return leader->phase == LEADER_LEADING && !leader->resigning && now_ms < leader->deadline_ms;
}

bool leader_check(struct leader *leader, int64_t now_ms)
{
    assert(leader);
    if (leader->phase == LEADER_LEADING && now_ms >= leader->deadline_ms)
        end_leadership(leader);
    return leader_may_act(leader, now_ms);
}

void leader_deposed(struct leader *leader)
{
    assert(leader->phase == LEADER_LEADING || leader->phase == LEADER_ENDED);
    end_leadership(leader);
}

void leader_resign(struct leader *leader)
{
    assert(leader->lease_ms > 0);
    leader->resigning = true;
    leader->next_ms = 0;
    if (leader->ttl_ms == 0) /* so no campaign is on its way; what is left of a grant runs out */
        end_leadership(leader);
}

/* ---- questions ---- */

static enum leader_question due_question(const struct leader *leader, int64_t now_ms)
{
    assert(leader->phase != LEADER_ENDED);
    if (leader->phase == LEADER_TESTING)
        return LEADER_TEST;
    if (leader->resigning)
        return LEADER_RESIGN;
    if (leader->ttl_ms == 0)
        return LEADER_GRANT;
    if (leader->phase == LEADER_LEADING)
        return LEADER_KEEPALIVE;
    /* Half of a standby's lease is left when it wins at the latest. */
    return now_ms >= leader->deadline_ms - leader->ttl_ms / 2 ? LEADER_KEEPALIVE : LEADER_CAMPAIGN;
}

struct leader_ask leader_next(struct leader *leader, int64_t now_ms, uint64_t random)
{
    const struct leader_ask nothing = {.question = LEADER_NOTHING};
    assert(random >= 1 && random <= INT64_MAX);
    (void)leader_check(leader, now_ms);
    if (leader->phase == LEADER_ENDED || leader->asked != LEADER_NOTHING ||
        now_ms < leader->next_ms)
        return nothing;
    if (leader->phase == LEADER_STANDBY && leader->ttl_ms > 0 && now_ms >= leader->deadline_ms)
        lease_over(leader, now_ms); /* a standby that was cut off */
    if (leader->phase == LEADER_ENDED)
        return nothing;
    leader->asked = due_question(leader, now_ms);
    if (leader->asked == LEADER_GRANT && leader->lease == 0)
        leader->lease = random;
    return (struct leader_ask){.question = leader->asked, .lease = leader->lease};
}

int64_t leader_wake(const struct leader *leader)
{
    assert(leader);
    if (leader->phase == LEADER_ENDED)
        return INT64_MAX;
    const int64_t ask_ms = leader->asked == LEADER_NOTHING ? leader->next_ms : INT64_MAX;
    return leader->phase == LEADER_LEADING ? smaller(ask_ms, leader->deadline_ms) : ask_ms;
}

/* ---- answers ---- */

static void campaign_answered(struct leader *leader, const struct leader_answer *answer,
                              int64_t now_ms)
{
    assert(leader->phase == LEADER_STANDBY);
    leader->holder = answer->holder;
    leader->next_ms = now_ms + poll_ms(leader);
    if (answer->holder != leader->lease)
        return;
    /* Won, perhaps by an earlier try that was not answered. */
    assert(answer->holder_revision > 0);
    leader->phase = LEADER_LEADING;
    leader->revision = answer->holder_revision;
    leader->next_ms = now_ms; /* a whole lease to begin with */
    (void)leader_check(leader, now_ms);
}

static void lease_answered(struct leader *leader, const struct leader_answer *answer,
                           int64_t now_ms)
{
    assert(leader);
    const bool granted = answer->question == LEADER_GRANT;
    extend_lease(leader, granted ? leader->granting_ms : answer->sent_ms, answer->ttl_ms);
    leader->next_ms =
        leader->phase == LEADER_LEADING ? now_ms + leader->ttl_ms / KEEPALIVES_PER_LEASE : now_ms;
}

/* Done; what is asked next depends on the question. */
static void answered_well(struct leader *leader, const struct leader_answer *answer, int64_t now_ms)
{
    assert(leader);
    switch (answer->question) {
    case LEADER_TEST:
        leader->phase = LEADER_STANDBY;
        leader->next_ms = now_ms;
        break;
    case LEADER_GRANT:
    case LEADER_KEEPALIVE:
        lease_answered(leader, answer, now_ms);
        break;
    case LEADER_CAMPAIGN:
        campaign_answered(leader, answer, now_ms);
        break;
    case LEADER_RESIGN:
        end_leadership(leader);
        break;
    case LEADER_NOTHING:
        break;
    }
}

void leader_answered(struct leader *leader, const struct leader_answer *answer, int64_t now_ms)
{
    assert(answer->question == leader->asked && leader->asked != LEADER_NOTHING);
    assert(answer->sent_ms <= now_ms);
    assert(leader->phase == LEADER_LEADING || leader->revision == 0);
    leader->asked = LEADER_NOTHING;
    (void)leader_check(leader, now_ms);
    if (leader->phase == LEADER_ENDED)
        return;
    /* A grant that is repeated may have been done by its first try. */
    if (answer->question == LEADER_GRANT && leader->granting_ms == 0)
        leader->granting_ms = answer->sent_ms;
    switch (answer->outcome) {
    case LEADER_OK:
        answered_well(leader, answer, now_ms);
        break;
    case LEADER_GONE:
        lease_over(leader, now_ms);
        break;
    case LEADER_REFUSED:
        leader->refused = true;
        end_leadership(leader);
        break;
    case LEADER_UNKNOWN:
        leader->next_ms = now_ms + RETRY_MS;
        break;
    }
    if (leader->resigning && leader->phase != LEADER_ENDED)
        leader->next_ms = answer->outcome == LEADER_UNKNOWN ? now_ms + RETRY_MS : now_ms;
}
