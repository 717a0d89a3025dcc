/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* Says that there is no command of this name, and which one it may be: one that is spelled alike,
 * or what other programs call it. An exit code. */
int unknown_command(struct call *call, const struct command_group groups[], const char *name);

/* What other programs call an option, as typed ("-u", "--user"): its name here, of commands that
 * have it; or NULL. */
const char *unknown_option(const char *typed);
