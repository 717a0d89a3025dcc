/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/auth/identity.h"
#include "broker/http/auth/workqueue.h"
#include "broker/http/request/problem.h"

#include <stdbool.h>

/* A MUNGE credential (munge(7)) that proves who makes a request: Authorization: Munge CREDENTIAL.
 *
 * Its payload says for which request it was made: "mcastd1 METHOD TARGET", byte for byte as in the
 * request line, so that it cannot be used for another request. munged accepts it once, on this
 * host, within its lifetime. */

enum authorization_scheme { AUTHORIZATION_MUNGE, AUTHORIZATION_BEARER, AUTHORIZATION_BASIC };

struct authorization {
    enum authorization_scheme scheme;
    const char *shown; /* the MUNGE credential, the token, or user and password in base64;
                          borrowed, never "" */
};

/* Reads the header Authorization, such as "Munge CREDENTIAL" or "Bearer TOKEN" (RFC 6750). 0, or -1
 * with a 401 in problem: another scheme, or nothing is shown. */
int authorization_read(const char *value, struct authorization *out, struct problem *problem);

struct mungecred {
    int code; /* munge_err_t */
    struct proof proof;
    bool decoded;       /* proof tells who made it, although code may say that it does not count */
    bool other_request; /* the payload is not what was expected */
};

/* "mcastd1 METHOD TARGET" on the heap. */
char *mungecred_payload(const char *method, const char *target);

/* Asks the munged at the socket. Blocks for up to some seconds: for worker threads. */
void mungecred_decode(const char *socket, const char *credential, const char *payload,
                      struct mungecred *out);

/* 0: it proves out->proof. Or -1, with the reason in problem: 401, or 503 when munged cannot be
 * asked. */
int mungecred_judge(const struct mungecred *mungecred, struct problem *problem);

/* Decodes MUNGE credentials without keeping the loop waiting (workqueue.h). */

enum { DECODER_QUEUE_MAX = 1024 /* waiting or being decoded */ };

/* Blocks; on worker threads. */
typedef void decoder_decode_fn(const char *socket, const char *credential, const char *payload,
                               struct mungecred *out);
typedef void decoder_done_fn(void *arg, const struct mungecred *mungecred);

struct decoder {
    struct workqueue queue; /* to be closed, which frees the decoder */
    decoder_decode_fn *decode;
};

/* decode: mungecred_decode, but in tests. */
struct decoder *decoder_create(uv_loop_t *loop, decoder_decode_fn *decode);

/* Calls done exactly once, from the loop, never from in here. payload: of mungecred_payload. 0,
 * or ERROR_FULL and done is not called. */
int decoder_ask(struct decoder *decoder, const char *socket, const char *credential,
                const char *payload, decoder_done_fn *done, void *arg);
