/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/disk.h"

#include "tests/sim/grow.h"

#include <stdlib.h>
#include <string.h>

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const char *put(char **at, const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

/* One allocation: the record, then its strings. */
static struct record *record_copied(const struct record *record)
{
    const struct reservation_record *r = &record->u.reservation;
    const struct event_record *e = &record->u.event;
    const struct shared_vni_record *s = &record->u.shared_vni;
    size_t size = sizeof *record;
    if (record->kind == RECORD_RESERVATION)
        size += text_size(r->cluster) + text_size(r->job) + text_size(r->nodes) +
                text_size(secret_expose(r->token)) + text_size(secret_expose(r->key)) +
                text_size(r->reason) + text_size(r->profile);
    if (record->kind == RECORD_NODE)
        size += text_size(record->u.node.node) + text_size(record->u.node.services);
    if (record->kind == RECORD_SUM)
        size += text_size(record->u.sum.nodes);
    if (record->kind == RECORD_CLEANUP || record->kind == RECORD_CLEANED)
        size += text_size(record->u.cleanup.step);
    const struct traffic_record *t = &record->u.traffic;
    if (record->kind == RECORD_TRAFFIC)
        size += text_size(t->cluster) + text_size(t->job) + text_size(t->slowest) +
                text_size(t->congested);
    if (record->kind == RECORD_NODE_NICS)
        size += text_size(record->u.nics.node) + text_size(record->u.nics.nics);
    if (record->kind == RECORD_SHARED_VNI)
        size += text_size(s->name) + text_size(s->users) + text_size(s->clusters);
    if (record->kind == RECORD_PARTITIONS)
        size += text_size(record->u.partitions);
    if (record->kind == RECORD_EVENT)
        size += text_size(e->cluster) + text_size(e->job) + text_size(e->detail) +
                text_size(e->node) + text_size(e->clusters);

    struct record *copy = memory_zeroed(size);
    char *at = (char *)(copy + 1);
    *copy = *record;
    if (record->kind == RECORD_RESERVATION) {
        copy->u.reservation.cluster = put(&at, r->cluster);
        copy->u.reservation.job = put(&at, r->job);
        copy->u.reservation.nodes = put(&at, r->nodes);
        copy->u.reservation.token = secret_of(put(&at, secret_expose(r->token)));
        copy->u.reservation.key = secret_of(put(&at, secret_expose(r->key)));
        copy->u.reservation.reason = put(&at, r->reason);
        copy->u.reservation.profile = put(&at, r->profile);
    }
    if (record->kind == RECORD_NODE) {
        copy->u.node.node = put(&at, record->u.node.node);
        copy->u.node.services = put(&at, record->u.node.services);
    }
    if (record->kind == RECORD_SUM)
        copy->u.sum.nodes = put(&at, record->u.sum.nodes);
    if (record->kind == RECORD_CLEANUP || record->kind == RECORD_CLEANED)
        copy->u.cleanup.step = put(&at, record->u.cleanup.step);
    if (record->kind == RECORD_TRAFFIC) {
        copy->u.traffic.cluster = put(&at, t->cluster);
        copy->u.traffic.job = put(&at, t->job);
        copy->u.traffic.slowest = put(&at, t->slowest);
        copy->u.traffic.congested = put(&at, t->congested);
    }
    if (record->kind == RECORD_NODE_NICS) {
        copy->u.nics.node = put(&at, record->u.nics.node);
        copy->u.nics.nics = put(&at, record->u.nics.nics);
    }
    if (record->kind == RECORD_SHARED_VNI) {
        copy->u.shared_vni.name = put(&at, s->name);
        copy->u.shared_vni.users = put(&at, s->users);
        copy->u.shared_vni.clusters = put(&at, s->clusters);
    }
    if (record->kind == RECORD_PARTITIONS)
        copy->u.partitions = put(&at, record->u.partitions);
    if (record->kind == RECORD_EVENT) {
        copy->u.event.cluster = put(&at, e->cluster);
        copy->u.event.job = put(&at, e->job);
        copy->u.event.detail = put(&at, e->detail);
        copy->u.event.node = put(&at, e->node);
        copy->u.event.clusters = put(&at, e->clusters);
    }
    return copy;
}

void batch_init(struct batch *batch, uint64_t id)
{
    memset(batch, 0, sizeof *batch);
    batch->id = id;
}

void batch_release(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        free(batch->records[i]);
    free(batch->records);
    memset(batch, 0, sizeof *batch);
}

void batch_add(struct batch *batch, const struct record *record)
{
    GROW(batch->records, batch->count, batch->room);
    batch->records[batch->count++] = record_copied(record);
}

void disk_init(struct disk *disk)
{
    memset(disk, 0, sizeof *disk);
}

void disk_release(struct disk *disk)
{
    for (size_t i = 0; i < disk->reservation_count; i++)
        free(disk->reservations[i]);
    for (size_t i = 0; i < disk->event_count; i++)
        free(disk->events[i]);
    for (size_t i = 0; i < disk->node_count; i++)
        free(disk->nodes[i]);
    free(disk->reservations);
    free(disk->events);
    free(disk->nodes);
    for (size_t i = 0; i < disk->cleanup_count; i++)
        free(disk->cleanups[i]);
    free(disk->cleanups);
    for (size_t i = 0; i < disk->sum_count; i++)
        free(disk->sums[i]);
    free(disk->sums);
    for (size_t i = 0; i < disk->nics_count; i++)
        free(disk->nics[i]);
    free(disk->nics);
    for (size_t i = 0; i < disk->traffic_count; i++)
        free(disk->traffic[i]);
    free(disk->traffic);
    for (size_t i = 0; i < disk->shared_count; i++)
        free(disk->shared[i]);
    free(disk->shared);
    free(disk->partitions);
    memset(disk, 0, sizeof *disk);
}

static void copy_all(struct record ***copies, size_t *count, size_t *room,
                     struct record *const *records, size_t wanted)
{
    for (size_t i = 0; i < wanted; i++) {
        GROW(*copies, *count, *room);
        (*copies)[(*count)++] = record_copied(records[i]);
    }
}

void disk_copy(struct disk *copy, const struct disk *disk)
{
    *copy = *disk;
    copy->reservations = copy->nodes = copy->sums = copy->cleanups = copy->events = NULL;
    copy->nics = NULL;
    copy->nics_count = copy->nics_room = 0;
    copy->traffic = NULL;
    copy->traffic_count = copy->traffic_room = 0;
    copy->reservation_count = copy->node_count = copy->cleanup_count = copy->event_count = 0;
    copy->reservation_room = copy->node_room = copy->cleanup_room = copy->event_room = 0;
    copy->sum_count = copy->sum_room = 0;
    copy->shared = NULL;
    copy->shared_count = copy->shared_room = 0;
    copy->partitions = disk->partitions ? record_copied(disk->partitions) : NULL;
    copy_all(&copy->shared, &copy->shared_count, &copy->shared_room, disk->shared,
             disk->shared_count);
    copy_all(&copy->reservations, &copy->reservation_count, &copy->reservation_room,
             disk->reservations, disk->reservation_count);
    copy_all(&copy->nodes, &copy->node_count, &copy->node_room, disk->nodes, disk->node_count);
    copy_all(&copy->sums, &copy->sum_count, &copy->sum_room, disk->sums, disk->sum_count);
    copy_all(&copy->traffic, &copy->traffic_count, &copy->traffic_room, disk->traffic,
             disk->traffic_count);
    copy_all(&copy->nics, &copy->nics_count, &copy->nics_room, disk->nics, disk->nics_count);
    copy_all(&copy->cleanups, &copy->cleanup_count, &copy->cleanup_room, disk->cleanups,
             disk->cleanup_count);
    copy_all(&copy->events, &copy->event_count, &copy->event_room, disk->events, disk->event_count);
}

/* Where the number is, or would be put in. */
static size_t place_of(const struct disk *disk, uint64_t number)
{
    size_t low = 0, high = disk->reservation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (disk->reservations[middle]->u.reservation.number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct disk *disk, size_t place, uint64_t number)
{
    return place < disk->reservation_count &&
           disk->reservations[place]->u.reservation.number == number;
}

static const char *put_reservation(struct disk *disk, const struct record *record)
{
    uint64_t number = record->u.reservation.number;
    size_t place = place_of(disk, number);
    if (is_at(disk, place, number)) {
        free(disk->reservations[place]);
        disk->reservations[place] = record_copied(record);
        return NULL;
    }
    if (number <= disk->last_number)
        return "a new reservation has a number that was given out before (S3)";
    GROW(disk->reservations, disk->reservation_count, disk->reservation_room);
    disk->reservations[disk->reservation_count++] = record_copied(record);
    disk->last_number = number;
    return NULL;
}

static const char *put_node(struct disk *disk, const struct record *record)
{
    const struct node_record *put = &record->u.node;
    if (!is_at(disk, place_of(disk, put->number), put->number))
        return "a node reports for a reservation that is not on disk";
    for (size_t i = 0; i < disk->node_count; i++) {
        const struct node_record *old = &disk->nodes[i]->u.node;
        if (old->number != put->number || strcmp(old->node, put->node) != 0)
            continue;
        free(disk->nodes[i]);
        disk->nodes[i] = record_copied(record);
        return NULL;
    }
    GROW(disk->nodes, disk->node_count, disk->node_room);
    disk->nodes[disk->node_count++] = record_copied(record);
    return NULL;
}

static const char *put_traffic(struct disk *disk, const struct record *record)
{
    const struct record *last = disk->traffic_count ? disk->traffic[disk->traffic_count - 1] : NULL;
    if (last && record->u.traffic.seq <= last->u.traffic.seq)
        return "traffic has a seq that was given out before";
    GROW(disk->traffic, disk->traffic_count, disk->traffic_room);
    disk->traffic[disk->traffic_count++] = record_copied(record);
    return NULL;
}

static const char *take_traffic(struct disk *disk, uint64_t seq)
{
    size_t at = 0;
    while (at < disk->traffic_count && disk->traffic[at]->u.traffic.seq != seq)
        at++;
    if (at == disk->traffic_count)
        return "traffic goes that is not on disk";
    free(disk->traffic[at]);
    memmove(disk->traffic + at, disk->traffic + at + 1,
            (--disk->traffic_count - at) * sizeof *disk->traffic);
    return NULL;
}

/* By name, as a store gives them back. */
static const char *put_nics(struct disk *disk, const struct record *record)
{
    size_t at = 0;
    int order = 1;
    while (at < disk->nics_count &&
           (order = strcmp(record->u.nics.node, disk->nics[at]->u.nics.node)) > 0)
        at++;
    if (at < disk->nics_count && order == 0) {
        free(disk->nics[at]);
        disk->nics[at] = record_copied(record);
        return NULL;
    }
    GROW(disk->nics, disk->nics_count, disk->nics_room);
    memmove(disk->nics + at + 1, disk->nics + at, (disk->nics_count++ - at) * sizeof *disk->nics);
    disk->nics[at] = record_copied(record);
    return NULL;
}

static const char *take_nics(struct disk *disk, const struct record *record)
{
    for (size_t at = 0; at < disk->nics_count; at++) {
        if (strcmp(record->u.nics.node, disk->nics[at]->u.nics.node) != 0)
            continue;
        free(disk->nics[at]);
        memmove(disk->nics + at, disk->nics + at + 1,
                (--disk->nics_count - at) * sizeof *disk->nics);
        return NULL;
    }
    return "NICs that are not on disk are forgotten";
}

/* They come in order: each after those of its reservation that came before. */
static const char *put_sum(struct disk *disk, const struct record *record)
{
    const struct sum_record *put = &record->u.sum;
    if (!is_at(disk, place_of(disk, put->number), put->number))
        return "a sum of nodes is of a reservation that is not on disk";
    for (size_t i = 0; i < disk->sum_count; i++)
        if (disk->sums[i]->u.sum.number == put->number && disk->sums[i]->u.sum.sum >= put->sum)
            return "a sum of nodes comes out of order";
    GROW(disk->sums, disk->sum_count, disk->sum_room);
    disk->sums[disk->sum_count++] = record_copied(record);
    return NULL;
}

static void take_sums(struct disk *disk, uint64_t number)
{
    size_t kept = 0;
    for (size_t i = 0; i < disk->sum_count; i++) {
        if (disk->sums[i]->u.sum.number == number)
            free(disk->sums[i]);
        else
            disk->sums[kept++] = disk->sums[i];
    }
    disk->sum_count = kept;
}

static void take_nodes(struct disk *disk, uint64_t number)
{
    size_t kept = 0;
    for (size_t i = 0; i < disk->node_count; i++) {
        if (disk->nodes[i]->u.node.number == number)
            free(disk->nodes[i]);
        else
            disk->nodes[kept++] = disk->nodes[i];
    }
    disk->node_count = kept;
}

static size_t cleanup_at(const struct disk *disk, const struct cleanup_record *of)
{
    size_t i = 0;
    for (; i < disk->cleanup_count; i++) {
        const struct cleanup_record *other = &disk->cleanups[i]->u.cleanup;
        if (other->number == of->number && other->below == of->below &&
            strcmp(other->step, of->step) == 0)
            break;
    }
    return i;
}

static const char *put_cleanup(struct disk *disk, const struct record *record)
{
    uint64_t number = record->u.cleanup.number;
    if (!is_at(disk, place_of(disk, number), number))
        return "a cleanup is asked for of a reservation that is not on disk";
    size_t at = cleanup_at(disk, &record->u.cleanup);
    if (at < disk->cleanup_count) { /* its time begins anew */
        free(disk->cleanups[at]);
        disk->cleanups[at] = record_copied(record);
        return NULL;
    }
    GROW(disk->cleanups, disk->cleanup_count, disk->cleanup_room);
    disk->cleanups[disk->cleanup_count++] = record_copied(record);
    return NULL;
}

static const char *take_cleanup(struct disk *disk, const struct cleanup_record *done)
{
    size_t at = cleanup_at(disk, done);
    if (at == disk->cleanup_count)
        return "a cleanup is over that is not on disk";
    free(disk->cleanups[at]);
    disk->cleanups[at] = disk->cleanups[--disk->cleanup_count];
    return NULL;
}

static void take_cleanups(struct disk *disk, uint64_t number)
{
    for (size_t i = disk->cleanup_count; i > 0; i--) {
        if (disk->cleanups[i - 1]->u.cleanup.number != number)
            continue;
        free(disk->cleanups[i - 1]);
        disk->cleanups[i - 1] = disk->cleanups[--disk->cleanup_count];
    }
}

static const char *take_reservation(struct disk *disk, uint64_t number)
{
    size_t place = place_of(disk, number);
    if (!is_at(disk, place, number))
        return "a reservation that is not on disk was declared gone";
    take_nodes(disk, number);
    take_sums(disk, number);
    take_cleanups(disk, number);
    free(disk->reservations[place]);
    memmove(&disk->reservations[place], &disk->reservations[place + 1],
            (--disk->reservation_count - place) * sizeof *disk->reservations);
    return NULL;
}

static const char *put_event(struct disk *disk, const struct record *record)
{
    if (record->u.event.seq != disk->last_seq + 1)
        return "the sequence of events has a gap or a repeat (F24)";
    GROW(disk->events, disk->event_count, disk->event_room);
    disk->events[disk->event_count++] = record_copied(record);
    disk->last_seq++;
    return NULL;
}

static void prune(struct disk *disk, uint64_t seq)
{
    size_t gone = 0;
    while (gone < disk->event_count && disk->events[gone]->u.event.seq <= seq)
        free(disk->events[gone++]);
    if (gone == 0)
        return;
    disk->event_count -= gone;
    memmove(disk->events, disk->events + gone, disk->event_count * sizeof *disk->events);
}

static void raise_to(uint64_t *highest, uint64_t value)
{
    if (*highest < value)
        *highest = value;
}

/* Where the shared VNI is, or would be put in. */
static size_t shared_at(const struct disk *disk, uint16_t vni)
{
    size_t at = 0;
    while (at < disk->shared_count && disk->shared[at]->u.shared_vni.vni < vni)
        at++;
    return at;
}

static bool has_shared(const struct disk *disk, size_t at, uint16_t vni)
{
    return at < disk->shared_count && disk->shared[at]->u.shared_vni.vni == vni;
}

static const char *put_shared(struct disk *disk, const struct record *record)
{
    const size_t at = shared_at(disk, record->u.shared_vni.vni);
    if (has_shared(disk, at, record->u.shared_vni.vni)) {
        free(disk->shared[at]);
    } else {
        GROW(disk->shared, disk->shared_count, disk->shared_room);
        memmove(&disk->shared[at + 1], &disk->shared[at],
                (disk->shared_count++ - at) * sizeof *disk->shared);
    }
    disk->shared[at] = record_copied(record);
    return NULL;
}

static const char *take_shared(struct disk *disk, uint16_t vni)
{
    const size_t at = shared_at(disk, vni);
    if (!has_shared(disk, at, vni))
        return "a shared VNI is gone that is not on disk";
    free(disk->shared[at]);
    memmove(&disk->shared[at], &disk->shared[at + 1],
            (--disk->shared_count - at) * sizeof *disk->shared);
    return NULL;
}

static const char *apply_one(struct disk *disk, const struct record *record)
{
    switch (record->kind) {
    case RECORD_RESERVATION:
        return put_reservation(disk, record);
    case RECORD_GONE:
        raise_to(&disk->deleted_number, record->u.gone);
        return take_reservation(disk, record->u.gone);
    case RECORD_EVENT:
        return put_event(disk, record);
    case RECORD_PRUNE:
        raise_to(&disk->deleted_seq, record->u.prune);
        prune(disk, record->u.prune);
        return NULL;
    case RECORD_FOUNDED:
        disk->founded = true;
        return NULL;
    case RECORD_FACTS:
        if (!record->u.facts.boot || strlen(record->u.facts.boot) >= sizeof disk->boot)
            return "facts without a boot";
        strcpy(disk->boot, record->u.facts.boot);
        disk->facts = record->u.facts;
        disk->has_facts = true;
        return NULL;
    case RECORD_ROOT_KEYS: /* none in the simulator: the core makes none */
        return "root keys";
    case RECORD_SHARED_VNI:
        return put_shared(disk, record);
    case RECORD_SHARED_GONE:
        return take_shared(disk, record->u.shared_gone);
    case RECORD_PARTITIONS:
        free(disk->partitions);
        disk->partitions = record_copied(record);
        return NULL;
    case RECORD_NODE:
        return put_node(disk, record);
    case RECORD_SUM:
        return put_sum(disk, record);
    case RECORD_TRAFFIC:
        return put_traffic(disk, record);
    case RECORD_TRAFFIC_GONE:
        return take_traffic(disk, record->u.traffic_gone);
    case RECORD_NODE_NICS:
        return put_nics(disk, record);
    case RECORD_NODE_NICS_GONE:
        return take_nics(disk, record);
    case RECORD_CLEANUP:
        return put_cleanup(disk, record);
    case RECORD_CLEANED:
        return take_cleanup(disk, &record->u.cleanup);
    case RECORD_COUNTERS:
        break;
    }
    return "a record of a kind that the core has no business writing";
}

const char *disk_apply(struct disk *disk, const struct batch *batch, size_t count)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < count && !wrong; i++)
        wrong = apply_one(disk, batch->records[i]);
    return wrong;
}

