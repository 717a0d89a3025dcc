/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"
#include "core/reservation/reservation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The multicast trees of steps that died without cleaning up: a holder of the job's token asks for
 * their removal, the fabric manager does it in the background (F19). What is asked for is on disk
 * until it is done or its time is over; which calls that takes lives here only.
 *
 * One reservation's cleanups are done one after the other, each call waiting its turn among those
 * of other reservations.
 *
 * The declarations of cleaner.c, which keeps the cleanups of one reservation, and of cleanup.c,
 * which makes the calls for them. */

/* One step, or one and all below it; or only a query of all steps, which no disk knows of. */
struct cleanup {
    struct waiter *waiters;
    int64_t give_up_ms;
    int64_t retry_ms; /* not before then */
    size_t length;    /* of step */
    bool below;       /* the steps below it too */
    bool query;
    bool again;     /* asked for once more while it was being done: trees made since then go too */
    uint32_t tries; /* calls that brought nothing */
    char step[];    /* steppath_valid; "" for a query */
};

/* One step that the fabric manager said has trees, and the first of these. */
struct cleanup_piece {
    char *step;
    uint16_t tree;
};

struct cleaner {
    struct operation op; /* of the call queue; its owner is the reservation. A call under way is
                             for the first cleanup */
    struct cleanup **cleanups;
    uint32_t count;
    size_t capacity;         /* of the list */
    int64_t paid_until_ms;   /* each new one costs time; too far ahead, and no more are taken */
    bool by_trees;           /* the job's token does not end a step here, only a tree; */
    bool steps_by_login;     /* nor show which trees a step has: that is asked for with the login */
    bool by_login;           /* nor end a tree: the site lets us use the login for all of it */
    bool sent_by_login;      /* the call that is under way, or was last */
    bool pieces_known;       /* pieces are known, of the first cleanup */
    bool unreachable_logged; /* of steps that no cleanup reaches; once */
    struct cleanup_piece *pieces;
    size_t piece_count, piece;
    uint32_t ended; /* the tree that went last, plus 1: listed again, it has not */
};

/* ---- cleaner.c ---- */

struct cleaner *cleaner_of(struct reservation *reservation); /* makes one */
void cleaner_destroy(struct cleaner *cleaner); /* NULL is allowed; no waiter is answered */

/* A new one at this place of the list: not before one that is under way. */
struct cleanup *cleaner_add(struct cleaner *cleaner, uint32_t at, const char *step, bool below);
/* The one asked for exactly so; NULL: none, as of a cleaner that is NULL. */
struct cleanup *cleaner_find(const struct cleaner *cleaner, const char *step, bool below);
/* The query, which is not behind this place then; a new one if there is none. */
struct cleanup *cleaner_query(struct cleaner *cleaner, uint32_t at);
/* One that does this too, or NULL. */
struct cleanup *cleaner_covering(const struct cleaner *cleaner, const char *step, bool below);

/* Of one that is in the list: to its front or its end; out of it, freed. */
void cleaner_move(struct cleaner *cleaner, struct cleanup *cleanup, bool to_front);
void cleaner_end(struct cleaner *cleaner, struct cleanup *cleanup);

/* Of what the fabric manager has, what the cleanup is about. */
void cleaner_keep_pieces(struct cleaner *cleaner, const struct cleanup *cleanup,
                         const struct fmcall_steps *steps);
void cleaner_forget_pieces(struct cleaner *cleaner);

/* ---- cleanup.c ---- */

struct core;
struct effect;

/* After loading: no deadline lies further away than it could if it were asked for now. */
void cleanup_resume(struct core *core, struct reservation *reservation);
/* Looks at what has become due or needless, and queues the next call. */
void cleanup_act(struct core *core, struct reservation *reservation);
int64_t cleanup_deadline(const struct core *core, const struct reservation *reservation);
/* Fills in which call it is. */
void cleanup_begin(struct core *core, struct reservation *reservation, struct effect *effect);
/* Whether a call under way would be about the job's next life, too, were that there by then. */
bool cleanup_may_hit_name(const struct reservation *reservation);
/* Whether what came of it says anything about the link: under a job's token not even a timeout
 * does, the gateway may want to see a certificate that goes with the login only. */
bool cleanup_done(struct core *core, struct reservation *reservation, enum fmcall_kind kind,
                  enum fmcall_outcome outcome, const struct fmcall_steps *steps, const char *words);
/* There is something at the fabric manager, and its end does not take the trees along anyway. */
bool cleanup_has_trees(const struct reservation *reservation);
/* Why no way is left to remove them; NULL: there is one. cleanup_allow_login says what to do. */
const char *cleanup_barred(const struct core *core, const struct reservation *reservation);
extern const char cleanup_allow_login[];
extern const struct fmcall_steps cleanup_no_steps;
