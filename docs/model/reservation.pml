/* The life of a reservation together with the fabric manager, checked exhaustively (B6).
 *
 * One job id with up to LIVES lives, one after the other; the fabric manager holds at most one
 * object under its name. Calls can fail in every way, the broker can die between any two steps,
 * the fabric manager can forget. How often is bounded, so every run ends; and where it ends
 *
 *   - no leak:   what the fabric manager holds is what the active life was told, or nothing, or an
 *                alarm says that something under the name is not known to be ours,
 *   - no loss:   an active life that was told of addresses has them, or was told that they are lost,
 *   - no hang:   every released life is over.
 *
 * Of what the fabric manager, or something in front of it, says so many answers are untrue: that
 * there is nothing under the name. And always: no false loss: no life that has what it was told is
 * declared lost on one such word (I11).
 *
 * And always: no theft: no release takes what a life that counts on it was told.
 *
 * Time is not modelled. "A call given up may still be acted on for [fm] timeout" becomes: it is a
 * ghost, which acts or vanishes at any time; and "settled" becomes possible only when there is no
 * ghost left. The names in brackets are those of the functions in core/ that a step stands for;
 * README.md says what is left out.
 */

#ifndef LIVES
#define LIVES 2
#endif
#ifndef FAILURES
#define FAILURES 2 /* answers that tell nothing */
#endif
#ifndef REFUSALS
#define REFUSALS 1 /* answers that say no, or a call that surely did not arrive */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FORGETS
#define FORGETS 1
#endif
#ifndef LISTS
#define LISTS 1
#endif
#ifndef LIES
#define LIES 1 /* answers to CHECK and lists that say there is nothing, and there is */
#endif

/* ---- on disk: struct reservation_record ---- */
mtype = { NONE, WANTED, RESERVED, WITHOUT, LOST, RELEASING, GONE }; /* state and hwcoll in one */
mtype = { NOTHING, MAYBE, THERE };                                    /* fm_side */
mtype life[LIVES] = NONE;
mtype side[LIVES] = NOTHING;
byte token[LIVES];

/* ---- in memory: struct operation; a crash forgets it ---- */
mtype = { NO_CALL, RESERVE, RELEASE, CHECK };
mtype call[LIVES] = NO_CALL;
mtype = { UNDER_WAY, OK, EXISTS, ABSENT };
mtype came[LIVES] = UNDER_WAY;   /* of acting on it */
byte shown[LIVES];               /* the token in that answer */
bool asked[LIVES];
bool unsure[LIVES];
bool doubted[LIVES];
bool gone[LIVES];                /* gone_ms: the fabric manager said so once */
bool other[LIVES];               /* other_token */
bool absent[LIVES];              /* absent_ms >= gone_ms: a list since then did not name it */
bool reserve_open[LIVES];        /* reserve_settles_ms is to come */
bool release_open[LIVES];        /* release_settles_ms is to come */
bool sent_reserve_open[LIVES];   /* … and was, when the call under way was sent */
bool sent_release_open[LIVES];
mtype = { AT_ONCE, AFTER_RESERVE, AFTER_RELEASE };
mtype retry[LIVES] = AT_ONCE;    /* retry_ms, when it is a settling time */

/* ---- the fabric manager, and what still flies towards it ---- */
byte object = 0;                 /* its token; 0: there is none */
byte last_token = 0;
byte reserve_ghosts = 0;
byte release_ghosts = 0;

byte failures = 0, refusals = 0, crashes = 0, forgets = 0, lists = 0, lies = 0;
bool conflict = false;           /* the alarm: something under the name is not known to be ours */
bool compared = false;           /* the last list was read, after all trouble */
byte now_living = 0;             /* lives begun */

