#ifndef MCAST_SIM_FABRIC_H
#define MCAST_SIM_FABRIC_H

#include "core/fmcall.h"
#include "core/names.h"
#include "tests/sim/rng.h"
#include "tests/sim/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The modelled fabric manager: what it holds, and what a call does to it when it is acted on
 * (fabric-manager.md, "Jobs"). How calls travel is wire.h's business. */

struct sim;

struct object {
    char name[FM_NAME_MAX + 1];
    char token[TOLD_TOKEN_MAX + 1];
    uint32_t limit;
    uint64_t made;   /* grows by one an object */
    uint64_t number; /* of the reservation that asked for it; 0: none of ours did */
    bool foreign;    /* not ours to touch */
    bool returned;   /* it came back with an old state: nobody asked for it */
};

struct fabric {
    struct object *objects; /* in the order in which they were made */
    struct object *backup;  /* what may be restored; NULL: none was taken */
    size_t backup_count;
    size_t count, room;
    uint64_t last_made;
    uint32_t addresses;
    uint32_t foreign;
    bool up;
    struct rng rng;
};

void fabric_init(struct sim *sim);
void fabric_release(struct sim *sim);

/* What an earlier installation left behind; after rm_init. */
void fabric_begin(struct sim *sim);
/* Draws the outages, losses and strays of a storm that begins now. */
void fabric_storm(struct sim *sim);
/* Healthy from now on. */
void fabric_calm(struct sim *sim);

const struct object *fabric_find(const struct fabric *fabric, const char *name);

/* Acts on a call. token receives the sessionToken with FM_OK of RESERVE and CHECK. */
enum fmcall_outcome fabric_act(struct sim *sim, enum fmcall_kind kind, const char *name,
                               uint32_t addresses, uint64_t number,
                               char token[static TOLD_TOKEN_MAX + 1]);

#endif
