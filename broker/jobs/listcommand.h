/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "core/core.h"

#include <stdint.h>
#include <uv.h>

/* The core's edge towards resource managers: runs a cluster's list_command when EFFECT_JOBPOLL
 * asks for it, and brings back which jobs it names, as CORE_JOBPOLL_DONE (F20, F22).
 *
 * A list counts only when it is whole: the command exited with status 0, closed its output, and
 * printed nothing but job ids (joblines.h), or nothing at all and no complaint either. Everything
 * else is one sentence, with the first line of its stderr, in ASCII.
 *
 * The command runs as child.h says, with PATH, LANG, MCAST_CLUSTER and, if it is set here, TZ for
 * all its environment. When its time is over it gets SIGTERM, a second later SIGKILL, and so does
 * all that it has started and that did not leave its process group. */

struct listcommand;

/* Receives the events (now_ms not filled in); what they point to dies after it. */
typedef void listcommand_step_fn(void *arg, struct core_event *event);

/* Without any command. Never NULL (base/memory.h). */
struct listcommand *listcommand_create(uv_loop_t *loop, listcommand_step_fn *step, void *arg);

/* To be called before the first poll; and its list_commands count from the next poll on. config
 * stays the caller's until another one is configured. What runs goes on. */
void listcommand_configure(struct listcommand *commands, const struct config *config);

/* Each comes back exactly once, also when it could not even be begun, and never from inside this
 * call. A command that outlives SIGKILL (its file system hangs) is given up, and none is begun for
 * its cluster until it is gone. */
void listcommand_ask(struct listcommand *commands, uint64_t id, const char *cluster);

/* Kills what runs, without an event for the core: after a restart it polls again. closed is called
 * when nothing is left in the loop, perhaps before this returns; or NULL. */
void listcommand_destroy(struct listcommand *commands, void (*closed)(void *arg), void *arg);
