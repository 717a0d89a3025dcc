/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/target.h"
#include "core/reservation/record.h"

/* Which events a subscriber wants (P5), of those that it may see. */

struct event_filter {
    uint64_t kinds;            /* bit k: of enum event_kind; 0: all */
    const char *cluster, *job; /* of the target; NULL: any */
};

/* The parameters kind=a,b, cluster and job. 0, or -1 with a 422: what no event has would never
 * come. */
int event_filter_read(struct event_filter *filter, const struct target *target,
                      struct problem *problem);

bool event_filter_takes(const struct event_filter *filter, const struct event_record *event);
