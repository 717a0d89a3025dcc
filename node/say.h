#ifndef MCAST_NODE_SAY_H
#define MCAST_NODE_SAY_H

/* One line on standard error, whatever is in it, "mcast-node: …": the log of a hook, in whose first
 * word Slurm, which obeys what a TaskProlog writes, finds no order. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