int disk_load(const struct disk *disk, int (*each)(void *arg, const struct record *record),
              void *arg)
{
    /* As state.md has it: what is there counts itself. */
    struct record counters = {.kind = RECORD_COUNTERS};
    counters.u.counters.last_number = disk->deleted_number;
    counters.u.counters.last_seq = disk->deleted_seq;
    if (disk->reservation_count > 0)
        raise_to(&counters.u.counters.last_number,
                 disk->reservations[disk->reservation_count - 1]->u.reservation.number);
    if (disk->event_count > 0)
        raise_to(&counters.u.counters.last_seq, disk->events[disk->event_count - 1]->u.event.seq);
    int result = each(arg, &counters);
    if (result == 0 && disk->founded)
        result = each(arg, &(struct record){.kind = RECORD_FOUNDED});
    if (result == 0 && disk->has_facts) {
        struct record facts = {.kind = RECORD_FACTS, .u.facts = disk->facts};
        facts.u.facts.boot = disk->boot;
        result = each(arg, &facts);
    }
    if (result == 0 && disk->partitions)
        result = each(arg, disk->partitions);
    for (size_t i = 0; i < disk->shared_count && result == 0; i++)
        result = each(arg, disk->shared[i]);
    for (size_t i = 0; i < disk->reservation_count && result == 0; i++)
        result = each(arg, disk->reservations[i]);
    for (size_t i = 0; i < disk->cleanup_count && result == 0; i++)
        result = each(arg, disk->cleanups[i]);
    for (size_t i = 0; i < disk->node_count && result == 0; i++)
        result = each(arg, disk->nodes[i]);
    for (size_t i = 0; i < disk->sum_count && result == 0; i++)
        result = each(arg, disk->sums[i]);
    for (size_t i = 0; i < disk->event_count && result == 0; i++)
        result = each(arg, disk->events[i]);
    for (size_t i = 0; i < disk->nics_count && result == 0; i++)
        result = each(arg, disk->nics[i]);
    for (size_t i = 0; i < disk->traffic_count && result == 0; i++)
        result = each(arg, disk->traffic[i]);
    return result;
}

const struct reservation_record *disk_find(const struct disk *disk, uint64_t number)
{
    size_t place = place_of(disk, number);
    return is_at(disk, place, number) ? &disk->reservations[place]->u.reservation : NULL;
}

const struct event_record *disk_event(const struct disk *disk, uint64_t seq)
{
    if (disk->event_count == 0)
        return NULL;
    uint64_t first = disk->events[0]->u.event.seq;
    if (seq < first || seq - first >= disk->event_count)
        return NULL;
    return &disk->events[seq - first]->u.event;
}
