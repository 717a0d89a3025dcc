/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/call.h"
#include "core/inventory/inventory.h"
#include "core/reservation/reservation.h"

/* The groups and switches that a job spans, which of its NICs are down, and which of its nodes have
 * no address. Nothing of other jobs and nodes. A switch has the nodes whose first NIC is there, and
 * all NICs. A job that named no nodes has none. addresses: "node_addresses", too, of 64 KiB at most
 * (core/inventory/nodeaddresses.h); null: none is known, or they are longer. */
void topology_json_write(struct writer *out, const struct inventory *inventory,
                         const struct reservation *reservation, bool addresses);
