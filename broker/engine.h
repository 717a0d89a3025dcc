/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/bearers.h"
#include "broker/config/config.h"
#include "broker/fabric.h"
#include "broker/inventory/inventory.h"
#include "broker/keyring.h"
#include "broker/leadership.h"
#include "broker/turn.h"
#include "core/core.h"
#include "fmapi/fmapi.h"
#include "state/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* Joins the core to its edges: steps it with events, saves its records through the journal, and
 * performs its other effects only when these are durable (architecture.md, "Save before speaking").
 */

struct engine;

/* Where answers and events go: broker/http. */
struct engine_listener {
    void *arg;
    /* An answer exists and may not be sent yet: render and keep it. Pointers in it die with this
     * call. */
    void (*render)(void *arg, const struct answer *answer);
    /* What was rendered for the ticket may be sent now. code: 0, or why it may not: ERROR_IO or
     * ERROR_FULL (it could not be saved: 503; it may be saved later, so the client repeats its
     * request), ERROR_NOT_LEADER, ERROR_REFUSED (the broker is stopping; these two may come without
     * a render before). Called exactly once for each ticket. */
    void (*send)(void *arg, uint64_t ticket, int code, const char *why);
    /* Events up to and with this seq are durable and may be sent (core_event_at). */
    void (*events)(void *arg, uint64_t last_seq);
};

enum broker_role { ROLE_STARTING, ROLE_LEADER, ROLE_STANDBY };
const char *broker_role_word(enum broker_role role);
enum broker_role engine_role(const struct engine *engine);

struct engine_options {
    uv_loop_t *loop;
    const struct config *config;   /* the caller's until another is in force */
    struct store *store;           /* the engine closes it; NULL: engine_use_store gives it */
    struct leadership *leadership; /* NULL: this broker is alone, and leads */
    struct bearers *bearers;       /* follows what is loaded and saved; NULL: none does */
    struct keyring *keyring;       /* that is shared, in the ledger; NULL: none is */
    /* Called now and then while engine_start loads the store, which can take long; or NULL. */
    void (*loading)(void *arg, uint64_t records);
    void *loading_arg;
    /* Where engine_start returned 1: it leads now, or err says why it cannot. */
    void (*started)(void *arg, const struct error *err);
    void *started_arg;
};
/* Never NULL (base/memory.h). */
struct engine *engine_create(const struct engine_options *options);
void engine_listen(struct engine *engine, const struct engine_listener *listener);

/* For an engine that was created without. */
void engine_use_store(struct engine *engine, struct store *store);

/* Loads the store and starts the core. 0 or a code with a sentence; or 1: the store has more to
 * fetch, and options.started is called when that is done. */
int engine_start(struct engine *engine, struct error *err);

/* Another configuration while it runs (F5), or before engine_start. keep_fabric: what it says of
 * the fabric manager, and the files that it names there, are as they were: connections and login
 * stay. 0, or a code with a sentence and nothing changed. Never from inside a step. */
int engine_configure(struct engine *engine, const struct config *config, bool keep_fabric,
                     struct error *err);

/* One event. now_ms is filled in here. The answer, if the event wants one, may be rendered and even
 * sent before this returns. */
void engine_step(struct engine *engine, struct core_event *event);

/* Saves the root keys of options.keyring, with what is unsaved now. */
void engine_save_keys(struct engine *engine);

/* Lets the listener send the answer of the ticket, which it has already, when everything that is
 * unsaved now is saved: for answers to reads. May call listener.send before it returns. */
void engine_after_saved(struct engine *engine, uint64_t ticket);

/* Whether the reservation of this number, as engine_core shows it, has yet to be saved: then an
 * answer that shows it waits for engine_after_saved, else it need not. */
bool engine_unsaved(const struct engine *engine, uint64_t number);

/* Why nothing can be saved now, and so nothing be changed: the last commit failed and is being
 * tried again. NULL: it can. */
const char *engine_storage_fault(const struct engine *engine);

const struct core *engine_core(const struct engine *engine);
/* NULL: this broker is alone. */
struct leadership *engine_leadership(const struct engine *engine);
/* What the fabric consists of; valid until the loop turns. All zero before it leads. */
struct inventory engine_inventory(const struct engine *engine, struct inventory_facts *facts);
int64_t engine_now_ms(const struct engine *engine);

/* Measures the turns of the loop: for long parts of one, and for signals. */
struct turn *engine_turn(struct engine *engine);

/* What has happened since the start, for /metrics and the status. What is
 * pointed to changes with the next turn of the loop and dies with engine_stop. */
struct engine_counters {
    enum broker_role role;
    const struct leadership_facts *leadership; /* NULL: this broker is alone */
    uint64_t commits, commit_failures, records, steps;
    uint32_t unsaved;     /* records gathered or being written now */
    bool storage_failing; /* the last commit failed; being retried */
    int64_t storage_failing_ms;
    char storage_error[ERROR_TEXT_SIZE];
    const struct histogram *commit_times, *commit_sizes; /* never NULL, as all here */
    const struct fabric_counters *fm;
    struct fmapi_counters fabric;
    struct inventory_facts inventory;
    struct fabric_counts fabric_parts;  /* as the inventory has them; all 0 without one */
    const struct histogram *loop_stall; /* turns of the loop without their wait */
    int64_t loop_stall_us_peak;         /* the longest of the last five minutes */
    int64_t loop_cpu_us_peak;           /* of them the most CPU time */
    int64_t started_ms;
};
void engine_counters(const struct engine *engine, struct engine_counters *out);

/* Stops taking steps; when all that was accepted is saved and answered, closes everything of its
 * own and calls stopped from the loop. */
void engine_stop(struct engine *engine, void (*stopped)(void *arg), void *arg);
void engine_destroy(struct engine *engine); /* after stopped; or when never started */
