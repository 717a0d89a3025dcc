/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/held.h"
#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a job's nodes have counted on their NICs between its prologs and its epilogs (P6): the sum
 * of those that have told it, and which NIC was the slowest and which the most congested. While the
 * reservation is there the sum is in memory only; when it ends, it is kept for a while as one row.
 * Counters are a NIC's, so other jobs on a node at the same time are in them, too: it is said of
 * how many nodes that is so. */

/* What one node tells, of all its NICs together. */
struct traffic_report {
    uint64_t amounts[TRAFFIC_KINDS]; /* of those that are not lacking; at most TRAFFIC_MAX each */
    uint8_t lacking;                 /* bits 1 << kind: it has no such counter */
    uint32_t seconds;                /* between its prolog and its epilog */
    uint32_t unclear;                /* NICs that are not in it: a counter went back */
    bool shared;                     /* another job had services there meanwhile */
    const char *slowest;             /* device of its NIC with the fewest octets, or NULL, */
    uint64_t slowest_octets;         /* … sent and received */
    const char *congested;           /* device of its NIC that was paused longest, or NULL */
    uint64_t congested_paused;
};

/* Adds what a node told to a job's sum, *traffic, which is made when it is NULL. What comes first
 * makes no difference: of NICs that are alike the first by name counts. */
void traffic_add(struct traffic_record **traffic, const char *node,
                 const struct traffic_report *report);
/* The same of what many nodes told, summed by who acts for their cluster; cluster, job and what is
 * of the reservation are not read. */
void traffic_merge(struct traffic_record **traffic, const struct traffic_record *more);
void traffic_destroy(struct traffic_record *traffic); /* NULL is allowed */

/* "node/device", as `slowest` and `congested` are kept. */
bool traffic_nic_valid(const char *nic);

/* ---- of jobs that are over ---- */

struct traffic_row {
    uint32_t uid, hash; /* of cluster and job (name_hash) */
    struct traffic_record *record;
};

/* Ordered by seq, oldest first. A user has at most a quarter of the places, so that
 * one who runs most jobs does not push out the others'. All zero is empty. */
struct traffic_log {
    struct traffic_row *rows;      /* from `first` on, */
    size_t first, count, capacity; /* so many */
    struct held users;             /* rows of each */
    uint64_t last_seq;
};

/* Copies; its seq is higher than all before. */
void traffic_keep(struct traffic_log *log, const struct traffic_record *record);
const struct traffic_record *traffic_newest(const struct traffic_log *log); /* there is one */
/* One that is to go, as it is older than `from_ms`, or there are more than max of all, or of the
 * newest one's user more than a quarter of that; or NULL. */
const struct traffic_record *traffic_excess(const struct traffic_log *log, size_t max,
                                            int64_t from_ms);
/* The one of this seq is taken out: to be freed when nothing points at it; or NULL. */
struct traffic_record *traffic_take(struct traffic_log *log, uint64_t seq);
/* The newest of a job that ended at from_ms or later; or NULL. */
const struct traffic_record *traffic_find(const struct traffic_log *log, const char *cluster,
                                          const char *job, int64_t from_ms);
void traffic_log_release(struct traffic_log *log);

/* The reservation ends: what is known of it becomes a row. Of keeptraffic.c. */
struct core;
struct reservation;
void core_keep_traffic(struct core *core, const struct reservation *reservation);
