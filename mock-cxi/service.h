/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the driver allows of services, decided in memory. All return 0 or -errno; -EINVAL where
 * nothing else is said, also for a service that does not exist. */

#include <stdbool.h>

#include "mock-cxi/nic.h"
#include "mock-cxi/state.h"

/* What a driver does at its start: service 1, for VNIs 1 and 10, disabled. */
void service_add_default(struct state *state, const struct nic *nic);

/* The id. -EINVAL: a descriptor that makes no sense, or a maximum above what the NIC has; -EEXIST:
 * a VNI in another's range, or, unless shared_vnis, of another service; -ENOSPC: `fail` says of
 * which resources how much was free, up to the first that did not suffice, and which pools ran out
 * (for TLEs it says no number). Trigger list entries are at least 8, and the maximum becomes what
 * is reserved. It is enabled if its VNIs are restricted. */
int service_alloc(struct state *state, const struct nic *nic, bool shared_vnis,
                  const struct cxi_svc_desc *desc, struct cxi_svc_fail_info *fail);

/* Whether the descriptor makes sense on the NIC. */
int service_check(const struct nic *nic, const struct cxi_svc_desc *desc);

/* Whether another service than `id` has one of these VNIs in its range, or, if `singly`, as one of
 * its own. */
bool service_range_taken(const struct state *state, uint32_t nic, unsigned int id, uint16_t min,
                         uint16_t max, bool singly);

/* The service; -EBUSY: a process uses it. */
int service_find_idle(struct state *state, uint32_t nic, unsigned int id, struct service **service);

/* Enabled without a VNI it could use, a service is none. */
int service_enable(struct service *service, bool enable);

/* What its users hold. They hold nothing: no queue is ever made. NIC_NOT_KNOWN for what the
 * hardware counts in pools, when the service has none of its own. */
void service_use(const struct service *service, struct cxi_rsrc_use *use);

/* Makes the calling process a user of a service, which is busy while one lives; *lni is the number
 * to give back. -EKEYREVOKED: it is disabled, -EPERM: the caller is no member (nor is root, by
 * being root). */
int holder_add(struct state *state, uint32_t nic, unsigned int service, unsigned int *lni);

int holder_remove(struct state *state, uint32_t nic, unsigned int lni);
