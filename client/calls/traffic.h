/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "client/calls/call.h"

#include <jansson.h>

/* What a job's nodes have counted (P6), as requests have it. NULL: no memory, or not UTF-8. */

json_t *traffic_encode(const struct mcast_node_traffic *of);
json_t *traffic_sum_encode(const struct mcast_traffic_sum *sum);
