#ifndef MCAST_BROKER_CONFIG_DURATION_H
#define MCAST_BROKER_CONFIG_DURATION_H

#include <stddef.h>
#include <stdint.h>

/* Spans of time as the configuration has them: "100ms", "10s", "5m", "2h", "7d"; "0" needs no unit.
 */

/* Milliseconds; -1: it is none. */
int64_t config_duration_parse(const char *text);

/* In the largest unit that leaves no rest; 32 bytes hold any. */
void config_duration_format(char *out, size_t size, int64_t ms);

/* The digits that text begins with, as a number of at most max; -1: there are none, or it is more.
 * *end is behind them. */
int64_t config_duration_digits(const char *text, int64_t max, const char **end);

#endif
