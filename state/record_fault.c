#include "state/record_fault.h"

#include "base/names.h"
#include "core/reservation/nodes.h"
#include "base/steppath.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a broker counts on from must leave room for what it will count: what does not fit would stop
 * it in the middle of its work. At a million a second it takes 146,000 years to get here. */
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

static const char *reservation_fault(const struct reservation_record *r)
{
    if (r->number == 0 || r->number > INT64_MAX)
        return "number is out of range";
    if (!r->cluster || !cluster_name_valid(r->cluster))
        return "cluster is not a cluster's name";
    if (!r->job || !job_id_valid(r->job))
        return "job is not a job id";
    if (!secret_none(r->token) && strlen(secret_expose(r->token)) > TOKEN_MAX)
        return "token is too long";
    if (r->vni_count > VNI_PER_JOB_MAX)
        return "vni_count is out of range";
    if (r->vni_asked > VNI_PER_JOB_MAX)
        return "vni_asked is out of range";
    if (r->traffic_classes & ~TC_ALL)
        return "traffic_classes has an unknown bit";
    if (r->wish < WISH_AUTO || r->wish > WISH_REQUIRED)
        return "wish is out of range";
    if (r->state < JOB_ACTIVE || r->state > JOB_RELEASING)
        return "state is out of range";
    if (r->hwcoll < HWCOLL_OFF || r->hwcoll > HWCOLL_RELEASED)
        return "hwcoll is out of range";
    if (r->fm_side > FM_SIDE_HELD)
        return "fm_side is out of range";
    if (r->regranted > 1)
        return "regranted is out of range";
    if (r->origin > ORIGIN_CLAIMED)
        return "origin is out of range";
    if (r->node_number > INT64_MAX)
        return "node_number is out of range";
    if (!is_time(r->created_ms) || !is_time(r->released_ms) || !is_time(r->hold_until_ms))
        return "a time is out of range";
    return NULL;
}

static const char *event_fault(const struct event_record *e)
{
    if (e->seq == 0 || e->seq > INT64_MAX)
        return "seq is out of range";
    if (e->number > INT64_MAX)
        return "number is out of range";
    if (e->proof > INT64_MAX)
        return "proof is out of range";
    if (e->cluster && !cluster_name_valid(e->cluster))
        return "cluster is not a cluster's name";
    if (e->job && !job_id_valid(e->job))
        return "job is not a job id";
    if (e->job && !e->cluster)
        return "cluster is missing";
    if (e->kind == EVENT_NONE || e->kind > EVENT_KIND_LAST)
        return "kind is out of range";
    if (!is_time(e->time_ms))
        return "time_ms is out of range";
    return NULL;
}

static const char *node_fault(const struct node_record *n)
{
    if (n->number == 0 || n->number > INT64_MAX)
        return "number is out of range";
    if (!n->node || !node_name_valid(n->node))
        return "node is not a node's name";
    if (n->state < NODE_CREATED || n->state > NODE_FENCED)
        return "state is out of range";
    if (n->order > INT64_MAX)
        return "order is out of range";
    if (n->services && !node_services_valid(n->services))
        return "services is not a list of services";
    return NULL;
}

static const char *cleanup_fault(const struct cleanup_record *c)
{
    if (c->number == 0 || c->number > INT64_MAX)
        return "number is out of range";
    if (!c->step || !steppath_valid(c->step))
        return "step is not a step's name";
    if (c->below > 1)
        return "below is out of range";
    if (!is_time(c->give_up_ms))
        return "give_up_ms is out of range";
    return NULL;
}

static const char *facts_fault(const struct facts_record *f)
{
    if (f->round_number > INT64_MAX)
        return "round_number is out of range";
    if (f->next_vni > UINT16_MAX + 1)
        return "next_vni is out of range";
    if (f->suspect > 1)
        return "suspect is out of range";
    if (!f->boot || strlen(f->boot) > BOOT_ID_MAX)
        return "boot is missing or too long";
    if (!is_time(f->clock_ms) || !is_time(f->holds_from_ms))
        return "a time is out of range";
    return NULL;
}

const char *record_fault(const struct record *record)
{
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
