#ifndef MCAST_CLI_DURATION_H
#define MCAST_CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Spans of time as the configuration writes them: "30s", "10m", "1h", "7d". */

enum { DURATION_DAYS_MAX = 3650 };

/* From one second to ten years, in seconds. False: it is none. */
bool duration_parse(const char *text, int64_t *seconds);

/* The same, and "500ms", in milliseconds. */
bool duration_parse_ms(const char *text, int64_t *ms);

#endif
