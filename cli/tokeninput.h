/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLI_TOKENINPUT_H
#define MCAST_CLI_TOKENINPUT_H

/* The token that a command works on. It is never taken from the command line, which every process
 * of the host can read, and is in no message. */

#include "client/mcast.h"
#include "cli/command.h"

/* From MCAST_TOKEN or, if that is unset or empty, from standard input, one line. COMMAND_GO_ON, or
 * an exit code after a message. To be wiped with explicit_bzero. */
int tokeninput_read(const struct command *command, char token[MCAST_TOKEN_SIZE]);

#endif