#define WANTS(i)   (life[i] == WANTED || life[i] == RESERVED)
#define BEGUN(i)   (life[i] != NONE && life[i] != GONE)
#define OLDER_REMAINS(i)  (i > 0 && BEGUN(i - 1) && side[i - 1] != NOTHING)
#define OLDER_OPEN(i)     (i > 0 && BEGUN(i - 1) && release_open[i - 1])
#ifdef PLANT_NO_REST /* a late release takes the next life's object */
#define NAME_RESTS(i)     (OLDER_REMAINS(i))
#else
#define NAME_RESTS(i)     (OLDER_REMAINS(i) || OLDER_OPEN(i) || release_open[i])
#endif
#ifdef PLANT_BELIEVE_NO /* a no to the second try hides the first */
#define SIDE_AFTER_NO(i)  (NOTHING)
#else
#define SIDE_AFTER_NO(i)  (unsure[i] -> MAYBE : NOTHING)
#endif
#define SIDE_AFTER_YES(i) (unsure[i] -> MAYBE : THERE)
#ifdef PLANT_THERE_IS_ALL /* what was in the way hides a first try from the next start */
#define SIDE_UNWANTED(i)  (side[i])
#else
#define SIDE_UNWANTED(i)  ((unsure[i] && side[i] == THERE) -> MAYBE : side[i])
#endif
#ifdef PLANT_LOOK_AT_ONCE /* a CHECK that looked too early is believed */
#define LOOKS_AGAIN(i)    (life[i] == RESERVED && unsure[i] && !reserve_open[i])
#else
#define LOOKS_AGAIN(i)    (life[i] == RESERVED && unsure[i] && !reserve_open[i] && \
                           call[i] == NO_CALL)
#endif
#ifdef PLANT_COUNT_EARLY /* a release counts although an earlier reserve may yet be acted on */
#define TOO_EARLY(i)      (false)
#else
#define TOO_EARLY(i)      (sent_reserve_open[i])
#endif
#define MAY_RETRY(i) \
    (retry[i] == AT_ONCE || (retry[i] == AFTER_RESERVE && !reserve_open[i]) || \
     (retry[i] == AFTER_RELEASE && !release_open[i]))

/* wanted_call: the whole policy */
#define WANTS_RELEASE(i) \
    ((!WANTS(i) && BEGUN(i) && side[i] != NOTHING && !OLDER_REMAINS(i)) || \
     (life[i] == WANTED && side[i] == THERE))
#define WANTS_RESERVE(i) (life[i] == WANTED && side[i] == MAYBE && !NAME_RESTS(i))
#define WANTS_CHECK(i)   (life[i] == RESERVED && doubted[i])
#define IDLE(i)          (call[i] == NO_CALL && MAY_RETRY(i))

/* A release is acted on. No theft: no job that was told of this object still counts on it. */
inline take_away() {
    byte k;
    k = 0;
    do
    :: k < LIVES ->
        assert(!(object != 0 && life[k] == RESERVED && token[k] == object));
        k++
    :: else -> break
    od;
    k = 0;
    object = 0
}

inline send(i, kind) {                               /* [core_begin_calls] */
    call[i] = kind;
    came[i] = UNDER_WAY;
    shown[i] = 0;
    sent_reserve_open[i] = reserve_open[i];
    sent_release_open[i] = release_open[i];
    retry[i] = AT_ONCE;
    if
    :: kind == RESERVE -> asked[i] = true
    :: else -> skip
    fi
}

/* Two looks, and a list between them that began after the first; another token needs no list. */
#ifdef PLANT_ONE_LOOK /* what is said once is believed */
#define CONFIRMED(i)  (true)
#else
#define CONFIRMED(i)  (gone[i] && (other[i] || absent[i]))
#endif

inline act_on(i) {                                   /* the fabric manager does what it is asked */
    if
    :: call[i] == CHECK && object != 0 && lies < LIES -> lies++; came[i] = ABSENT
    :: call[i] == RESERVE && object == 0 ->
        last_token++;
        object = last_token;
        shown[i] = object;
        came[i] = OK
    :: call[i] == RESERVE && object != 0 -> came[i] = EXISTS
    :: call[i] == RELEASE -> take_away(); came[i] = OK
    :: call[i] == CHECK && object != 0 -> shown[i] = object; came[i] = OK
    :: call[i] == CHECK && object == 0 -> came[i] = ABSENT
    fi
}

