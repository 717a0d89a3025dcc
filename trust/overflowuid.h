/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TRUST_OVERFLOWUID_H
#define MCAST_TRUST_OVERFLOWUID_H

#include <sys/types.h>

/* The uid that the kernel reports for every uid that it cannot map: of users outside a user
 * namespace, and by NFS for root. It identifies no single user. 65534, unless configured otherwise.
 */
uid_t overflowuid(void);

#endif
