#ifndef MCAST_BROKER_JOURNAL_H
#define MCAST_BROKER_JOURNAL_H

#include "broker/metrics/histogram.h"
#include "core/effect.h"
#include "core/fabric/fmcall.h"
#include "core/reservation/record.h"
#include "state/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct turn;

/* Save before speaking (architecture.md): gathers records in batches, commits one batch at a time,
 * and holds words back until every record gathered before them is durable.
 *
 * While a batch is being written the next one gathers, so many steps share one commit; and the next
 * commit is started before the words of the last one go out (quality.md), by the store itself where
 * it can: two are under way then.
 *
 * When a commit fails, its batch is kept and tried again every second, those gathered meanwhile
 * behind it. Answers are not kept waiting: they are said at once with the failure, and never twice.
 * Calls and events do wait, and go out when the disk works again. */

enum { JOURNAL_RETRY_MS = 1000 };

enum word_kind { WORD_ANSWER, WORD_CALL, WORD_LOGIN, WORD_LIST, WORD_ROLLCALL, WORD_EVENT };

/* One thing to say, made with journal_word and handed to journal_say. */
struct word {
    struct word *next;
    enum word_kind kind;
    int code; /* of an ANSWER: 0, or why it may not be given (ERROR_IO, ERROR_FULL, …) */
    union {
        uint64_t ticket; /* ANSWER */
        struct {
            uint64_t id;
            enum fmcall_kind kind;
            uint32_t addresses;
            uint16_t tree;
            const char *step;    /* in the word's own memory, as the token; NULL: none */
            struct secret token; /* the job's; none: the login */
        } call;
        uint32_t url;      /* LOGIN: index of the base URL */
        uint64_t list;     /* LIST: its id */
        uint64_t rollcall; /* ROLLCALL: its id */
        uint64_t seq;      /* EVENT */
    } u;
    char name[]; /* CALL: of the job at the fabric manager; ROLLCALL: of the cluster; else "" */
};

/* Who carries out what is said. Both may step the core and so say more; that comes out after what
 * is being said now, in order, and not by recursion. */
struct journal_mouth {
    void *arg;
    struct turn *turn; /* learns how long it took; NULL: nobody does */
    void (*say)(void *arg, const struct word *word); /* the word dies after it */
    void (*breath)(void *arg);                       /* everything that was ready has been said */
    void (*deposed)(void *arg); /* ERROR_NOT_LEADER: nothing will ever be saved again */
};

struct journal;

/* The store stays the caller's. NULL with a sentence. */
struct journal *journal_create(uv_loop_t *loop, struct store *store,
                               const struct journal_mouth *mouth, struct error *err);

/* Puts a record into the batch that is being gathered. */
void journal_save(struct journal *journal, const struct record *record);

/* A new word. name may be NULL. Never NULL (base/memory.h). */
struct word *journal_word(struct journal *journal, enum word_kind kind, const char *name);
struct word *journal_word_call(const struct effect *effect);

/* Takes the word. It is ready when nothing is unsaved now, else it waits for that. Of one step of
 * the core, all records are saved before the first word is given. */
void journal_say(struct journal *journal, struct word *word);

/* Says what is ready. To be called at the end of each step. */
void journal_flush(struct journal *journal);

/* Starts the commit of what has gathered, unless one is under way. To be called once in each turn
 * of the loop, before it waits, so that everything that arrived in one turn shares one commit. */
void journal_turn(struct journal *journal);

/* Whether the reservation of this number is not on disk as it is in memory: something about it has
 * been saved since the last commit that succeeded began. */
bool journal_about(const struct journal *journal, uint64_t number);

/* Nothing unsaved and nothing left to say. */
bool journal_clean(const struct journal *journal);

struct journal_counters {
    uint64_t commits, commit_failures, records;
    struct histogram times, sizes; /* of commits that succeeded: how long, of how many records */
    bool failing;                  /* the last commit failed; being tried again */
    struct error error;
};
/* Valid until journal_destroy. */
const struct journal_counters *journal_counters(const struct journal *journal);
uint32_t journal_unsaved(const struct journal *journal); /* records gathered or being written */

/* Forgets what is unsaved or not said and no longer listens to the store, which the caller closes
 * next (a commit under way may end, nobody hears of it). closed is called from the loop when
 * nothing is left there, the journal being freed. */
void journal_destroy(struct journal *journal, void (*closed)(void *arg), void *arg);

#endif
