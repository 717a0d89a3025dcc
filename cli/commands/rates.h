/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* What nodes send and receive now, as mcast-node traffic --json tells it, line by line; shown as a
 * table that is replaced (a terminal), or as one more line. */

struct rates;

struct rates *rates_create(void);
void rates_destroy(struct rates *rates);

/* Takes a line of a node. False: it is none, or there are too many nodes. */
bool rates_take(struct rates *rates, const char *line);

/* Shows what has come since the last time, and begins anew. words: what the resource manager said,
 * or "". */
void rates_show(struct rates *rates, const char *cluster, const char *job, const char *words);
