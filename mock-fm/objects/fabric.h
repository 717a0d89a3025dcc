/* SPDX-License-Identifier: Apache-2.0 */
/* The fabric manager's paths: what is answered to a request, and what it changes. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "mock-fm/http/message.h"
#include "mock-fm/http/auth.h"
#include "mock-fm/objects/inventory.h"
#include "mock-fm/objects/journal.h"
#include "mock-fm/objects/objects.h"
#include "mock-fm/objects/replica.h"
#include "mock-fm/http/tokens.h"

/* Clients may have this in their base URL, as they do in front of a real API gateway. */
#define FABRIC_GATEWAY_PREFIX "/apis/fabric-manager"

struct fabric {
    struct objects *objects;
    struct journal *journal; /* NULL: nothing outlives the process */
    const struct auth *auth;
    struct session_mint mint;
    enum session_reach reach;
    struct inventory inventory;
    struct replica *replica; /* while a rule may ask for reads that lag; owned by the owner of this;
                                otherwise NULL */
};

/* Makes a change durable, then puts it in force; to be answered only then. Takes the reference. 0,
 * or -1 with a 500. */
int fabric_commit(struct fabric *fabric, json_t *change, struct problem *problem);

/* The job, which must exist, and its trees are gone. 0, or -1 with a 500. */
int fabric_lose(struct fabric *fabric, const char *id, int64_t now_us, struct problem *problem);

/* From now on the fabric manager holds what the snapshot (objects_copy) holds, its counters
 * included, and nothing else; durably, if it has a journal. 0, or -1 with a problem. */
int fabric_restore(struct fabric *fabric, const struct objects *snapshot, int64_t now_us,
                   struct problem *problem);

/* Judges the request, makes the change durable and applies it, and answers. Always an answer; the
 * caller releases it. */
void fabric_answer(struct fabric *fabric, const struct request *request, struct answer *answer);

/* Makes the reservation {"jobID":…,"mcastLimit":…}; token NULL: a session token of its own. 0, or
 * -1 with a problem (objects_may_reserve). */
int fabric_reserve(struct fabric *fabric, const json_t *wish, const char *token, int64_t now_us,
                   struct problem *problem);
