#ifndef MCAST_SIM_EDGE_H
#define MCAST_SIM_EDGE_H

#include "core/core.h"
#include "tests/sim/disk.h"
#include "tests/sim/rng.h"
#include "tests/sim/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The broker's process around the core: its loop, its journal with one commit at a time, its timer,
 * its deaths and restarts. It carries effects out exactly as effect.h says. */

struct sim;
struct request;
struct wire_call;

struct edge {
    struct core *core; /* NULL: dead */
    uint64_t process;  /* grows by one a start */
    struct rng rng;

    struct batch gathering, committing;
    uint64_t last_batch; /* the highest id given to a batch */
    uint64_t durable;    /* the newest batch that is on disk */
    bool commit_due;     /* one is about to begin */
    bool commit_under_way;
    uint64_t commit_mark;

    struct word *words; /* that wait, in order */
    size_t word_first, word_count, word_room;

    struct {
        uint64_t id;
        char name[FM_NAME_MAX + 1];
    } * calls; /* that the core knows to be under way */
    size_t call_count, call_room;
    struct request **open; /* that the core has to answer */
    size_t open_count, open_room;

    int64_t longest_wait_ms; /* the longest reserve_timeout there was */
    int64_t armed_ms;        /* the timer */
    uint64_t timer;
    int64_t ticked_ms, window_ms;
    uint32_t ticks_at_once, ticks_in_window;

    uint32_t fuse;      /* dies at the fuse-th crash point from now; 0: lives on */
    bool die_in_commit; /* … while the next commit is under way */
    char **listed;      /* planted PARTIAL_LIST: what the last list showed */
    size_t listed_count, listed_room;
    struct batch unsynced; /* planted NO_FSYNC: acknowledged, not on the platter */
};

void edge_init(struct sim *sim);
void edge_release(struct sim *sim);
void edge_start(struct sim *sim); /* the first time */

/* Draws the deaths and configuration reloads of a storm that begins now. */
void edge_storm(struct sim *sim);
void edge_calm(struct sim *sim);

/* A request arrives. False: nobody listens. */
bool edge_receive(struct sim *sim, struct request *request);

/* What comes back from the fabric manager. */
void edge_login_done(struct sim *sim, bool ok);
void edge_list_names(struct sim *sim, uint64_t list, const char *const *names, size_t count);
void edge_list_done(struct sim *sim, uint64_t list, int outcome);
void edge_call_done(struct sim *sim, const struct wire_call *call, int outcome);

/* Whether nobody waits any more for the reserve of that name. */
bool edge_gave_up(const struct edge *edge, const char *name);

/* All that was said is durable and out. */
bool edge_settled(const struct edge *edge);

#endif
