#ifndef MCAST_MOCK_CXI_HOLDER_H
#define MCAST_MOCK_CXI_HOLDER_H

/* The processes that use services: while one lives, its service is busy. */

#include <stdbool.h>

#include "mock-cxi/state.h"

/* Makes the calling process a user of a service; *lni is the number to give back. -EINVAL: no such
 * service, -EKEYREVOKED: it is disabled, -EPERM: the caller is no member (nor is root, by being
 * root), -ENOMEM. */
int holder_add(struct state *state, uint32_t nic, unsigned int service, unsigned int *lni);

/* -EINVAL: there is none. */
int holder_remove(struct state *state, uint32_t nic, unsigned int lni);

/* Whether a living process uses the service. Forgets those that ended. */
bool holder_is_busy(struct state *state, uint32_t nic, unsigned int service);

#endif
