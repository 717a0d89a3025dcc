#ifndef MCAST_NODE_COMMANDS_PAGE_H
#define MCAST_NODE_COMMANDS_PAGE_H

/* mcast-node(8), made of the words of its commands, keys and exit codes. */

#include "node/commands/command.h"

void page_print(FILE *out, const struct command *const commands[], size_t count);

#endif
