/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "launch/crypto.h"

#include <stdbool.h>

/* The envelope of launch documents for sites without MUNGE, which no program uses yet: signed by
 * the broker, and sealed for the nodes of its clusters. Text without blanks:
 *
 *   MCAST1.  base64url( key id 8 | nonce 12 | AES-256-GCM( signature 64 | document ) | tag 16 )
 *
 * The signature (Ed25519) is of "mcastd launch document 1", a NUL and the document. So who can read
 * a node's key can read documents, but make none. */

enum { SEALED_KEY_ID_SIZE = 8, SEALED_LAUNCH_MAX = 24 * 1024 };

#define SEALED_PREFIX "MCAST1."

struct launch_key {
    unsigned char seal[CRYPTO_KEY_SIZE];   /* the broker's and the nodes' */
    unsigned char verify[CRYPTO_KEY_SIZE]; /* the public half */
    unsigned char sign[CRYPTO_KEY_SIZE];   /* the broker's alone */
    bool can_sign;
};

/* A new pair, for the broker. ERROR_IO, ERROR_NOMEM. To be wiped, as all of them. */
int launch_key_create(struct launch_key *key, struct error *err);
void launch_key_wipe(struct launch_key *key);

/* The text of a key file, one line for each of "seal", "verify" and "sign", with 64 hexadecimal
 * digits. A node's file has no line "sign". */
enum { LAUNCH_KEY_TEXT_SIZE = 256 };
void launch_key_format(const struct launch_key *key, bool for_nodes,
                       char out[LAUNCH_KEY_TEXT_SIZE]);
/* ERROR_CORRUPT: it is no such text. */
int launch_key_parse(struct launch_key *key, const char *text, struct error *err);

/* The document in its envelope, for free(); NULL with ERROR_IO or ERROR_NOMEM. */
char *sealed_close(const struct launch_key *key, const char *document, struct error *err);

/* The document, for free() after explicit_bzero. NULL with ERROR_INVALID: no such envelope;
 * ERROR_REFUSED: not of this broker, or damaged; ERROR_IO, ERROR_NOMEM. */
char *sealed_open(const struct launch_key *key, const char *envelope, struct error *err);
