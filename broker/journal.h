/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/metrics/histogram.h"
#include "core/effect.h"
#include "core/fabric/fmcall.h"
#include "core/reservation/record.h"
#include "state/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct turn;

/* Save before acting (architecture.md, "Save before speaking"): gathers records in batches, commits
 * one batch at a time, and holds the core's other effects back until every record gathered before
 * them is durable.
 *
 * While a batch is being written the next one gathers, so many steps share one commit. The next
 * commit starts before the effects of the last one are performed (G4), by the store itself where it
 * can: then two are in progress.
 *
 * When a commit fails, its batch is kept and retried every second, with those gathered meanwhile
 * behind it. Answers do not wait for that: each is performed once, at once, with the failure. Calls
 * and events do wait, and are performed when the disk works again. */

/* Records that no answer or call waits for, as of what was given back, wait so long for the commit
 * of others: a commit of their own would delay the next request's (G27). */
enum { JOURNAL_RETRY_MS = 1000, JOURNAL_UNAWAITED_MS = 5 };

/* Performs effects. perform and flushed may step the core and so defer more effects: these are
 * performed after the present one, in order, and not by recursion. */
struct journal_sink {
    void *arg;
    struct turn *turn; /* measures the time it takes; NULL: not measured */
    /* Texts in the effect are copies, but of an answer there is only the ticket, and an event has
     * no texts: core_event_at shows it whole. code: of an answer 0, or why it may not be given
     * (ERROR_IO, ERROR_FULL, …). */
    void (*perform)(void *arg, const struct effect *effect, int code);
    void (*flushed)(void *arg); /* everything that was ready has been performed */
    void (*deposed)(void *arg); /* ERROR_NOT_LEADER: nothing can be saved any more */
};

struct journal;

/* The store stays the caller's. NULL with a sentence. */
struct journal *journal_create(uv_loop_t *loop, struct store *store,
                               const struct journal_sink *sink, struct error *err);

/* Puts a record into the batch that is being gathered. */
void journal_save(struct journal *journal, const struct record *record);

/* Copies the effect. It is ready when nothing is unsaved now, else it waits for that. Of one step
 * of the core, all records are saved before the first effect is deferred. */
void journal_defer(struct journal *journal, const struct effect *effect);

/* Performs what is ready. To be called at the end of each step. */
void journal_flush(struct journal *journal);

/* Starts the commit of what has gathered, unless one is in progress or nothing waits for it. To be
 * called once in each turn of the loop, before it waits, so that everything that arrived in one
 * turn shares one commit. */
void journal_turn(struct journal *journal);

/* Whether the reservation of this number is not on disk as it is in memory: something about it has
 * been saved since the last commit that succeeded began. It may be true of another one too. */
bool journal_about(const struct journal *journal, uint64_t number);

/* Nothing unsaved and nothing left to perform. */
bool journal_clean(const struct journal *journal);

struct journal_counters {
    uint64_t commits, commit_failures, records;
    struct histogram times, sizes; /* of commits that succeeded: how long, of how many records */
    bool failing;                  /* the last commit failed; being retried */
    int64_t failing_ms;            /* since when, Unix time */
    struct error error;
};
/* Valid until journal_destroy. */
const struct journal_counters *journal_counters(const struct journal *journal);
uint32_t journal_unsaved(const struct journal *journal); /* records gathered or being written */

/* Drops what is unsaved or not performed and no longer watches the store, which the caller closes
 * next (a commit in progress may still end, without a report). closed is called from the loop when
 * nothing is left there and the journal is freed. */
void journal_destroy(struct journal *journal, void (*closed)(void *arg), void *arg);
