/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/tombstones.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Where the pointer to the tombstone is, or would be. */
static struct tombstone **find_tombstone(const struct tombstones *t, const char *name)
{
    assert(t->buckets);
    struct tombstone **at = &t->buckets[name_hash("", name) % TOMBSTONES_MAX];
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->chain;
    return at;
}

static void drop_tombstone(struct tombstones *t, const char *name)
{
    struct tombstone **at = find_tombstone(t, name), *stone = *at;
    if (!stone)
        return;
    assert(t->ring[stone->place] == stone);
    t->ring[stone->place] = NULL;
    *at = stone->chain;
    free(stone);
}

static struct tombstone *add_tombstone(struct tombstones *t, const char *name)
{
    assert(t->next < TOMBSTONES_MAX);
    size_t length = strlen(name);
    struct tombstone *stone = memory_zeroed(sizeof *stone + length + 1);
    memcpy(stone->name, name, length + 1);
    if (t->ring[t->next]) /* the oldest */
        drop_tombstone(t, t->ring[t->next]->name);
    stone->place = t->next;
    t->ring[t->next] = stone;
    t->next = (t->next + 1) % TOMBSTONES_MAX;
    *find_tombstone(t, name) = stone;
    return stone;
}

void tombstones_release(struct tombstones *t)
{
    for (uint32_t i = 0; t->ring && i < TOMBSTONES_MAX; i++)
        free(t->ring[i]);
    free(t->ring);
    free(t->buckets);
    *t = (struct tombstones){0};
}

void tombstones_put(struct tombstones *t, const char *cluster, const char *job,
                    enum tombstone_kind kind, int64_t until_ms)
{
    assert(kind != TOMBSTONE_NONE);
    assert(strlen(cluster) <= CLUSTER_NAME_MAX && strlen(job) <= JOB_ID_MAX);
    char name[FM_NAME_MAX + 1];
    if (!t->ring) {
        t->ring = memory_zeroed(TOMBSTONES_MAX * sizeof *t->ring);
        t->buckets = memory_zeroed(TOMBSTONES_MAX * sizeof *t->buckets);
    }
    fm_name_format(name, cluster, job);
    struct tombstone *stone = *find_tombstone(t, name);
    if (!stone)
        stone = add_tombstone(t, name);
    stone->kind = kind;
    stone->until_ms = until_ms;
}

enum tombstone_kind tombstones_get(const struct tombstones *t, const char *cluster, const char *job,
                                   int64_t now_ms)
{
    assert(cluster && job);
    char name[FM_NAME_MAX + 1];
    if (!t->ring)
        return TOMBSTONE_NONE;
    fm_name_format(name, cluster, job);
    const struct tombstone *stone = *find_tombstone(t, name);
    return stone && now_ms < stone->until_ms ? stone->kind : TOMBSTONE_NONE;
}

void tombstones_forget(struct tombstones *t, const char *cluster, const char *job)
{
    assert(cluster && job);
    char name[FM_NAME_MAX + 1];
    fm_name_format(name, cluster, job);
    if (t->ring)
        drop_tombstone(t, name);
}
