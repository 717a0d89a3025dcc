/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_AUTHORIZATION_H
#define MCAST_BROKER_HTTP_AUTH_AUTHORIZATION_H

#include "broker/http/request/problem.h"

#include <stdbool.h>

/* The header Authorization (RFC 9110, 11.6.2): the scheme, and what is shown by it. */

enum authorization_scheme { AUTHORIZATION_MUNGE, AUTHORIZATION_BEARER };

struct authorization {
    enum authorization_scheme scheme;
    const char *shown; /* the MUNGE credential, or the token; borrowed, never "" */
};

/* Reads a value such as "Munge CREDENTIAL" or "Bearer TOKEN" (RFC 6750). 0, or -1 with a 401 in
 * problem: another scheme, or nothing is shown. */
int authorization_read(const char *value, struct authorization *out, struct problem *problem);

#endif
