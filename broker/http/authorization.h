#ifndef MCAST_BROKER_HTTP_AUTHORIZATION_H
#define MCAST_BROKER_HTTP_AUTHORIZATION_H

#include "broker/http/problem.h"

#include <stdbool.h>

/* The header Authorization (RFC 9110, 11.6.2): the scheme, and what is shown by it. */

/* Sets *credential to what a value "Munge CREDENTIAL" shows, borrowed from it. 0, or -1 with a 401
 * in problem for any other scheme. */
int authorization_read(const char *value, const char **credential, struct problem *problem);

#endif
