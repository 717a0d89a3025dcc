/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Whether the broker is away, or the way of this node to it is broken (F10). A job comes to a node
 * when the broker has granted it something. So a broker that is away for all sends a node the jobs
 * of some moments, and then none: where a job that came later than that fails as another one did
 * before, and no request of this node found the broker between them, the way from here is broken:
 * of this node, or of all. */

#include "node/node.h"

/* A prolog that began then (note_clock_ms) failed because the broker could not be reached:
 * COMMAND_UNREACHABLE; or COMMAND_REFUSED after a message: no way leads there from here. */
int unreached_judge(const struct node *node, const char *job, int64_t began_ms);

/* The broker was found, or a job has all that it is to have without it. */
void unreached_forget(const struct node *node);
