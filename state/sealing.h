/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "base/secret.h"
#include "state/columns.h"
#include "tokens/seal.h"

#include <stddef.h>
#include <stdint.h>

/* Seals the tokens and keys of reservations when they are written, opens them when read, in
 * whatever they are kept. Used by one thread at a time. */

enum { SEALING_SIZE_MAX = TOKEN_MAX + SEAL_OVERHEAD };

struct sealing {
    const char *ledger; /* for messages, as is the next */
    char *key_file;
    struct seal *seal; /* NULL: nothing can be sealed */
    unsigned char sealed[SEALED_COUNT][SEALING_SIZE_MAX];
    char plain[SEALED_COUNT][SEALING_SIZE_MAX + 1];
};

/* For a sealing that is all zero. ledger outlives it; key_file is copied, and may be NULL. 0 or
 * ERROR_NOMEM. Release it in either case. */
int sealing_init(struct sealing *sealing, const char *ledger, const char *key_file,
                 const struct seal_key *key, struct error *err);
void sealing_release(struct sealing *sealing);

/* Seals a secret of the reservation into sealing->sealed[place]. Returns the size, or
 * ERROR_NOMEM. Not for none. */
int sealing_wrap(struct sealing *sealing, enum sealed place, uint64_t number, struct secret secret);

/* Opens what is sealed; NULL: damaged. The secret is valid until the next one in this place or
 * sealing_forget. 0, or a code and a sentence: ERROR_REFUSED (another key), ERROR_VERSION,
 * ERROR_CORRUPT (which does not name the ledger yet). */
int sealing_unwrap(struct sealing *sealing, enum sealed place, uint64_t number,
                   const unsigned char *sealed, size_t size, struct secret *secret,
                   struct error *err);
void sealing_forget(struct sealing *sealing);