inline over(i) {                                     /* the answer was looked at */
    call[i] = NO_CALL;
    came[i] = UNDER_WAY;
    shown[i] = 0
}

/* It was given up without having been acted on: it still may be, or it is lost. */
inline leave_ghost(i) {
    if
    :: came[i] == UNDER_WAY && call[i] == RESERVE -> reserve_ghosts++
    :: came[i] == UNDER_WAY && call[i] == RELEASE -> release_ghosts++
    :: true
    fi
}

inline forget_missing(i) {                           /* [missing_forget] */
    gone[i] = false;
    other[i] = false;
    absent[i] = false
}

inline lose(i) {                                     /* [lose] */
    assert(object == 0 || object != token[i]);       /* no false loss */
    life[i] = LOST;
    side[i] = SIDE_AFTER_NO(i);
    token[i] = 0;
    conflict = (conflict || other[i]);
    forget_missing(i)
}

inline answered(i) {                                 /* [reserve_done, release_done, check_done] */
    if
    :: call[i] == RESERVE && came[i] == OK ->
        side[i] = SIDE_AFTER_YES(i);
        if
        :: life[i] == WANTED -> life[i] = RESERVED; token[i] = shown[i]
        :: else -> skip                              /* late: no job wants it any more */
        fi
    :: call[i] == RESERVE && came[i] == EXISTS && !unsure[i] -> /* [name_is_taken] */
        conflict = true;
        side[i] = NOTHING;
        life[i] = (life[i] == WANTED -> WITHOUT : life[i])
    :: call[i] == RESERVE && came[i] == EXISTS && unsure[i] ->
        side[i] = (life[i] == WANTED -> THERE : SIDE_AFTER_YES(i))
    :: call[i] == RELEASE ->                         /* [released_at_fm] */
        if
        :: life[i] == WANTED && sent_release_open[i] -> retry[i] = AFTER_RELEASE
        :: life[i] != WANTED && TOO_EARLY(i) -> retry[i] = AFTER_RESERVE
        :: else ->
            unsure[i] = (sent_reserve_open[i] -> unsure[i] : false);
            side[i] = (life[i] == WANTED -> MAYBE : NOTHING)
        fi
    :: call[i] == CHECK && life[i] == RESERVED ->    /* [missing_said_gone] */
        doubted[i] = false;
        if
        :: came[i] == OK && shown[i] == token[i] ->
            forget_missing(i);
            side[i] = (unsure[i] -> side[i] : THERE)
        :: else ->
            if
            :: CONFIRMED(i) && (other[i] == (came[i] == OK) || !gone[i]) -> lose(i)
            :: else ->
                absent[i] = (gone[i] && absent[i]);
                gone[i] = true;
                other[i] = (came[i] == OK)
            fi
        fi
    :: call[i] == CHECK && life[i] != RESERVED -> skip
    fi;
    over(i)
}

inline refused(i) {                                  /* a definite no, or it never arrived */
    if
    :: call[i] == RESERVE && life[i] == WANTED ->
        side[i] = SIDE_AFTER_NO(i);
        life[i] = WITHOUT
    :: call[i] == RESERVE && life[i] != WANTED -> side[i] = SIDE_AFTER_NO(i)
    :: else -> skip                                  /* asked again */
    fi;
    over(i)
}

inline unanswered(i) {                               /* BUSY, TIMEOUT, BROKEN */
    leave_ghost(i);
    if
    :: call[i] == RESERVE -> unsure[i] = true; reserve_open[i] = true
    :: call[i] == RELEASE -> release_open[i] = true
    :: else -> skip
    fi;
    over(i)
}

