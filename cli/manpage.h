/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLI_MANPAGE_H
#define MCAST_CLI_MANPAGE_H

#include "cli/command.h"

#include <stdio.h>

/* mcastctl(1), written from the commands' own words, so that neither says what the other does not.
 */
void manpage_print(FILE *out, const struct command *const commands[], size_t count);

#endif
