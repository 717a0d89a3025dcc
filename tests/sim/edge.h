/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/rng.h"
#include "tests/sim/deferred.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The broker's process around the core: its loop, its timer, its deaths and restarts. It carries
 * effects out exactly as effect.h says. */

struct sim;
struct request;
struct wire_call;
struct reservation;

struct edge {
    struct core *core; /* NULL: dead */
    uint64_t process;  /* grows by one a start */
    struct rng rng;

    struct word *words; /* that wait, in order */
    size_t word_first, word_count, word_room;

    struct {
        uint64_t id, number;
        int64_t begun_ms;
        bool cleanup; /* after a step */
        bool relayed;
        char name[FM_NAME_MAX + 1];
    } * calls; /* that the core knows to be under way */
    size_t call_count, call_room;
    struct request **open; /* that the core has to answer */
    size_t open_count, open_room;

    uint64_t boot;     /* of its host, */
    int64_t booted_ms; /* … and when that was */
    bool rested;       /* in this life times on disk cannot be compared with now */
    int64_t clock_ms;  /* what its host's clock is ahead of the world's, in this life */
    int64_t armed_ms;  /* the timer */
    uint64_t timer;
    int64_t ticked_ms, window_ms;
    uint32_t ticks_at_once, ticks_in_window;
    int64_t called_ms;      /* the last call, */
    uint32_t calls_at_once; /* … and how many at that moment */

    bool suspect;  /* it took its ledger for an old one before the step */
    uint32_t fuse; /* dies at the fuse-th crash point from now; 0: lives on */
    char **listed; /* planted PARTIAL_LIST: what the last list showed */
    size_t listed_count, listed_room;
};

void edge_init(struct sim *sim);
void edge_release(struct sim *sim);
void edge_start(struct sim *sim); /* the first time; of several brokers: the one that leads now */

/* The configuration changed: a living broker reads it. */
void edge_configure(struct sim *sim);

/* Draws the deaths of a storm that begins now. */
void edge_storm(struct sim *sim);
void edge_calm(struct sim *sim);

/* A request arrives. False: nobody listens. */
bool edge_receive(struct sim *sim, struct request *request);

/* It is answered with a reservation that is there; the core is told of it. */
void edge_show(struct sim *sim, struct request *request, const struct reservation *reservation);

/* What comes back from the fabric manager. */
void edge_login_done(struct sim *sim, bool ok);
void edge_list_names(struct sim *sim, uint64_t list, const char *const *names, size_t count);
void edge_list_done(struct sim *sim, uint64_t list, int outcome);
void edge_call_done(struct sim *sim, const struct wire_call *call, int outcome);

/* A resource manager has said which of its jobs are active, or could not. */
void edge_jobpoll_done(struct sim *sim, const struct core_event *event);
void edge_piece(struct sim *sim, struct core_event *event); /* some of such a list */

/* Whether nobody waits any more for the reserve of that name. */
bool edge_gave_up(const struct edge *edge, const char *name);

/* The broker runs, and has nothing of the job any more: what appears under its name now must stay.
 * Before, it may be deleted by name with what was there. */
bool edge_forgot(const struct edge *edge, const char *name);

/* ---- for the journal ---- */

/* True: the broker is dead now. Between any two things that it does stands one of these. */
bool edge_crash_point(struct sim *sim);
void edge_die(struct sim *sim);
/* The process leads no longer, or is dead: its core, the caller's now. */
struct core *edge_take(struct sim *sim);
/* Lets out what has become durable. */
void edge_speak(struct sim *sim);

/* Whether the disk says in which boot, and by which clock, this life is. */
bool edge_clock_saved(const struct sim *sim);

/* Every request is answered, all words are out. */
bool edge_settled(const struct edge *edge);
