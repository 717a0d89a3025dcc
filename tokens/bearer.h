/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "base/secret.h"
#include "base/steppath.h"
#include "tokens/chain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The broker's bearer tokens: read, narrowed, written without any key (B3). tokens/issuer.h makes
 * and verifies them. docs/tokens.md has the format with test vectors.
 *
 *   text   "mcast1." base64url(head, caveats, MAC), at most 1,024 characters
 *   head   root key id 8 | reservation's number 8 | length 1, cluster | length 1, job | nonce 16
 *   caveat kind 1 | length 2 | value; at most 16 of them. Numbers are big endian.
 *
 * A token is for one reservation, which it names by number. Caveats only restrict; all of them
 * apply. */

enum {
    BEARER_TEXT_MAX = 1024, /* characters, without the NUL */
    BEARER_BYTES_MAX = 762, /* that as many characters can carry */
    BEARER_CAVEATS_MAX = 16,
    BEARER_KEY_ID_SIZE = 8,
    BEARER_NONCE_SIZE = 16,
    BEARER_ID_SIZE = 17, /* 16 hexadecimal digits and a NUL */
};

enum bearer_caveat {
    BEARER_STEPS = 1,      /* this step and those below it (base/steppath.h) */
    BEARER_OPERATIONS = 2, /* 1 byte: these bits of enum bearer_operation, at least one */
    BEARER_EXPIRES = 3,    /* 8 bytes: Unix seconds; not from then on */
};

/* What a token may be used for. Narrowing cannot be forbidden. */
enum bearer_operation {
    BEARER_SHOW = 1,    /* see the reservation */
    BEARER_CLEANUP = 2, /* delete the multicast trees of its steps */
    BEARER_JOIN = 4,    /* make and delete trees through the broker, of a relayed job (B9) */
    BEARER_EVERYTHING = BEARER_SHOW | BEARER_CLEANUP | BEARER_JOIN,
};

/* A token's reservation, and what all of its caveats together allow. */
struct bearer_scope {
    uint64_t number;
    char cluster[CLUSTER_NAME_MAX + 1];
    char job[JOB_ID_MAX + 1];
    char steps[STEP_ID_MAX + 1]; /* this one and those below it; "": every step */
    bool no_steps;               /* its caveats name steps that have none in common */
    unsigned operations;         /* bits of enum bearer_operation; none is possible */
    int64_t expires;             /* Unix seconds; INT64_MAX: no caveat says so */
    unsigned caveats;
    int unknown; /* a caveat kind that this version does not know, or -1: such a token can be
                    narrowed, but not used */
};

/* A decoded token, not verified. A secret but for its scope and id: wipe it. */
struct bearer {
    unsigned char bytes[BEARER_BYTES_MAX]; /* head, which begins with the key id; caveats, MAC */
    size_t size, head_size;
    struct bearer_scope scope;
};

/* Whether it is one of our tokens, of whatever version, rather than some other secret. */
bool bearer_is_ours(struct secret text);

/* 0; ERROR_VERSION: of a later version; ERROR_INVALID: it is no token, cut or damaged. The sentence
 * says what is wrong without any of the token. On failure nothing of it is left in bearer. */
int bearer_decode(struct secret text, struct bearer *bearer, struct error *err);

/* Writes the text and a NUL. */
void bearer_encode(const struct bearer *bearer, char out[static BEARER_TEXT_MAX + 1]);

/* A head without caveats, to be signed by tokens/issuer.c. Names and number are valid. */
void bearer_begin(struct bearer *bearer, const unsigned char key_id[static BEARER_KEY_ID_SIZE],
                  uint64_t number, const char *cluster, const char *job,
                  const unsigned char nonce[static BEARER_NONCE_SIZE]);

/* What a token is to be restricted to; each on its own. */
struct bearer_limits {
    const char *steps;   /* NULL: as before */
    unsigned operations; /* 0: as before */
    int64_t expires;     /* Unix seconds, from 1; 0: as before */
};

/* Adds caveats. ERROR_INVALID: a limit is not allowed, or leaves nothing of what the token may do;
 * ERROR_FULL: the token would be too long; ERROR_NOMEM; ERROR_IO: no libcrypto. Unchanged on
 * failure. */
int bearer_narrow(struct bearer *bearer, const struct bearer_limits *limits, struct error *err);

/* Whether the scope has this operation, for this step (NULL: it is about none, or about one that is
 * not known here; not for cleanup). 0,
 * or ERROR_REFUSED with a sentence that names the scope. Time is the issuer's. */
int bearer_allows(const struct bearer_scope *scope, enum bearer_operation operation,
                  const char *step, struct error *err);

/* Bytes of the caveat that begins here, in a token that was decoded. */
size_t bearer_caveat_size(const unsigned char *caveat);

/* A token's name in logs: part of the head, not of the MAC. The same for all tokens that were
 * narrowed from one. */
void bearer_id(const struct bearer *bearer, char id[static BEARER_ID_SIZE]);

/* "show", "cleanup", "join": of one bit, up to BEARER_JOIN. */
const char *bearer_operation_word(enum bearer_operation operation);
/* 0: there is no such word. */
unsigned bearer_operation_parse(const char *word, size_t length);

void bearer_wipe(struct bearer *bearer);
