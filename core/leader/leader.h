/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Which of several brokers leads (B7): one broker's part in the election, as decisions without
 * clock, randomness or network. Brokers share a cluster that keeps their ledger (etcd). Who leads
 * holds the cluster's leader key, which lives as long as its lease.
 *
 * The caller asks the cluster what leader_next returns, one question at a time, and brings each
 * answer back. An answer that did not come is LEADER_UNKNOWN: it says nothing of what was done.
 *
 * All times are milliseconds of this host's CLOCK_BOOTTIME, which goes on in suspend, read for the
 * very call: none is before that of the call before (a time that an event loop has kept is). */

enum leader_phase {
    LEADER_TESTING, /* it is not known yet that this cluster guards transactions and is ours */
    LEADER_STANDBY, /* another broker leads, or none does */
    LEADER_LEADING,
    LEADER_ENDED, /* for good: it led and may no longer, it has resigned, or the test failed */
};

enum leader_question {
    LEADER_NOTHING,
    LEADER_TEST,     /* does a transaction with a wrong guard fail? Is the prefix ours, or empty? */
    LEADER_GRANT,    /* a lease of this id */
    LEADER_CAMPAIGN, /* the leader key, if there is none; else: who has it? */
    LEADER_KEEPALIVE, /* of the lease */
    LEADER_RESIGN,    /* revoke the lease, and the leader key with it */
};

struct leader_ask {
    enum leader_question question;
    uint64_t lease; /* of all but LEADER_TEST */
};

enum leader_outcome {
    LEADER_UNKNOWN, /* no answer, or one that says nothing: it may have been done, or be done yet */
    LEADER_OK,      /* done; of LEADER_CAMPAIGN: answered */
    LEADER_GONE,    /* the lease does not exist */
    LEADER_REFUSED, /* of LEADER_TEST and LEADER_CAMPAIGN: not what this broker may use or lead */
};

struct leader_answer {
    enum leader_question question; /* the one that was asked last */
    enum leader_outcome outcome;
    int64_t sent_ms;          /* just before the first byte of the question was sent */
    int64_t ttl_ms;           /* of LEADER_GRANT and LEADER_KEEPALIVE: what the cluster granted */
    uint64_t holder;          /* of LEADER_CAMPAIGN: the lease of the leader key */
    uint64_t holder_revision; /* … and the revision at which that key was created, from 1 */
};

/* Read with the functions below. */
struct leader {
    enum leader_phase phase;
    int64_t lease_ms;    /* as configured */
    int64_t ttl_ms;      /* as granted; 0: no lease */
    int64_t deadline_ms; /* until then it may act; 0: no lease */
    int64_t next_ms;     /* of the next question */
    int64_t granting_ms; /* when this lease's grant was first sent; 0: it was not answered yet */
    uint64_t lease;      /* 0: none was drawn */
    uint64_t revision;   /* of the own leader key; 0: it does not lead */
    uint64_t holder;     /* who leads, by lease; 0: none, or unknown */
    enum leader_question asked; /* and not answered yet */
    bool resigning;
    bool refused; /* LEADER_TEST was: starting again would not help */
};

enum { LEADER_LEASE_MIN_MS = 2000, LEADER_LEASE_MAX_MS = 60000 };

/* lease_ms: LEADER_LEASE_MIN_MS to LEADER_LEASE_MAX_MS. */
void leader_init(struct leader *leader, int64_t lease_ms);

/* What is to be asked now; LEADER_NOTHING: one question is unanswered, or none is due before
 * leader_wake. random: drawn for this call, from 1 to INT64_MAX; it names a new lease. */
struct leader_ask leader_next(struct leader *leader, int64_t now_ms, uint64_t random);

/* The answer to the last question. */
void leader_answered(struct leader *leader, const struct leader_answer *answer, int64_t now_ms);

/* When leader_next is to be called, or leader_check: INT64_MAX: never. */
int64_t leader_wake(const struct leader *leader);

/* Whether this broker may act as the leader at this moment: answer, call the fabric manager, serve
 * a read. To be asked immediately before each. Once it is false of a broker that led, it stays
 * false. */
bool leader_may_act(const struct leader *leader, int64_t now_ms);

/* As leader_may_act, and ends the leadership when the lease has run out. */
bool leader_check(struct leader *leader, int64_t now_ms);

/* The ledger's guard has failed: another broker leads (commit.h). Final. */
void leader_deposed(struct leader *leader);

/* Gives the leader key back: a standby need not wait for the lease. From here on it does not act.
 * The phase is LEADER_ENDED when that is done, or the lease has run out. */
void leader_resign(struct leader *leader);

/* How long one try of a question may take before another member of the cluster is asked. */
int64_t leader_try_ms(const struct leader *leader);
