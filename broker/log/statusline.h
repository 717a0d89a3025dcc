/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_LOG_STATUSLINE_H
#define MCAST_BROKER_LOG_STATUSLINE_H

#include "broker/engine.h"

/* The status line of `systemctl status`: the first alarm, other failures, the link, then the
 * numbers.
 *
 *   Cannot save: disk full; requests are refused. Fabric manager https://fmn:8000 is up. 12 jobs, …
 */

enum { STATUSLINE_SIZE = 1024 };

/* What it is made of. */
struct statusline {
    struct core_status core;
    struct engine_counters engine;
    struct core_alarm alarm; /* the first that is on, if any */
    uint32_t alarms;         /* how many are */
    bool reload_refused;     /* the last reload changed nothing */
};

/* One line, without control characters. Returns the length of its first part, about
 * failures and the link; numbers follow. */
size_t statusline_format(const struct statusline *facts, char out[STATUSLINE_SIZE]);

#endif
