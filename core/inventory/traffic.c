/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/traffic.h"

#include "base/memory.h"
#include "base/names.h"
#include "base/nodelist.h"
#include "core/reservation/nodes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USER_PART = 4, DEVICE_MAX = 15 };

/* Nodes may tell what they want: a sum stays a number that the ledger takes. */
static void add_bounded(uint64_t *sum, uint64_t amount)
{
    assert(*sum <= TRAFFIC_MAX);
    *sum = amount > TRAFFIC_MAX - *sum ? TRAFFIC_MAX : *sum + amount;
}

/* Whether it is the one to name. */
static bool comes_before(const char *known, uint64_t known_amount, const char *nic, uint64_t amount,
                         bool most)
{
    assert(nic);
    if (!known || amount == known_amount)
        return !known || strverscmp(nic, known) < 0;
    return most ? amount > known_amount : amount < known_amount;
}

static void name_nic(const char **nic, uint64_t *known_amount, const char *name, uint64_t amount,
                     bool most)
{
    assert(*nic || *known_amount == 0);
    if (!name || !comes_before(*nic, *known_amount, name, amount, most))
        return;
    free((char *)(uintptr_t)*nic);
    *nic = memory_text(name);
    *known_amount = amount;
}

static void add_count(uint32_t *sum, uint32_t more)
{
    *sum = more > UINT32_MAX - *sum ? UINT32_MAX : *sum + more;
}

void traffic_merge(struct traffic_record **traffic, const struct traffic_record *more)
{
    assert(more);
    if (!*traffic)
        *traffic = memory_zeroed(sizeof **traffic);
    struct traffic_record *sum = *traffic;
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        add_bounded(&sum->amounts[kind], more->amounts[kind]);
    sum->lacking |= more->lacking;
    sum->seconds = more->seconds > sum->seconds ? more->seconds : sum->seconds;
    add_count(&sum->told, more->told);
    add_count(&sum->unclear, more->unclear);
    add_count(&sum->shared, more->shared);
    name_nic(&sum->slowest, &sum->slowest_octets, more->slowest, more->slowest_octets, false);
    name_nic(&sum->congested, &sum->congested_paused, more->congested, more->congested_paused,
             true);
}

void traffic_add(struct traffic_record **traffic, const char *node,
                 const struct traffic_report *report)
{
    char slowest[NODELIST_NAME_MAX + 1 + DEVICE_MAX + 1], congested[sizeof slowest];
    assert(node);
    struct traffic_record one = {.told = 1,
                                 .shared = report->shared,
                                 .unclear = report->unclear,
                                 .seconds = report->seconds,
                                 .lacking = report->lacking,
                                 .slowest = report->slowest ? slowest : NULL,
                                 .slowest_octets = report->slowest_octets,
                                 .congested = report->congested ? congested : NULL,
                                 .congested_paused = report->congested_paused};
    (void)snprintf(slowest, sizeof slowest, "%s/%s", node, report->slowest ? report->slowest : "");
    (void)snprintf(congested, sizeof congested, "%s/%s", node,
                   report->congested ? report->congested : "");
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        one.amounts[kind] = report->lacking >> kind & 1 ? 0 : report->amounts[kind];
    traffic_merge(traffic, &one);
}

/* cluster and job are the reservation's. */
void traffic_destroy(struct traffic_record *traffic)
{
    if (!traffic)
        return;
    free((char *)(uintptr_t)traffic->slowest);
    free((char *)(uintptr_t)traffic->congested);
    free(traffic);
}

bool traffic_nic_valid(const char *nic)
{
    assert(nic);
    char node[NODELIST_NAME_MAX + 1];
    const char *slash = strchr(nic, '/');
    if (!slash || (size_t)(slash - nic) >= sizeof node)
        return false;
    memcpy(node, nic, (size_t)(slash - nic));
    node[slash - nic] = '\0';
    return node_name_valid(node) && node_name_valid(slash + 1) && strlen(slash + 1) <= DEVICE_MAX;
}

