/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/effect.h"
#include "core/reservation/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a resource manager says of its jobs, in a sync or a poll (F20, F22): first it names those
 * that are active, in one piece or in many, then what we have is compared with that. Every job that
 * two job lists in a row, far enough apart, do not name is released.
 *
 * A million jobs are no step: reservations are compared in lots of [core_config] sync_lot. What
 * came, or was asked for again, after the list began is not compared. Of two lists of one cluster
 * at once, what the later one names does not count as missing in the earlier one. After a crash
 * nothing of it is known, and all needs two job lists again. */

struct core;
struct core_event;
struct cluster;

enum joblist_kind { JOBLIST_SYNC, JOBLIST_JOBPOLL };

struct joblist {
    struct joblist *next; /* begun later */
    enum joblist_kind kind;
    uint64_t mark;           /* ticket of the sync, id of the poll */
    struct cluster *cluster; /* NULL: not, or no longer, in the configuration */
    uint64_t id;             /* ascending */
    int64_t seen_ms;         /* not before this */
    uint64_t newest;         /* reservation when it began */
    bool had_jobs;           /* there were active ones then */
    bool whole;              /* all is named: it is being compared */
    struct ledger_walk at;   /* so far */
    struct sync_found found; /* its names are copies */
};

/* The one of this mark that is under way, or NULL. */
struct joblist *joblist_find(const struct core *core, enum joblist_kind kind, uint64_t mark);

/* The same, or a new one, of a cluster by name, configured or not. */
struct joblist *joblist_begin(struct core *core, enum joblist_kind kind, uint64_t mark,
                              const char *cluster, int64_t seen_ms);

/* Names of a list whose cluster is configured. After the last of them, not `more`: compares a first
 * lot, if no other job list is being compared; or returns why that is not believed, in words that
 * live until the next step. */
const char *joblist_add(struct core *core, struct joblist *joblist, const char *const *active,
                        size_t count, bool more);

/* It is over. What it found stays until the next step. */
void joblist_end(struct core *core, struct joblist *joblist);

/* Compares one more lot. Answers the sync, or tells jobpoll.c, when that was the last one. */
void joblist_tick(struct core *core);
int64_t joblist_deadline(const struct core *core);

/* The configuration has changed: what a poll names may come from a command that is not the one
 * to ask any more, and clusters may be gone. */
void joblist_configure(struct core *core);

void joblist_release(struct core *core); /* all memory */

void core_sync(struct core *core, const struct core_event *event);
