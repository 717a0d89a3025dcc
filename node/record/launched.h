/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A job's launch document (launch/document.h) on its node: it says what the broker would have to be
 * asked for, and is used without it (S5). And the reservations that have ended here, for which a
 * document is good no more. */

#include "launch/document.h"
#include "node/commands/command.h"

/* For how long a document can be good at most, clocks that differ included. */
enum { LAUNCHED_LONGEST_S = 7 * 86400 + 2 * LAUNCH_CLOCK_SKEW_S };

/* Reads, opens and checks the document of --launch: FILE, "-" for standard input, or "env:NAME" for
 * a variable, in which other words may stand beside it. COMMAND_GO_ON with *launch, to be released;
 * or the exit code after a message: COMMAND_UNMET: it is not good here, or cannot be opened. */
int launched_read(struct node *node, const struct command_options *options, struct launch *launch);

/* What it entitles its job to here. */
int launched_claim(const struct launch *launch, struct claim *claim, struct error *err);

/* Whether the job's services may be made by this document. The caller has the job's lock.
 * COMMAND_GO_ON, or COMMAND_UNMET after a message: it may be of before this node booted; this start
 * of the job, or a later one, has ended here, or that is not known. */
int launched_check_ended(struct node *node, const struct claim *claim);

/* Whether the spool says of this reservation that it has ended here, or cannot be read. */
bool ended_has(const struct statedir *dir, const struct claim *claim);
/* Remembers that the reservation has ended here, for as long as a document of it can be good. */
int ended_add(const struct statedir *dir, const struct claim *claim, struct error *err);
/* The same of a job that neither this node nor the broker knows. cluster: NULL: of any. */
int ended_add_job(const struct statedir *dir, const char *cluster, const char *job,
                  struct error *err);
