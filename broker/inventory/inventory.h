/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
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

struct inventory_hooks {
    void (*step)(void *arg, struct core_event *event);
    /* Base URL of the fabric manager in use; NULL: the link is not up. */
    const char *(*url)(void *arg);
    bool (*busy)(void *arg); /* calls for jobs wait */
    bool (*may_send)(void *arg);
    /* All VNI partitions, after each whole answer (B2), valid during the call; or NULL. */
    void (*partitions)(void *arg, const struct documents_partitions *all);
    /* Whether they are to be asked for again, whatever their version; NULL: they never are. */
    bool (*partitions_open)(void *arg);
    void *arg;
};

/* Copies the hooks. Never NULL; reads nothing before the loop runs. The configuration is the
 * caller's until another is in force. */
struct inventory_reader *inventory_create(uv_loop_t *loop, const struct inventory_hooks *hooks,
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

/* The VNI partitions, as last read whole; NULL: never (B2). They are there as long as none was read
 * since, also when the fabric manager is away. */
const struct documents_partitions *inventory_partitions(const struct inventory_reader *reader);