inline crash() {                                     /* kill -9, and a start: [resume_after_load] */
    byte n;
    n = 0;
    do
    :: n < LIVES ->
        if
        :: call[n] != NO_CALL -> leave_ghost(n)
        :: else -> skip
        fi;
        over(n);
        retry[n] = AT_ONCE;
        asked[n] = life[n] != WANTED || side[n] != NOTHING;
        unsure[n] = BEGUN(n) && (side[n] == MAYBE || (life[n] == WANTED && side[n] == THERE));
        reserve_open[n] = unsure[n];
        release_open[n] = BEGUN(n) && (!WANTS(n) || (life[n] == WANTED && side[n] == THERE));
        forget_missing(n);
        doubted[n] = life[n] == RESERVED;            /* the list that follows: [doubt_active] */
        n++
    :: else -> break
    od;
    n = 0
}

/* A list was read: whom it names is there, whatever was said; and every active one is asked for by
 * name. It may be untrue as well. Strays are left alone here: the promises must hold without that
 * second net. */
inline compare() {                                   /* [missing_compare, doubt_active] */
    byte m;
    bool shows;
    shows = object != 0;
    if
    :: object != 0 && lies < LIES -> lies++; shows = false
    :: true
    fi;
    m = 0;
    do
    :: m < LIVES ->
        if
        :: shows && !other[m] -> forget_missing(m)
        :: !shows -> absent[m] = gone[m]
        :: else -> skip
        fi;
        doubted[m] = life[m] == RESERVED;
        m++
    :: else -> break
    od;
    m = 0;
    shows = false
}

#define MISSING (gone[0] || (LIVES > 1 && gone[LIVES - 1]))

