/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_RECORD_RESERVATION_H
#define MCAST_NODE_RECORD_RESERVATION_H

/* Where a job's reservation comes from: the broker, or a file. */

#include "node/node.h"

/* file: path, "-" for standard input, NULL: the broker is asked, and node->cluster must be known.
 * COMMAND_GO_ON with *claim, or the exit code after a message. quiet: no reservation is needed, so
 * that there is no message for COMMAND_NOT_FOUND, nor is a broker that is away waited for. */
int reservation_fetch(struct node *node, const char *file, const char *job, bool quiet,
                      struct claim *claim);

#endif
