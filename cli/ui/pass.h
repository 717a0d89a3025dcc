/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Passes one GET to the broker, as the user who started mcastctl, on a thread and a handle of its
 * own. */

#include "cli/command.h"

/* Returns the end of a pipe from which the answer's body is to be read: as the broker sends it, no
 * more than the pipe holds is kept. Waits for its first bytes. Or -1, with the error. call: names
 * the broker; outlives all. type: a literal. */
int pass_begin(const struct call *call, const char *target, const char *type,
               struct mcast_error *error);
