/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the pretended driver knows: services, who uses them, and how often faults have met calls.
 *
 * It lasts as long as its file, from process to process: deleting that is the machine's reboot. A
 * process that dies at any moment leaves the old state or the new one, whole. */

#include "base/error.h"
#include "cxi/abi.h"
#include "mock-cxi/conf.h"
#include "mock-cxi/place.h"

/* An array that grows, of plain structs without pointers: what a state file can hold. */
struct rows {
    void *at; /* of whatever type `size` is the size of; NULL before the first */
    uint32_t count;
    uint32_t size;
};

/* Makes room before row `index` (<= count), zeroed, and returns it. Pointers to rows are valid
 * until the next insertion. */
void *rows_insert(struct rows *rows, uint32_t index);

void rows_remove(struct rows *rows, uint32_t index);

void *rows_at(const struct rows *rows, uint32_t index);

struct service {
    uint32_t nic;
    struct cxi_svc_desc desc;
    uint32_t lnis_per_rgid;
    uint32_t tle_pool;         /* if it reserves trigger list entries */
    uint32_t netns;            /* 0: none */
    uint16_t vni_min, vni_max; /* 0: no range */
    bool exclusive_cp;
};

/* A process that uses a service, until it ends or says so. */
struct holder {
    uint32_t nic, service;
    uint32_t lni;
    int32_t pid;
    uint64_t born; /* when the process was started: process ids are used again */
};

enum { STATE_TABLES = 3 };

struct state {
    union {
        struct {
            struct rows services; /* struct service, by NIC and id */
            struct rows holders;  /* struct holder, in no order; the process may have ended */
            struct rows tallies;  /* struct fault_tally, in no order */
        };
        struct rows tables[STATE_TABLES];
    };
};

void state_init(struct state *state);
void state_release(struct state *state);

/* Reads the state, or begins a new one; gives each NIC that has none its default service. Needs an
 * initialized state; no lock is needed to look. ERROR_CORRUPT: delete the file. */
int state_load(struct state *state, const struct place *place, const struct conf *conf,
               struct error *err);

/* Needs the lock, held since before state_load. */
int state_save(const struct state *state, const struct place *place, struct error *err);

/* NULL: there is none. */
struct service *state_service(const struct state *state, uint32_t nic, unsigned int id);

/* A zeroed one with the lowest id that is free, as the driver does it: an id is soon another
 * service's. */
struct service *state_add_service(struct state *state, uint32_t nic);

void state_remove_service(struct state *state, const struct service *service);

/* The services of a NIC: *first of them, by id, and how many. */
uint32_t state_services(const struct state *state, uint32_t nic, const struct service **first);
