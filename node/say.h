/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_SAY_H
#define MCAST_NODE_SAY_H

/* One line on standard error, "mcast-node: …", with control characters replaced. The prefix also
 * keeps Slurm, which executes lines of a TaskProlog's output, from finding a command in it. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
