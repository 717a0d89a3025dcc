/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

/* A resource manager's list of jobs on its way into the core, in pieces: a step each, and whatever
 * else happens between them. */

struct sim;
struct pieces;

/* The first step at once, the others a little later; none when the broker has died meanwhile. The
 * event is a CORE_SYNC or a CORE_JOBPOLL_DONE of the whole list; the ids stay valid by themselves,
 * the list need not. */
void pieces_send(struct sim *sim, const struct core_event *event);

void pieces_release(struct sim *sim); /* those under way */
