/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

#include <stdbool.h>

/* The modelled administrator: when it is calm he looks at the broker's alarms now and then, finds
 * out what is true, and says so: that what is missing is lost, when the fabric manager really has
 * lost it; that a cluster's name is ours alone, when no second broker is there. He fences nodes
 * that will not come back. */

struct sim;
struct request;

void admin_calm(struct sim *sim);
/* In some runs he looks for faults meanwhile, so that the fabric manager is asked for its list. */
void admin_storm(struct sim *sim);

void admin_event(const struct sim *sim, const struct request *request, struct core_event *event);
/* What he says reaches the broker. */
void admin_heard(struct sim *sim, const struct request *request);

/* Whether he can say that all of a cluster's name is ours: no second broker is there, and nothing
 * is in use that the ledger does not know. */
bool admin_can_tell(const struct sim *sim, const char *cluster);

/* Whether the broker raises this now, of this cluster. */
bool admin_sees(const struct sim *sim, enum alarm_kind kind, const char *cluster);
