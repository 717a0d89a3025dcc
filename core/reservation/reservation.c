/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/reservation.h"

#include <assert.h>
#include <string.h>

struct reservation_record reservation_record(const struct reservation *r)
{
    assert(r->cluster != NULL);
    struct reservation_record record = {
        .number = r->number,
        .cluster = r->cluster,
        .job = r->job,
        .nodes = r->nodes,
        .token = r->token,
        .reason = r->reason,
        .uid = r->uid,
        .node_count = r->node_count,
        .cores_per_node = r->cores_per_node,
        .addresses = r->addresses,
        .min_nodes = r->min_nodes,
        .vni_count = r->vni_count,
        .vni_asked = r->vni_asked,
        .traffic_classes = r->traffic_classes,
        .wish = r->wish,
        .state = r->state,
        .hwcoll = r->hwcoll,
        .fm_side = r->fm_side,
        .regranted = r->regranted,
        .hold_until_ms = r->hold_until_ms,
        .origin = r->origin,
        .node_number = r->node_number,
        .created_ms = r->created_ms,
        .released_ms = r->released_ms,
    };
    memcpy(record.vnis, r->vnis, sizeof record.vnis);
    return record;
}
