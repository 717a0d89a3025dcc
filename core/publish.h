/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_PUBLISH_H
#define MCAST_CORE_PUBLISH_H

#include "core/state.h"

/* Saves an event and publishes it. reservation NULL: about the link. detail may be NULL. */
void core_publish(struct core *core, enum event_kind kind, const struct reservation *reservation,
                  const char *detail);
/* About a cluster and no job; cluster NULL: about all. */
void core_publish_cluster(struct core *core, enum event_kind kind, const char *cluster,
                          const char *detail);
void core_publish_released(struct core *core, const struct reservation *reservation,
                           const char *why, uint64_t proof);

#endif
