/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"
#include "base/secret.h"
#include "tokens/fingerprint.h"

#include <stdint.h>

/* Which reservation a session token of the fabric manager, or the token of a relayed job, belongs
 * to (B3, F19, B9): fingerprints
 * (tokens/fingerprint.h) by which a presented token is found, and no tokens.
 *
 * It follows the ledger: what is loaded at the start, then what is saved. As many entries as there
 * are reservations with a token; following and finding cost O(1). */

struct bearers;

/* Copies the key of fingerprints. Never NULL (base/memory.h). */
struct bearers *bearers_create(const struct chain *key);
void bearers_destroy(struct bearers *bearers); /* wipes the key; NULL is allowed */

/* A record of the ledger: a RESERVATION with a token has that one from now on, one without has
 * none, one that is GONE neither; one that is being released keeps what it had, so that the
 * answer to its bearer is that it is over. The rest is not about tokens. */
void bearers_follow(struct bearers *bearers, const struct record *record);

/* The number of the reservation that has this token; 0: none. Should two have the same, the newer
 * one, since a fabric manager gives a token once. */
uint64_t bearers_find(const struct bearers *bearers, struct secret token);