proctype world() {
    byte i;
    do
    :: atomic {                                      /* the resource manager reserves: [create] */
        now_living < LIVES && (now_living == 0 || life[now_living - 1] == RELEASING ||
                               life[now_living - 1] == GONE) ->
            life[now_living] = WANTED;
            side[now_living] = MAYBE;
            now_living++
    }
    :: atomic {                                      /* … and releases: [core_begin_release] */
        now_living > 0 && life[now_living - 1] != RELEASING && life[now_living - 1] != GONE ->
            i = now_living - 1;
            if
            :: life[i] == WANTED && !asked[i] && side[i] == MAYBE -> side[i] = NOTHING
            :: else -> side[i] = SIDE_UNWANTED(i)
            fi;
            life[i] = RELEASING;
            token[i] = 0;
            i = 0
    }
    :: atomic {                                      /* the last one may run on: see the end */
        now_living == LIVES && life[LIVES - 1] != RELEASING && life[LIVES - 1] != GONE &&
        life[LIVES - 1] != WANTED -> goto quiet
    }
    :: atomic { life[LIVES - 1] == GONE -> goto quiet }
    :: atomic {                                      /* one step of one life */
        select(i : 0 .. LIVES - 1);
        if
        :: IDLE(i) && WANTS_RESERVE(i) -> send(i, RESERVE)
        :: IDLE(i) && WANTS_RELEASE(i) -> send(i, RELEASE)
        :: IDLE(i) && WANTS_CHECK(i) -> send(i, CHECK)
        :: call[i] != NO_CALL && came[i] == UNDER_WAY -> act_on(i)
        :: call[i] != NO_CALL && came[i] != UNDER_WAY -> answered(i)
        :: call[i] != NO_CALL && failures < FAILURES -> failures++; unanswered(i)
        :: call[i] != NO_CALL && came[i] == UNDER_WAY && refusals < REFUSALS ->
            refusals++;
            refused(i)
        :: life[i] == WANTED ->                      /* reserve_timeout: [core_give_up] */
            side[i] = ((asked[i] || side[i] == THERE) -> SIDE_UNWANTED(i) : NOTHING);
            life[i] = WITHOUT
        :: reserve_open[i] && reserve_ghosts == 0 -> reserve_open[i] = false
        :: release_open[i] && release_ghosts == 0 -> release_open[i] = false
        :: LOOKS_AGAIN(i) ->                        /* [must_check_again] */
            unsure[i] = false;
            doubted[i] = true
        :: life[i] == RELEASING && side[i] == NOTHING && call[i] == NO_CALL && !release_open[i] ->
            life[i] = GONE                           /* [everything_confirmed] */
        :: else -> skip
        fi;
        i = 0
    }
    :: atomic { reserve_ghosts > 0 -> reserve_ghosts--;
        if
        :: object == 0 -> last_token++; object = last_token
        :: true
        fi
    }
    :: atomic { release_ghosts > 0 -> release_ghosts--;
        if
        :: take_away()
        :: true
        fi
    }
    :: atomic { crashes < CRASHES -> crashes++; crash() }
    :: atomic {                                      /* it loses its state; a list will tell */
        object != 0 && forgets < FORGETS -> forgets++;
        object = 0
    }
    :: atomic { (lists < LISTS || (MISSING && lists < LISTS + 1)) -> lists++; compare() }
    od;

quiet:
    /* No more trouble: everything that can still happen does, until nothing can. */
    do
    :: atomic { reserve_ghosts > 0 -> reserve_ghosts--;
        if
        :: object == 0 -> last_token++; object = last_token
        :: true
        fi
    }
    :: atomic { release_ghosts > 0 -> release_ghosts--;
        if
        :: take_away()
        :: true
        fi
    }
    :: atomic { IDLE(0) && WANTS_RELEASE(0) -> send(0, RELEASE) }
    :: atomic { IDLE(0) && WANTS_CHECK(0) -> send(0, CHECK) }
    :: atomic { call[0] != NO_CALL && came[0] == UNDER_WAY -> act_on(0) }
    :: atomic { call[0] != NO_CALL && came[0] != UNDER_WAY -> answered(0) }
    :: atomic { reserve_open[0] && reserve_ghosts == 0 -> reserve_open[0] = false }
    :: atomic { release_open[0] && release_ghosts == 0 -> release_open[0] = false }
    :: atomic { life[0] == RELEASING && side[0] == NOTHING && call[0] == NO_CALL &&
                !release_open[0] -> life[0] = GONE }
#if LIVES > 1
    :: atomic { IDLE(1) && WANTS_RELEASE(1) -> send(1, RELEASE) }
    :: atomic { IDLE(1) && WANTS_CHECK(1) -> send(1, CHECK) }
    :: atomic { call[1] != NO_CALL && came[1] == UNDER_WAY -> act_on(1) }
    :: atomic { call[1] != NO_CALL && came[1] != UNDER_WAY -> answered(1) }
    :: atomic { reserve_open[1] && reserve_ghosts == 0 -> reserve_open[1] = false }
    :: atomic { release_open[1] && release_ghosts == 0 -> release_open[1] = false }
    :: atomic { LOOKS_AGAIN(1) ->
                unsure[1] = false; doubted[1] = true }
    :: atomic { life[1] == RELEASING && side[1] == NOTHING && call[1] == NO_CALL &&
                !release_open[1] -> life[1] = GONE }
#endif
    :: timeout ->
        if
        :: !compared -> compared = true; compare()   /* [relist] */
        :: compared && MISSING -> compare()          /* [link_list_within] */
        :: compared && !MISSING -> break
        fi
    od;

    /* no hang */
    assert(LIVES < 2 || life[0] == GONE);
    assert(life[LIVES - 1] == GONE || WANTS(LIVES - 1) || life[LIVES - 1] == WITHOUT ||
           life[LIVES - 1] == LOST);
    /* no leak, no loss */
    if
    :: life[LIVES - 1] == RESERVED -> assert(object == token[LIVES - 1])
    :: else ->                                       /* an administrator is asked; and only a list */
        assert(object == 0 || conflict || (lies > 0 && forgets > 0)) /* shows the rest */
    fi
}

init { run world() }
