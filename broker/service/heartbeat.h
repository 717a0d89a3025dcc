/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/engine.h"
#include "broker/service/notify.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

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
    const struct alarm *alarms; /* that are on */
    bool reload_refused;        /* the last reload changed nothing */
};

/* One line, without control characters. Returns the length of its first part, about
 * failures and the link; numbers follow, but of a standby. */
size_t statusline_format(const struct statusline *facts, char out[STATUSLINE_SIZE]);

/* Once a second: the status line for the service manager, when it has changed, WATCHDOG=1, and for
 * the log how many lines were left out.
 *
 * WATCHDOG=1 comes from a timer of the loop, so it stops when the loop does: a deadlock, an endless
 * loop, a system call that does not return. It goes on while a commit is stuck in its worker: the
 * disk is no better after a restart, and until it is, a broker that refuses requests and says why
 * (status, /readyz, metrics) is worth more than one that is killed and waits for the same disk. */

struct heartbeat {
    uv_timer_t timer;
    const struct notify *notify;
    const struct engine *engine;
    bool reload_refused;
    uint64_t sent_ms, alive_ms; /* when the status and WATCHDOG=1 were sent last, by the loop */
    char sent[STATUSLINE_SIZE]; /* the status line's first part then */
    size_t sent_size;
};

/* Before the loop runs: opening the store may recover it from its log, and loading it takes as long
 * as it is large. Neither is a failed start, so the service manager is asked for more time:
 * for the first by the size of the files, for the second as long as it gets on. */
void heartbeat_opening(const struct notify *notify, const char *state_path);
void heartbeat_loading(void *notify, uint64_t records); /* engine_options.loading */

/* All that is given stays the caller's. */
void heartbeat_start(struct heartbeat *sign, uv_loop_t *loop, const struct notify *notify,
                     const struct engine *engine);
/* READY=1 with the status line: after the start, and after each reload. */
void heartbeat_ready(struct heartbeat *sign);
/* Sends no more. The timer is in the loop for one more turn. */
void heartbeat_stop(struct heartbeat *sign);
