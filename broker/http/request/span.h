#ifndef MCAST_BROKER_HTTP_REQUEST_SPAN_H
#define MCAST_BROKER_HTTP_REQUEST_SPAN_H

#include "broker/http/request/problem.h"
#include "broker/http/request/target.h"

#include <stdbool.h>
#include <stdint.h>

/* Spans of time as clients write them: "500ms", "2s", "10m", "1h", "7d"; "0" needs no unit. */

/* False: it is none, or is longer than max_ms. */
bool span_parse(const char *text, int64_t max_ms, int64_t *ms);

/* The parameter wait of calls that can wait for the fabric manager: "?wait=2s". Pure. */

enum { WAIT_QUERY_MAX_MS = 60 * 1000 };

/* initial_ms when it is not given. 0, or -1 with a 422. */
int wait_query_read(const struct target *target, int64_t initial_ms, int64_t *wait_ms,
                    struct problem *problem);

#endif
