/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_REQUEST_WAIT_QUERY_H
#define MCAST_BROKER_HTTP_REQUEST_WAIT_QUERY_H

#include "broker/http/request/problem.h"
#include "broker/http/request/target.h"

#include <stdint.h>

/* The parameter wait of calls that can wait for the fabric manager: "?wait=2s". Pure. */

enum { WAIT_QUERY_MAX_MS = 60 * 1000 };

/* initial_ms when it is not given. 0, or -1 with a 422. */
int wait_query_read(const struct target *target, int64_t initial_ms, int64_t *wait_ms,
                    struct problem *problem);

#endif
