/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/inventory/fabricmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which running jobs a change of the fabric, or of a node's NICs, concerns (P5): each gets one
 * event, job-fabric, of all that changed at once. A switch, cable or port concerns the jobs that
 * have a NIC at it. What has changed waits here until all nodes and all jobs were looked at, some
 * in each tick; what comes meanwhile waits for the next time. It is lost with the process. */

struct core;

enum {
    CONCERN_CHANGES_MAX = 256, /* that wait; more are not told to jobs */
    CONCERN_NODES_MAX = 8192,  /* that one time concerns; likewise, and of */
    CONCERN_JOBS_MAX = 1000,   /* jobs */
};

struct concern_change {
    char *node;         /* its NICs have changed; NULL: the fabric has */
    char *words;        /* "switch g0s3 (x1000c3) is down" */
    uint32_t low, high; /* of the fabric: as in struct fabric_change */
    uint8_t kind;       /* likewise */
};

struct concern_list {
    struct concern_change *all;
    size_t count, capacity;
    uint32_t left_out;
};

/* All zero is empty. */
struct concern {
    struct concern_list waiting, told; /* told: to the jobs, now */
    struct concern_node {
        char *name;
        uint32_t change; /* its index in told */
    } * nodes;           /* ordered by name, then by change, when all were looked at */
    size_t node_count, node_capacity;
    bool nodes_known;
    char after_node[256]; /* where to go on */
    uint64_t after_job;
    uint32_t jobs;
};

void concern_release(struct concern *concern);

void concern_fabric(struct core *core, const struct fabric_change *change, const char *words);
void concern_node(struct core *core, const char *node, const char *words);

/* Some more of it; core_next_deadline is now as long as there is any. */
void concern_tick(struct core *core);
int64_t concern_deadline(const struct core *core);
