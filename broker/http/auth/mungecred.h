/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_MUNGECRED_H
#define MCAST_BROKER_HTTP_AUTH_MUNGECRED_H

#include "broker/http/auth/identity.h"
#include "broker/http/request/problem.h"

#include <stdbool.h>
#include <stddef.h>

/* A MUNGE credential (munge(7)) that proves who makes a request: Authorization: Munge CREDENTIAL.
 *
 * Its payload says for which request it was made: "mcastd1 METHOD TARGET", byte for byte as in the
 * request line, so that it cannot be used for another request. munged accepts it once, on this
 * host, within its lifetime. */

struct mungecred {
    int code; /* munge_err_t */
    struct proof proof;
    bool decoded;       /* proof tells who made it, although code may say that it does not count */
    bool other_request; /* the payload is not what was expected */
};

/* "mcastd1 METHOD TARGET" on the heap; NULL: no memory. */
char *mungecred_payload(const char *method, const char *target);

/* Asks the munged at the socket. Blocks for up to some seconds: for worker threads. */
void mungecred_decode(const char *socket, const char *credential, const char *payload,
                      struct mungecred *out);

/* 0: it proves out->proof. Or -1, with the reason in problem: 401, or 503 when munged cannot be
 * asked. */
int mungecred_judge(const struct mungecred *mungecred, struct problem *problem);

#endif
