#ifndef MCAST_HOOK_DETACH_H
#define MCAST_HOOK_DETACH_H

/* Leaving the work to a process of its own, which whoever started this one neither waits for nor
 * can end by mistake: of a session of its own, without a descriptor or a folder of the caller's. */

/* 1 in the caller, 0 in the process that goes on; -1 with errno when there is none. Only while
 * there is one thread. */
int detach(void);

#endif
