/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The modelled store: what state/store.h promises, without files. A batch is there whole or not at
 * all; what is in no durable batch dies with the process. */

struct batch {
    uint64_t id; /* grows by one a batch, over the whole run */
    struct record **records;
    size_t count, room;
};

void batch_init(struct batch *batch, uint64_t id);
void batch_release(struct batch *batch);
void batch_add(struct batch *batch, const struct record *record); /* copies, strings too */

struct disk {
    struct record **reservations; /* ascending number */
    size_t reservation_count, reservation_room;
    struct record **nodes; /* their reports, in no order */
    size_t node_count, node_room;
    struct record **traffic; /* of jobs that are over, by seq */
    size_t traffic_count, traffic_room;
    struct record **nics; /* of nodes, by their names */
    size_t nics_count, nics_room;
    struct record **sums; /* of nodes, in order for each reservation */
    size_t sum_count, sum_room;
    struct record **cleanups; /* that are asked for, in no order */
    size_t cleanup_count, cleanup_room;
    struct record **events; /* ascending seq */
    size_t event_count, event_room;
    uint64_t last_number, last_seq;       /* the highest ever saved */
    uint64_t deleted_number, deleted_seq; /* the highest that is not there any more */
    struct record **shared;               /* shared VNIs, ascending */
    size_t shared_count, shared_room;
    struct record *partitions; /* NULL: none */
    bool founded;
    bool has_facts;
    struct facts_record facts; /* its boot is the next one */
    char boot[BOOT_ID_MAX + 1];
};

void disk_init(struct disk *disk);
void disk_release(struct disk *disk);

/* A copy of all that is on it. */
void disk_copy(struct disk *copy, const struct disk *disk);

/* Makes the first count records of the batch durable. NULL, or what no right core would write. */
const char *disk_apply(struct disk *disk, const struct batch *batch, size_t count);

/* Every record in the store's order: counters, founded, facts, partitions, shared VNIs,
 * reservations, nodes, sums, cleanups, events. Stops when each returns other than 0, and returns
 * that. */
int disk_load(const struct disk *disk, int (*each)(void *arg, const struct record *record),
              void *arg);

/* The reservation of that number, or NULL. */
const struct reservation_record *disk_find(const struct disk *disk, uint64_t number);
const struct event_record *disk_event(const struct disk *disk, uint64_t seq);
