/* SPDX-License-Identifier: Apache-2.0 */
/* What the fabric manager holds: reservations of multicast addresses ("jobs"), the multicast trees
 * made within them, and which NIC is the root of a tree. Rules only: no HTTP, no disk, no clock.
 *
 * A request is first judged (objects_may_…), which changes nothing; the change that follows from it
 * is then applied. The journal keeps the same changes, and replays them. A change is a JSON object:
 *
 *   {"op":"job","at":T,"job":ID,"token":TOKEN,"limit":N,"serial":N,"version":N}   a reservation
 *   {"op":"job-gone","at":T,"job":ID}                      and its trees are gone
 *   {"op":"tree","at":T,"job":ID,"step":TEXT,"mcastID":N,"root":N,"vni":N,"timeout":N,"macs":[N,…]}
 *   {"op":"step-gone","at":T,"job":ID,"step":TEXT}         the trees of one step are gone
 *   {"op":"tree-gone","at":T,"mcastID":N}
 *   {"op":"mark","at":T,"serial":N,"nextMcastID":N}        counters that outlive the objects
 *   {"op":"reset","at":T}         everything is gone, and the counters are at their beginning
 *
 * T is in microseconds since 1970. Without memory the process ends. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mock-fm/http/message.h"

#define OBJECTS_MCAST_IDS 8192 /* multicast ids are 0…8191; libfabric takes no others */
#define OBJECTS_JOB_ID_MAX 255 /* bytes */
#define OBJECTS_STEP_MAX 1024  /* bytes; a job id path can be long */

struct job;

/* Addresses of Slingshot NICs: 20 bits, written by libfabric as three groups ("1:12:00"), and by
 * the fabric manager, in `hwRoot`, as six groups of which the first three are zero. */
#define NIC_ADDRESSES (1U << 20)
#define NIC_TEXT_SIZE 18 /* "00:00:00:0F:AB:CD" and its NUL */

/* Accepts exactly three groups of hexadecimal digits, F:FF:FF at most; false otherwise. */
bool nic_parse(const char *text, uint32_t *nic);

/* The form that libfabric sends. */
void nic_format_short(uint32_t nic, char text[NIC_TEXT_SIZE]);

/* The form that libfabric accepts as `hwRoot`. */
void nic_format_long(uint32_t nic, char text[NIC_TEXT_SIZE]);

/* Strings and macs are those of the change that made it. */
struct tree {
    json_t *made;
    struct job *job;
    const char *step;
    unsigned mcast_id;
    uint32_t root;
    unsigned vni;
    int64_t timeout_us;
    const json_t *macs; /* NIC addresses, as numbers */
    int64_t updated_us;
    struct tree *next; /* of the same job, oldest first */
};

struct job {
    const char *id; /* first: jobs are found by it */
    json_t *made;
    const char *token; /* the session token: a secret */
    unsigned limit;    /* addresses reserved */
    unsigned trees_in_use;
    uint64_t serial;  /* grows with every reservation ever made */
    uint64_t version; /* changes since it was made */
    int64_t updated_us;
    struct tree *trees;
    struct job *next, *previous; /* in the order of their serials */
};

/* To be read by all; changed by objects_apply alone. */
struct objects {
    unsigned addresses;
    bool overcommit;
    struct objects_totals {
        uint64_t jobs;
        uint64_t reserved; /* sum of the limits */
        unsigned trees;
        uint64_t last_serial;
        unsigned next_mcast_id;
    } totals;
    struct job *first, *last; /* in the order of their serials */
    void *by_id;              /* the jobs: tsearch's tree */
    struct tree *trees[OBJECTS_MCAST_IDS];
    struct tree **roots; /* by NIC address: the tree it is the root of */
};

/* `addresses`: the size of the pool, 1…OBJECTS_MCAST_IDS; the ids handed out are 0…addresses-1.
 * Without `overcommit` a reservation is refused when the pool holds fewer unreserved
 * addresses; with it, limits may add up to more, and a tree may find the pool empty. */
struct objects *objects_create(unsigned addresses, bool overcommit);
void objects_destroy(struct objects *objects);

/* May this job be reserved? 0, or -1 with 400 (the id or the limit), 409 (there is one already) or
 * 507 "02:" (the pool). */
int objects_may_reserve(const struct objects *objects, const char *id, int64_t limit,
                        struct problem *problem);

/* May this tree be made? `tree` is its change without "mcastID" and "root", which are filled in. 0;
 * or -1 with 400 (no such NICs; or each is a root already and this job has one of those), 404, 507
 * "01:" (the job's limit), "02:" (the pool), "03:" (each NIC is the root of another job's tree). */
int objects_may_grow(const struct objects *objects, json_t *tree, struct problem *problem);

/* 0; or -EINVAL for what is no change, or contradicts what is held (a damaged journal). Keeps a
 * reference to those that make something. */
int objects_apply(struct objects *objects, json_t *change);

/* NULL when there is none. */
struct job *objects_job(const struct objects *objects, const char *id);

/* What is held, as an array of the changes that make it out of nothing: shorter than what happened.
 */
json_t *objects_changes(const struct objects *objects);

struct objects *objects_copy(const struct objects *objects); /* without a limit of the pool */
