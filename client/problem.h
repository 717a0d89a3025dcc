#ifndef MCAST_CLIENT_PROBLEM_H
#define MCAST_CLIENT_PROBLEM_H

/* Turns an answer that is no success into a struct mcast_error (RFC 9457, api.md "Errors"). */

#include "client/call.h"
#include "client/mcast.h"

/* 404 becomes MCAST_NOT_FOUND, any other problem MCAST_REFUSED with the broker's detail, code and
 * field; an answer without application/problem+json MCAST_UNCLEAR, because that was not mcastd. */
int problem_read(const struct answer *answer, const char *peer, struct mcast_error *error);

/* Whether it is a problem with this `code`. */
bool problem_is(const struct answer *answer, const char *code);

/* 0 for a success (2xx); else problem_read, and with a 401 why the request proved nothing ("":
 * unknown). */
int problem_judge(const struct answer *answer, const char *peer, const char *unproved,
                  struct mcast_error *error);

#endif
