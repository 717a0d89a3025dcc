/* The fabric manager's paths: what is answered to a request, and what it changes. */
#ifndef MCAST_MOCK_FM_FABRIC_H
#define MCAST_MOCK_FM_FABRIC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "mock-fm/answer.h"
#include "mock-fm/auth.h"
#include "mock-fm/inventory.h"
#include "mock-fm/journal.h"
#include "mock-fm/objects.h"
#include "mock-fm/session.h"

/* Clients may have this in their base URL, as they do in front of a real API gateway. */
#define FABRIC_GATEWAY_PREFIX "/apis/fabric-manager"

struct fabric {
    struct objects *objects;
    struct journal *journal; /* NULL: nothing outlives the process */
    const struct auth *auth;
    struct session_mint mint;
    struct inventory inventory;
};

struct request {
    const char *method;
    const char *path;          /* percent-decoded, without the query */
    const char *authorization; /* the header's value, or NULL */
    const char *body;          /* not terminated */
    size_t body_length;
    uint64_t page_size; /* of lists; 0: no pages */
    uint64_t after;     /* where the page of a list begins */
    int64_t now_us;     /* since 1970 */
};

/* Judges the request, makes the change durable and applies it, and answers. Always an answer; the
 * caller releases it. */
void fabric_answer(struct fabric *fabric, const struct request *request, struct answer *answer);

/* Loses these jobs (an array of ids) or, with NULL, all: as a fabric manager that lost its state.
 * Unknown ids are passed over. The number of jobs lost, or -1 with a problem. */
int fabric_forget(struct fabric *fabric, const json_t *ids, int64_t now_us,
                  struct problem *problem);

#endif
