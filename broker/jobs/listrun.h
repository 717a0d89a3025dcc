/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_JOBS_LISTRUN_H
#define MCAST_BROKER_JOBS_LISTRUN_H

#include "core/core.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

/* One job list poll: a list_command from its start to its result (see listcommand.h for what
 * counts). A run frees itself when it is over and nothing of it is in the loop. */

struct listrun;
struct listruns; /* all in progress */

struct listruns_owner {
    void *arg;
    void (*step)(void *arg, struct core_event *event); /* the result of one */
    void (*idle)(void *arg);                           /* there is none any more */
};

/* Never NULL (base/memory.h). */
struct listruns *listruns_create(uv_loop_t *loop, const struct listruns_owner *owner);

/* The process of this cluster that outlived SIGKILL and was given up; 0: none. */
pid_t listruns_unkilled(const struct listruns *runs, const char *cluster);
bool listruns_idle(const struct listruns *runs);

/* All of them, without events for the core. idle is called later. */
void listruns_kill(struct listruns *runs);
void listruns_destroy(struct listruns *runs); /* idle; from inside that call too */

/* Next comes one of the two below. */
struct listrun *listrun_create(struct listruns *runs, uint64_t id, const char *cluster);

/* argv as child.h wants it, needed only for this call. */
void listrun_start(struct listrun *run, char *const *argv, int64_t timeout_ms);
void listrun_fail(struct listrun *run, const char *why); /* it is not begun: one sentence */

#endif
