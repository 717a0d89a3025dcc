#ifndef MCAST_TRUST_OVERFLOWUID_H
#define MCAST_TRUST_OVERFLOWUID_H

#include <sys/types.h>

/* The uid that the kernel tells instead of every uid that it cannot map: of users outside of a user
 * namespace, and by NFS of root. It names no one user: 65534, unless the system was told
 * otherwise. */
uid_t overflowuid(void);

#endif
