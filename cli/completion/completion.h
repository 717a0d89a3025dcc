/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Completion of mcastctl's command line by shells, from the commands' own tables. */

#include "cli/command.h"

/* Prints the script, of bash or of zsh. */
void completion_print(const struct command_group groups[], bool zsh);