/* ---- of jobs that are over ---- */

/* The record and its texts in one block. */
static struct traffic_record *copy_record(const struct traffic_record *record)
{
    assert(record->cluster && record->job);
    const char *texts[] = {record->cluster, record->job, record->slowest, record->congested};
    size_t lengths[4], size = sizeof *record;
    for (int i = 0; i < 4; i++) {
        lengths[i] = texts[i] ? strlen(texts[i]) + 1 : 0;
        size += lengths[i];
    }
    struct traffic_record *kept = memory_zeroed(size);
    const char **places[] = {&kept->cluster, &kept->job, &kept->slowest, &kept->congested};
    char *at = (char *)(kept + 1);
    *kept = *record;
    for (int i = 0; i < 4; i++) {
        *places[i] = texts[i] ? memcpy(at, texts[i], lengths[i]) : NULL;
        at += lengths[i];
    }
    return kept;
}

void traffic_keep(struct traffic_log *log, const struct traffic_record *record)
{
    assert(record->seq > log->last_seq);
    if (log->first > log->count) { /* more room in front than what there is */
        memmove(log->rows, log->rows + log->first, log->count * sizeof *log->rows);
        log->first = 0;
    }
    log->rows = memory_room(log->rows, log->first + log->count, &log->capacity, sizeof *log->rows);
    log->rows[log->first + log->count++] =
        (struct traffic_row){.uid = record->uid,
                             .hash = name_hash(record->cluster, record->job),
                             .record = copy_record(record)};
    held_add(&log->users, record->uid, 1);
    log->last_seq = record->seq;
}

const struct traffic_record *traffic_newest(const struct traffic_log *log)
{
    assert(log->count > 0);
    return log->rows[log->first + log->count - 1].record;
}

const struct traffic_record *traffic_excess(const struct traffic_log *log, size_t max,
                                            int64_t from_ms)
{
    assert(log->first + log->count <= log->capacity);
    if (log->count == 0)
        return NULL;
    const struct traffic_row *rows = log->rows + log->first;
    size_t at = 0;
    const uint32_t uid = rows[log->count - 1].uid;
    if (rows[0].record->ended_ms < from_ms || log->count > max)
        return rows[0].record;
    if (max < USER_PART || held_by(&log->users, uid) <= max / USER_PART)
        return NULL;
    while (rows[at].uid != uid)
        at++;
    return rows[at].record;
}

struct traffic_record *traffic_take(struct traffic_log *log, uint64_t seq)
{
    assert(log->first + log->count <= log->capacity);
    if (log->count == 0)
        return NULL;
    struct traffic_row *rows = log->rows + log->first;
    size_t at = 0, end = log->count;
    while (at < end) { /* a search through all would read each record: some ms of the loop's time */
        const size_t middle = at + (end - at) / 2;
        if (rows[middle].record->seq < seq)
            at = middle + 1;
        else
            end = middle;
    }
    struct traffic_record *taken = at < log->count ? rows[at].record : NULL;
    if (!taken || taken->seq != seq)
        return NULL;
    held_remove(&log->users, taken->uid, 1);
    memmove(rows + 1, rows, at * sizeof *rows); /* mostly it is the first one */
    log->first++;
    log->count--;
    return taken;
}

const struct traffic_record *traffic_find(const struct traffic_log *log, const char *cluster,
                                          const char *job, int64_t from_ms)
{
    assert(cluster && job);
    const uint32_t hash = name_hash(cluster, job);
    for (size_t i = log->count; i > 0; i--) {
        const struct traffic_row *row = &log->rows[log->first + i - 1];
        if (row->hash == hash && row->record->ended_ms >= from_ms &&
            strcmp(row->record->job, job) == 0 && strcmp(row->record->cluster, cluster) == 0)
            return row->record;
    }
    return NULL;
}

void traffic_log_release(struct traffic_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->rows[log->first + i].record);
    free(log->rows);
    held_release(&log->users);
    *log = (struct traffic_log){0};
}
