/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/problem.h"
#include "tokens/bearer.h"
#include "base/secret.h"

#include <stdbool.h>

/* What a token in a request proves: that its bearer acts for one reservation, and how far
 * that goes (B3, F19). Nothing in it is secret. Pure. */

struct tokenproof {
    bool session;              /* the fabric manager's own token of the job, which has no bounds */
    char id[BEARER_ID_SIZE];   /* what logs call one of our tokens; "" for a session token */
    struct bearer_scope scope; /* of a session token: all of its reservation */
};

/* Whether it may be used for this, of this step (NULL: none). 0, or -1 with a 403 "outside-scope"
 * that names the scope. */
int tokenproof_allows(const struct tokenproof *proof, enum bearer_operation operation,
                      const char *step, struct problem *problem);

/* "token 0123456789abcdef of elcap/f2Rs8sydSxmd". Cut to fit; returns out. */
const char *tokenproof_format(const struct tokenproof *proof, char *out, size_t size);

/* Whether a token in a request is good now: it is known here, and its job's reservation is
 * active (B3, F19). */

struct http;
struct reservation;

/* 0, or -1 with a 401 in problem that says what is wrong and nothing of the token: "token-unknown",
 * "token-invalid", "token-expired", "reservation-over". A reservation that is released is over: its
 * release ends all its steps. */
int tokencheck_judge(const struct http *http, struct secret shown, struct tokenproof *out,
                     struct problem *problem);

/* The active reservation that it is for; never NULL in the step in which it was judged. */
const struct reservation *tokencheck_reservation(const struct http *http,
                                                 const struct tokenproof *proof);
