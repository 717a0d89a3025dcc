/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/replica.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct replica {
    struct objects *base; /* what was held before the changes */
    struct {
        json_t *change;
        int64_t at_us;
    } * changes;
    size_t count, capacity;
};

struct replica *replica_create(const struct objects *objects)
{
    struct replica *replica = memory_zeroed(sizeof *replica);
    replica->base = objects_copy(objects);
    return replica;
}

void replica_destroy(struct replica *replica)
{
    if (!replica)
        return;
    for (size_t i = 0; i < replica->count; i++)
        json_decref(replica->changes[i].change);
    free(replica->changes);
    objects_destroy(replica->base);
    free(replica);
}

void replica_add(struct replica *replica, json_t *change)
{
    size_t i = replica->count++;
    int64_t at_us = json_integer_value(json_object_get(change, "at"));
    replica->changes =
        memory_room(replica->changes, i, &replica->capacity, sizeof *replica->changes);
    replica->changes[i].change = json_incref(change);
    /* What an old backup brings back is as new as the restore. */
    replica->changes[i].at_us =
        i > 0 && replica->changes[i - 1].at_us > at_us ? replica->changes[i - 1].at_us : at_us;
}

/* How many changes it has seen. */
static size_t count_seen(const struct replica *replica, const struct replica_lag *lag,
                         int64_t now_us)
{
    size_t count = replica->count;
    assert(lag->ms >= 0 && lag->writes >= 0);
    count -= (uint64_t)lag->writes < count ? (size_t)lag->writes : count;
    while (lag->ms > 0 && count > 0 && replica->changes[count - 1].at_us > now_us - lag->ms * 1000)
        count--;
    return count;
}

struct objects *replica_objects(const struct replica *replica, const struct replica_lag *lag,
                                int64_t now_us)
{
    struct objects *objects = objects_copy(replica->base);
    size_t seen = count_seen(replica, lag, now_us);
    for (size_t i = 0; i < seen; i++) {
        int result = objects_apply(objects, replica->changes[i].change);
        assert(result == 0); /* as it was for those that are held now */
        (void)result;
    }
    return objects;
}
