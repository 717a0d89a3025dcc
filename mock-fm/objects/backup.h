/* A copy of what the fabric manager holds, to be put back later: as an administrator does who
 * restores it from an old backup. In memory only; it holds session tokens. */
#ifndef MCAST_MOCK_FM_OBJECTS_BACKUP_H
#define MCAST_MOCK_FM_OBJECTS_BACKUP_H

#include "mock-fm/objects/fabric.h"

struct backup;

/* NULL without memory. */
struct backup *backup_create(const struct objects *objects);
void backup_destroy(struct backup *backup);

/* From now on the fabric manager holds what it held then, its counters included, and nothing else;
 * durably, if it has a journal. The backup can be used again. 0, or -1 with a problem. */
int backup_restore(const struct backup *backup, struct fabric *fabric, int64_t now_us,
                   struct problem *problem);

#endif
