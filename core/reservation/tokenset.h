/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/reservation.h"

/* Which session tokens reservations have: a fabric manager that gives the same one to two jobs
 * would let each reach the trees of the other (I6). Lives in place; constant time. */

struct token_slot {
    uint64_t hash;
    const struct reservation *owner; /* NULL: free */
};

struct tokenset {
    struct token_slot *slots; /* a power of two, at most half of them used; NULL: empty */
    size_t slot_count, count;
};

void tokenset_release(struct tokenset *set);

/* By the token that the reservation has; none is no error. Taken out before the token changes. */
void tokenset_add(struct tokenset *set, const struct reservation *reservation);
void tokenset_remove(struct tokenset *set, const struct reservation *reservation);

/* By this the ledger knows the session token of a job that is over again, without keeping it; 63
 * bits, and 0 for none. */
uint64_t token_proof(struct secret token);

/* Instead of the proof of a token, in an event of a reservation: of a RESERVE for it no answer has
 * told what came. Even, as no proof is. */
#define PROOF_UNANSWERED UINT64_C(2)

/* A reservation that has this token, or NULL. */
const struct reservation *tokenset_find(const struct tokenset *set, struct secret token);
