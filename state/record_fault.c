/* SPDX-License-Identifier: Apache-2.0 */
#include "state/record_fault.h"

#include "base/names.h"
#include "base/steppath.h"
#include "core/reservation/nodes.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Leaves room for all that the broker will count: it must not overflow later. At a million a second
 * it takes 146,000 years to get here. */
#define COUNTER_MAX (INT64_MAX / 2)

/* The last moment of the year 9999. No clock shows a later one, and sums of times fit. */
#define TIME_MAX_MS INT64_C(253402300799999)

#define EVENT_COUNT_(name, word, fatal) +1
enum { EVENT_KIND_LAST = 0 EVENT_KINDS(EVENT_COUNT_) };
#undef EVENT_COUNT_

static bool is_time(int64_t ms)
{
    return ms >= 0 && ms <= TIME_MAX_MS;
}

#define FAULT_IF(condition, fault)                                                                 \
    do {                                                                                           \
        if (condition)                                                                             \
            return (fault);                                                                        \
    } while (0)

static const char *reservation_fault(const struct reservation_record *r)
{
    assert(r);
    FAULT_IF(r->number == 0 || r->number > INT64_MAX, "number is out of range");
    FAULT_IF(!r->cluster || !cluster_name_valid(r->cluster), "cluster is not a cluster's name");
    FAULT_IF(!r->job || !job_id_valid(r->job), "job is not a job id");
    FAULT_IF(!secret_none(r->token) && strlen(secret_expose(r->token)) > TOKEN_MAX,
             "token is too long");
    FAULT_IF(r->vni_count > VNI_PER_JOB_MAX, "vni_count is out of range");
    FAULT_IF(r->vni_asked > VNI_PER_JOB_MAX, "vni_asked is out of range");
    FAULT_IF(r->traffic_classes & ~TC_ALL, "traffic_classes has an unknown bit");
    FAULT_IF(r->wish < WISH_AUTO || r->wish > WISH_REQUIRED, "wish is out of range");
    FAULT_IF(r->state < JOB_ACTIVE || r->state > JOB_RELEASING, "state is out of range");
    FAULT_IF(r->hwcoll < HWCOLL_OFF || r->hwcoll > HWCOLL_RELEASED, "hwcoll is out of range");
    FAULT_IF(r->fm_side > FM_SIDE_HELD, "fm_side is out of range");
    FAULT_IF(r->regranted > 1, "regranted is out of range");
    FAULT_IF(r->origin > ORIGIN_CLAIMED, "origin is out of range");
    FAULT_IF(r->node_number > INT64_MAX, "node_number is out of range");
    FAULT_IF(!is_time(r->created_ms) || !is_time(r->released_ms) || !is_time(r->hold_until_ms),
             "a time is out of range");
    return NULL;
}

static const char *event_fault(const struct event_record *e)
{
    assert(e);
    FAULT_IF(e->seq == 0 || e->seq > INT64_MAX, "seq is out of range");
    FAULT_IF(e->number > INT64_MAX, "number is out of range");
    FAULT_IF(e->proof > INT64_MAX, "proof is out of range");
    FAULT_IF(e->cluster && !cluster_name_valid(e->cluster), "cluster is not a cluster's name");
    FAULT_IF(e->job && !job_id_valid(e->job), "job is not a job id");
    FAULT_IF(e->job && !e->cluster, "cluster is missing");
    FAULT_IF(e->kind == EVENT_NONE || e->kind > EVENT_KIND_LAST, "kind is out of range");
    FAULT_IF(!is_time(e->time_ms), "time_ms is out of range");
    return NULL;
}

static const char *node_fault(const struct node_record *n)
{
    assert(n);
    FAULT_IF(n->number == 0 || n->number > INT64_MAX, "number is out of range");
    FAULT_IF(!n->node || !node_name_valid(n->node), "node is not a node's name");
    FAULT_IF(n->state < NODE_CREATED || n->state > NODE_FENCED, "state is out of range");
    FAULT_IF(n->order > INT64_MAX, "order is out of range");
    FAULT_IF(n->services && !node_services_valid(n->services),
             "services is not a list of services");
    return NULL;
}

static const char *cleanup_fault(const struct cleanup_record *c)
{
    assert(c);
    FAULT_IF(c->number == 0 || c->number > INT64_MAX, "number is out of range");
    FAULT_IF(!c->step || !steppath_valid(c->step), "step is not a step's name");
    FAULT_IF(c->below > 1, "below is out of range");
    FAULT_IF(!is_time(c->give_up_ms), "give_up_ms is out of range");
    return NULL;
}

static const char *facts_fault(const struct facts_record *f)
{
    assert(f);
    FAULT_IF(f->round_number > INT64_MAX, "round_number is out of range");
    FAULT_IF(f->next_vni > UINT16_MAX + 1, "next_vni is out of range");
    FAULT_IF(f->suspect > 1, "suspect is out of range");
    FAULT_IF(!f->boot || strlen(f->boot) > BOOT_ID_MAX, "boot is missing or too long");
    FAULT_IF(!is_time(f->clock_ms) || !is_time(f->holds_from_ms), "a time is out of range");
    return NULL;
}

const char *record_fault(const struct record *record)
{
    assert(record);
    switch (record->kind) {
    case RECORD_RESERVATION:
        return reservation_fault(&record->u.reservation);
    case RECORD_EVENT:
        return event_fault(&record->u.event);
    case RECORD_GONE:
        return record->u.gone == 0 || record->u.gone > INT64_MAX ? "number is out of range" : NULL;
    case RECORD_PRUNE:
        return record->u.prune > INT64_MAX ? "seq is out of range" : NULL;
    case RECORD_COUNTERS:
        return record->u.counters.last_number > COUNTER_MAX ||
                       record->u.counters.last_seq > COUNTER_MAX
                   ? "a counter is out of range"
                   : NULL;
    case RECORD_NODE:
        return node_fault(&record->u.node);
    case RECORD_CLEANUP:
    case RECORD_CLEANED:
        return cleanup_fault(&record->u.cleanup);
    case RECORD_FACTS:
        return facts_fault(&record->u.facts);
    case RECORD_FOUNDED:
        return NULL;
    }
    return "kind is unknown";
}
