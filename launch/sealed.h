/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "launch/crypto.h"

#include <stdbool.h>

/* The envelope of launch documents for sites without MUNGE: signed by the broker, and sealed for
 * the nodes of its clusters. Text without blanks:
 *
 *   MCAST1.  base64url( key id 8 | nonce 12 | AES-256-GCM( signature 64 | document ) | tag 16 )
 *
 * The signature (Ed25519) is of "mcastd launch document 1", a NUL and the document. So who can read
 * a node's keys can read documents, but make none. The key id is the beginning of the public half.
 */

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

/* The keys of a file: the broker signs by the first; the second is its next one, for nodes to have
 * before it is used. Nodes take documents of both.
 *
 * The file: for each key a line for each of "seal", "verify" and "sign", with 64 hexadecimal
 * digits. A node's file has no line "sign". Mode 0600 or less, of the user that reads it or of
 * root. */
enum { LAUNCH_KEYS_MAX = 2, LAUNCH_KEYS_TEXT_SIZE = 512 };

struct launch_keys {
    size_t count;
    struct launch_key at[LAUNCH_KEYS_MAX];
};

void launch_keys_wipe(struct launch_keys *keys);
/* The text's length without its NUL. */
size_t launch_keys_format(const struct launch_keys *keys, bool for_nodes,
                          char out[LAUNCH_KEYS_TEXT_SIZE]);
/* ERROR_CORRUPT: it is no such text; then there are none. */
int launch_keys_parse(struct launch_keys *keys, const char *text, struct error *err);
/* The broker's file (all keys can sign), or a node's (none can). ERROR_REFUSED: others can read or
 * change it, or it is the other's; ERROR_NOT_FOUND, ERROR_CORRUPT, ERROR_INVALID, ERROR_IO: none.
 */
int launch_keys_read(struct launch_keys *keys, const char *path, bool for_nodes, struct error *err);

/* The document in its envelope, for free(); the key can sign. NULL with ERROR_IO or ERROR_NOMEM. */
char *sealed_close(const struct launch_key *key, const char *document, struct error *err);

/* The document, for free() after explicit_bzero. NULL with ERROR_INVALID: no such envelope;
 * ERROR_REFUSED: made with none of the keys, or damaged; ERROR_IO, ERROR_NOMEM. */
char *sealed_open(const struct launch_keys *keys, const char *envelope, struct error *err);
