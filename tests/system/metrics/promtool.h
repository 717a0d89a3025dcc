/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_METRICS_PROMTOOL_H
#define MCAST_TESTS_METRICS_PROMTOOL_H

#include <stdbool.h>

/* Prometheus's own checker, of Debian's package prometheus. */

/* False: it is not installed, and the test that wants it is skipped, saying so. */
bool promtool_there(void);

/* Runs "promtool WORDS…" (NULL-terminated) with the file as its input, or none. True when it found
 * nothing to complain of; else what it says is on stderr. */
bool promtool_passes(const char *const words[], const char *input);

#endif
