/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A job's launch document (launch/document.h) on its node: it says what the broker would have to be
 * asked for, and is used without it (S5). And the reservations that have ended here, for which a
 * document is good no more. */

#include "launch/document.h"
#include "node/commands/command.h"

/* Reads, opens and checks the document of --launch: FILE, "-" for standard input, or "env:NAME" for
 * a variable, in which other words may stand beside it. COMMAND_GO_ON with *launch, to be released;
 * or the exit code after a message: COMMAND_UNMET when it is not for this job, start, owner or
 * node, or not good any more; COMMAND_REFUSED when this node cannot open any. */
int launched_read(struct node *node, const struct command_options *options, struct launch *launch);

/* What it entitles its job to here. */
int launched_claim(const struct launch *launch, struct claim *claim, struct error *err);

/* Whether the job's services may be made by this document. The caller has the job's lock.
 * COMMAND_GO_ON, or COMMAND_UNMET after a message: this start of the job, or a later one, has ended
 * here. */
int launched_check_ended(const struct node *node, const struct claim *claim);

/* Remembers that the reservation has ended here, for as long as its document is good. */
int ended_add(const struct statedir *dir, const struct claim *claim, struct error *err);
bool ended_has(const struct statedir *dir, uint64_t number);
