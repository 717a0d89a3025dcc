/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several brokers may write and speak, checked exhaustively (B7, I9, I10).
 *
 * LIVES processes, each with a lease of its own: brokers of several hosts, and one that was started
 * again. What was once sent to the cluster may be carried out at any later time, and any number of
 * times. A process may die, or stop, between any two steps.
 *
 * A lease's time is two bits. `past`: its deadline is over, by the clock of its process, of which the
 * process knows only when it looks. The cluster ends a lease only after that: this is what the
 * margin, and counting from the sending, are for (core/leader/leader.c).
 *
 * The ledger is the number of commits in it: each commit is made for the state that its leader has
 * in memory, so it must be carried out on exactly that one, once.
 */

#ifndef LIVES
#define LIVES 2
#endif
#ifndef COMMITS
#define COMMITS 2
#endif
#ifndef STEPS
#define STEPS 1 /* 3: each commit is too large for one transaction (state/etcd/redo.c) */
#endif
#define TXNS (COMMITS * STEPS)

#define AT(l, n) ((l) * (TXNS + 1) + (n))
/* Transactions of a large commit: parts that were left are cleared, its part is written, and the
 * last one, the commit, says that it is there. */
#define COMMITS_NOW(n) ((n) % STEPS == 0)
#define CLEARS(n)      (STEPS > 1 && (n) % STEPS == 1)

/* ---- the cluster ---- */
byte key = 0;                    /* the leader key, by its lease: 1 to LIVES; 0: there is none */
byte revision = 0;               /* at which it was created */
byte last_revision = 0;
byte seq_lease = 0, seq_commit = 0; /* the sequence key */
byte ledger = 0;
bool part = false;               /* of a large commit, written */
bool granted[LIVES + 1] = true;

/* ---- sent, so it may be carried out ---- */
bool campaign[LIVES + 1];
bool sent[(LIVES + 1) * (TXNS + 1)];
byte made_for[(LIVES + 1) * (TXNS + 1)]; /* what the ledger was in its leader's memory */
byte guarded_by[LIVES + 1];      /* the revision in its guards */

bool done[(LIVES + 1) * (TXNS + 1)];
bool deposed[LIVES + 1];         /* it was told so */
bool past[LIVES + 1];
byte late[LIVES + 1];            /* calls of the fabric manager that it sent too late */

#ifdef PLANT_STEP_WITHOUT_NUMBER /* only the commit itself raises the number */
#define BEFORE(n) (((n) - 1) / STEPS * STEPS)
#define RAISES(n) COMMITS_NOW(n)
#else
#define BEFORE(n) ((n) - 1)
#define RAISES(n) (true)
#endif
#ifdef PLANT_NO_SEQ              /* guarded by the leader key alone */
#define GUARDS_HOLD(l, n) (revision == guarded_by[l])
#elif defined(PLANT_NO_LEADER)   /* by its number alone, whose ever it is */
#define GUARDS_HOLD(l, n) (seq_commit == BEFORE(n))
#elif defined(SEQ_ALONE)         /* by the sequence key, which names the leader, too: is enough */
#define GUARDS_HOLD(l, n) (seq_lease == l && seq_commit == BEFORE(n))
#else
#define GUARDS_HOLD(l, n) (revision == guarded_by[l] && seq_lease == l && seq_commit == BEFORE(n))
#endif
#ifdef PLANT_LEASE_FROM_ANSWER   /* the deadline is after the lease's end */
#define MAY_END(l) (true)
#else
#define MAY_END(l) (past[l])
#endif
#ifdef PLANT_READ_LATE           /* a read is served without a look at the deadline */
#define MAY_READ(l) (memory <= ledger)      /* always */
#else
#define MAY_READ(l) (!past[l])
#endif

inline carry_out(l, n) {
    assert(!deposed[l]);                             /* "nothing more will be written" */
    if
    :: COMMITS_NOW(n) ->
        assert(ledger == made_for[AT(l, n)]);        /* one history (I9) */
        assert(part || STEPS == 1);                  /* all of it */
        part = false;
        ledger++
    :: CLEARS(n) -> part = false
    :: else -> part = true
    fi;
    done[AT(l, n)] = true;
    if
    :: RAISES(n) -> seq_lease = l; seq_commit = n
    :: else
    fi
}

/* What lies in the network and in members that were stopped; and time. */
active proctype world() {
    byte l, n;
end:
    do
    :: atomic {
        l = 1;
        do :: l < LIVES -> l++ :: break od;
        n = 1;
        do :: n < TXNS -> n++ :: break od;
        if
        :: campaign[l] && granted[l] && key == 0 ->
            key = l;
            last_revision++;
            revision = last_revision;
            seq_lease = l;
            seq_commit = 0
        :: sent[AT(l, n)] && GUARDS_HOLD(l, n) -> carry_out(l, n)
        :: !past[l] -> past[l] = true
        :: granted[l] && MAY_END(l) ->
            granted[l] = false;
            if
            :: key == l -> key = 0; revision = 0
            :: else
            fi
        :: else
        fi;
        l = 0;
        n = 0
       }
    od
}

active [LIVES] proctype broker() {
    byte me = _pid, n = 0, memory = 0;               /* world is process 0 */
#ifdef PLANT_LOAD_EARLY
    memory = ledger;
#endif
    campaign[me] = true;
    do
    :: atomic { key == me -> guarded_by[me] = revision; break } /* perhaps by a late copy */
    :: atomic { past[me] -> goto over }
    :: goto over                                     /* it dies */
    od;
#ifndef PLANT_LOAD_EARLY
    memory = ledger;
#endif
    do
    :: n < TXNS ->
        atomic { n++; made_for[AT(me, n)] = memory; sent[AT(me, n)] = true }
#ifdef PLANT_ANSWER_EARLY
        assert(done[AT(me, n)] || !COMMITS_NOW(n));
#endif
        do                                           /* the same bytes, until they are answered */
        :: atomic {
            if
            :: GUARDS_HOLD(me, n) -> carry_out(me, n); break
            :: !GUARDS_HOLD(me, n) && revision == guarded_by[me] && seq_lease == me &&
               seq_commit == n -> break              /* [commit_judge] */
            :: else -> deposed[me] = true; goto over
            fi
           }
        :: atomic { past[me] -> goto over }
        :: goto over
        od;
        if
        :: COMMITS_NOW(n) -> memory++
        :: else
        fi;
        if                                           /* the look before the answer */
        :: past[me] -> goto over
        :: else
        fi;
        assert(done[AT(me, n)])                      /* what is answered stands in the ledger (I2) */
    :: atomic { MAY_READ(me) && COMMITS_NOW(n) -> assert(memory == ledger) } /* a read shows all of it (I9) */
    :: atomic { !past[me] -> assert(key == me) };    /* the look before a call (I10) … */
        if                                           /* … and its send, perhaps much later */
        :: key != me -> late[me]++; assert(late[me] == 1)
        :: else
        fi
    :: atomic { past[me] -> goto over }
    :: goto over
    od;
over:
    skip
}
