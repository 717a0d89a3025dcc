#ifndef MCAST_BROKER_HTTP_AUTH_TOKENCHECK_H
#define MCAST_BROKER_HTTP_AUTH_TOKENCHECK_H

#include "broker/http/request/problem.h"
#include "broker/http/auth/tokenproof.h"
#include "base/secret.h"

/* Whether a token that somebody shows is good now: it is known here, and its job's reservation is
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

#endif
