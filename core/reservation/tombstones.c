/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/tombstones.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_AT_FIRST = 64 };

void tombstones_init(struct tombstones *t)
{
    memset(t, 0, sizeof *t);
}

void tombstones_release(struct tombstones *t)
{
    free(t->ring);
    free(t->buckets);
    memset(t, 0, sizeof *t);
}

static struct tombstone **bucket_of(const struct tombstones *t, const char *cluster,
                                    const char *job)
{
    assert(t->capacity > 0);
    return &t->buckets[name_hash(cluster, job) % t->capacity];
}

/* Where the pointer to the job's tombstone is, or would be. */
static struct tombstone **find_tombstone(const struct tombstones *t, const char *cluster,
                                         const char *job)
{
    assert(t->ring != NULL);
    struct tombstone **at = bucket_of(t, cluster, job);
    while (*at != NULL && (strcmp((*at)->job, job) != 0 || strcmp((*at)->cluster, cluster) != 0))
        at = &(*at)->chain;
    return at;
}

void tombstones_forget(struct tombstones *t, const char *cluster, const char *job)
{
    assert(cluster != NULL && job != NULL);
    if (t->ring == NULL)
        return;
    struct tombstone **at = find_tombstone(t, cluster, job);
    if (*at == NULL)
        return;
    struct tombstone *stone = *at;
    *at = stone->chain;
    stone->used = false;
}

/* Twice the places; the stones move, so their chains are made anew. */
static void grow_ring(struct tombstones *t)
{
    assert(t->capacity < TOMBSTONES_MAX);
    uint32_t old = t->capacity;
    t->capacity = old == 0 ? ROOM_AT_FIRST : old * 2;
    t->ring = memory_resized(t->ring, t->capacity, sizeof *t->ring);
    memset(t->ring + old, 0, (t->capacity - old) * sizeof *t->ring);
    free(t->buckets);
    t->buckets = memory_zeroed(t->capacity * sizeof *t->buckets);
    for (uint32_t i = 0; i < old; i++) {
        struct tombstone *stone = &t->ring[i];
        if (!stone->used)
            continue;
        struct tombstone **bucket = bucket_of(t, stone->cluster, stone->job);
        stone->chain = *bucket;
        *bucket = stone;
    }
    t->next = old;
}

static struct tombstone *free_slot(struct tombstones *t)
{
    assert(t->next < t->capacity);
    if (t->ring[t->next].used && t->capacity < TOMBSTONES_MAX)
        grow_ring(t);
    struct tombstone *stone = &t->ring[t->next];
    t->next = (t->next + 1) % t->capacity;
    if (stone->used)
        tombstones_forget(t, stone->cluster, stone->job);
    return stone;
}

void tombstones_put(struct tombstones *t, const char *cluster, const char *job,
                    enum tombstone_kind kind, int64_t until_ms)
{
    assert(strlen(cluster) <= CLUSTER_NAME_MAX && strlen(job) <= JOB_ID_MAX);
    if (t->ring == NULL)
        grow_ring(t);
    struct tombstone *stone = *find_tombstone(t, cluster, job);
    if (stone == NULL) {
        stone = free_slot(t);
        struct tombstone **bucket = bucket_of(t, cluster, job);
        strcpy(stone->cluster, cluster);
        strcpy(stone->job, job);
        stone->chain = *bucket;
        stone->used = true;
        *bucket = stone;
    }
    stone->kind = kind;
    stone->until_ms = until_ms;
}

enum tombstone_kind tombstones_get(const struct tombstones *t, const char *cluster, const char *job,
                                   int64_t now_ms)
{
    assert(cluster != NULL && job != NULL);
    if (t->ring == NULL)
        return TOMBSTONE_NONE;
    const struct tombstone *stone = *find_tombstone(t, cluster, job);
    return stone != NULL && now_ms < stone->until_ms ? stone->kind : TOMBSTONE_NONE;
}
