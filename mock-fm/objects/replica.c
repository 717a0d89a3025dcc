/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/replica.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *line; /* a change as in the journal; with a token perhaps */
    int64_t at_us;
};

struct replica {
    struct objects *base; /* what was held before the entries */
    struct entry entries[2 * REPLICA_CHANGES];
    size_t count;
};

static int apply_entry(struct objects *objects, const struct entry *entry)
{
    return objects_apply_line(objects, entry->line, strlen(entry->line));
}

static void forget_entry(struct entry *entry)
{
    explicit_bzero(entry->line, strlen(entry->line));
    free(entry->line);
}

struct replica *replica_create(const struct objects *objects)
{
    struct replica *replica = calloc(1, sizeof *replica);
    if (replica && !(replica->base = objects_copy(objects))) {
        free(replica);
        return NULL;
    }
    return replica;
}

void replica_destroy(struct replica *replica)
{
    if (!replica)
        return;
    for (size_t i = 0; i < replica->count; i++)
        forget_entry(&replica->entries[i]);
    objects_destroy(replica->base);
    free(replica);
}

/* The older half becomes the state before the others. */
static int fold_older_half(struct replica *replica)
{
    for (size_t i = 0; i < REPLICA_CHANGES; i++) {
        int result = apply_entry(replica->base, &replica->entries[i]);
        if (result < 0)
            return result;
    }
    for (size_t i = 0; i < REPLICA_CHANGES; i++)
        forget_entry(&replica->entries[i]);
    replica->count -= REPLICA_CHANGES;
    memmove(replica->entries, replica->entries + REPLICA_CHANGES,
            replica->count * sizeof replica->entries[0]);
    return 0;
}

int replica_add(struct replica *replica, const struct change *change)
{
    struct entry *entry;
    if (replica->count == 2 * REPLICA_CHANGES && fold_older_half(replica) < 0)
        return -ENOMEM;
    entry = &replica->entries[replica->count];
    if (!(entry->line = change_encode(change)))
        return -ENOMEM;
    entry->at_us = change->at_us;
    /* What an old backup brings back is as new as the restore. */
    if (replica->count > 0 && entry[-1].at_us > entry->at_us)
        entry->at_us = entry[-1].at_us;
    replica->count++;
    return 0;
}

/* How many entries it has seen. */
static size_t count_seen(const struct replica *replica, const struct replica_lag *lag,
                         int64_t now_us)
{
    size_t count = replica->count;
    assert(lag->ms >= 0 && lag->writes >= 0);
    count -= (uint64_t)lag->writes < count ? (size_t)lag->writes : count;
    while (lag->ms > 0 && count > 0 && replica->entries[count - 1].at_us > now_us - lag->ms * 1000)
        count--;
    return count;
}

struct objects *replica_objects(const struct replica *replica, const struct replica_lag *lag,
                                int64_t now_us)
{
    struct objects *objects = objects_copy(replica->base);
    size_t count = objects ? count_seen(replica, lag, now_us) : 0;
    for (size_t i = 0; i < count; i++)
        if (apply_entry(objects, &replica->entries[i]) < 0) {
            objects_destroy(objects);
            return NULL;
        }
    return objects;
}
