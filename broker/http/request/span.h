#ifndef MCAST_BROKER_HTTP_REQUEST_SPAN_H
#define MCAST_BROKER_HTTP_REQUEST_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* Spans of time as clients write them: "500ms", "2s", "10m", "1h", "7d"; "0" needs no unit. */

/* False: it is none, or is longer than max_ms. */
bool span_parse(const char *text, int64_t max_ms, int64_t *ms);

#endif
