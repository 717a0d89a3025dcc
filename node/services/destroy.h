/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_SERVICES_DESTROY_H
#define MCAST_NODE_SERVICES_DESTROY_H

/* Destroys services, and retries those that are busy (F9). The only place that does. */

#include "node/services/nic.h"
#include "node/retry.h"

#include <stddef.h>
#include <stdint.h>

enum { DESTROY_LEFT_MAX = 2 * NIC_MAX };

struct destroy_left {
    char device[NIC_NAME_SIZE];
    unsigned int id; /* 0: not known, the NIC could not be asked */
    int failure;     /* -EBUSY: in use still; else the NIC or the driver failed */
};

struct destroy_result {
    unsigned int destroyed; /* by us */
    unsigned int left_count;
    struct destroy_left left[DESTROY_LEFT_MAX];
};

/* Destroys what is meant on every NIC, never a system service; tries again while any of it is busy
 * and time is left. The filter is called again before each try, because ids are used again.
 * Afterwards the services of `nics` are as they were last read. */
void destroy_services(struct nics *nics, nic_service_fn *meant, void *arg, struct retry *retry,
                      struct destroy_result *result);

/* One more that is left; beyond DESTROY_LEFT_MAX nothing. */
void destroy_add_left(struct destroy_result *result, const char *device, unsigned int id,
                      int failure);

#endif
