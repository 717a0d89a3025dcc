/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/leadership.h"
#include "core/core.h"
#include "core/inventory/inventory.h"
#include "fmapi/wire/documents.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* The core's edge towards what the fabric consists of (P1, docs/inventory.md): reads it from the
 * fabric manager when the link is up, and again what has changed since; gives the core one
 * CORE_FABRIC with the differences.
 *
 * Never in the path of a job: on connections of its own, a few requests at a time, each after the
 * calls for jobs that wait; what is read is decoded and compared on a worker thread. What cannot be
 * read, or makes no sense, costs a line in the log, and what was read last stays. */

struct inventory_reader;

struct inventory_surroundings {
    const struct core *core;       /* which fabric manager, and whether jobs wait for it */
    struct leadership *leadership; /* NULL: this broker is alone */
    void (*step)(void *arg, struct core_event *event);
    void *arg;
};

/* Copies the surroundings. Never NULL; reads nothing before the loop runs. The configuration is the
 * caller's until another is in force. */
struct inventory_reader *inventory_create(uv_loop_t *loop,
                                          const struct inventory_surroundings *around,
                                          const struct config *config);
/* keep: what it says of the fabric manager is as it was. */
void inventory_configure(struct inventory_reader *reader, const struct config *config, bool keep);
/* closed is called from the loop when nothing is left there. */
void inventory_destroy(struct inventory_reader *reader, void (*closed)(void *arg), void *arg);

struct inventory_facts {
    bool reads;         /* it asks the fabric manager */
    uint64_t version;   /* of the map: 1 is the first since the start; 0: there is none */
    int64_t changed_ms; /* Unix; when that map was read; 0: never */
    int64_t checked_ms; /* when it was last known to be as it is there; 0: never */
    int64_t took_us;    /* to read it, and */
    int64_t worker_us;  /* processor time of a worker to decode and index */
    uint64_t bytes;     /* of the lists and documents that were read */
    uint64_t reads_done, reads_failed, documents; /* since the start */
    const char *error;                            /* why the last try was in vain; "": it was not */
    int64_t old_after_ms; /* since checked_ms; then something is wrong with it */
    uint64_t memory;      /* bytes of the map and what it was made of */
};
void inventory_facts(const struct inventory_reader *reader, struct inventory_facts *out);

/* What is known now; valid until the loop turns. */
struct inventory inventory_now(const struct inventory_reader *reader);
