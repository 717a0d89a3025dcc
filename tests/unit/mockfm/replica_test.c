/* SPDX-License-Identifier: Apache-2.0 */
/* What a read replica shows that lags: by writes, by time, and behind what it kept one by one. */

#include "mock-fm/objects/replica.h"
#include "tests/unit/mockfm/change.h"
#include "tests/unit/unit.h"

struct pair {
    struct objects *objects;
    struct replica *replica;
};

/* Takes the reference. */
static void commit(struct pair *pair, json_t *change)
{
    assert_int_equal(objects_apply(pair->objects, change), 0);
    if (pair->replica)
        replica_add(pair->replica, change);
    json_decref(change);
}

static void reserve(struct pair *pair, unsigned job, int64_t at_us)
{
    char id[16];

    snprintf(id, sizeof id, "c-%u", job);
    commit(pair, change_job(at_us, id, "sess-1", 1, pair->objects->totals.last_serial + 1));
}

static void release(struct pair *pair, const char *id, int64_t at_us)
{
    commit(pair, change_job_gone(at_us, id));
}

/* The jobs' ids, each followed by a blank. */
static void assert_shown(const struct pair *pair, struct replica_lag lag, int64_t now_us,
                         const char *ids)
{
    struct objects *objects = replica_objects(pair->replica, &lag, now_us);
    char shown[256] = "";
    size_t length = 0;

    assert_non_null(objects);
    for (const struct job *job = objects->first; job; job = job->next)
        length += (size_t)snprintf(shown + length, sizeof shown - length, "%s ", job->id);
    assert_string_equal(shown, ids);
    objects_destroy(objects);
}

static struct pair begin(void)
{
    struct pair pair = {.objects = objects_create(100, false)};

    assert_non_null(pair.objects);
    reserve(&pair, 1, 1000000);
    pair.replica = replica_create(pair.objects);
    assert_non_null(pair.replica);
    return pair;
}

static void end(struct pair *pair)
{
    replica_destroy(pair->replica);
    objects_destroy(pair->objects);
}

static void replica__lags_by_writes(void **state)
{
    struct pair pair = begin();

    reserve(&pair, 2, 2000000);
    release(&pair, "c-1", 3000000);
    reserve(&pair, 3, 4000000);
    assert_shown(&pair, (struct replica_lag){0}, 4000000, "c-2 c-3 ");
    assert_shown(&pair, (struct replica_lag){.writes = 1}, 4000000, "c-2 ");
    assert_shown(&pair, (struct replica_lag){.writes = 2}, 4000000, "c-1 c-2 ");
    assert_shown(&pair, (struct replica_lag){.writes = 3}, 4000000, "c-1 ");
    assert_shown(&pair, (struct replica_lag){.writes = 1000}, 4000000, "c-1 ");
    end(&pair);
}

static void replica__lags_by_time(void **state)
{
    struct pair pair = begin();

    reserve(&pair, 2, 2000000);
    release(&pair, "c-1", 3000000);
    assert_shown(&pair, (struct replica_lag){.ms = 1000}, 5000000, "c-2 ");
    assert_shown(&pair, (struct replica_lag){.ms = 2000}, 5000000, "c-2 ");
    assert_shown(&pair, (struct replica_lag){.ms = 2001}, 5000000, "c-1 c-2 ");
    assert_shown(&pair, (struct replica_lag){.ms = 3001}, 5000000, "c-1 ");
    assert_shown(&pair, (struct replica_lag){.ms = 1000, .writes = 1}, 5000000, "c-1 c-2 ");
    /* A restored change is as old as its restore, whatever it says. */
    reserve(&pair, 3, 1);
    assert_shown(&pair, (struct replica_lag){.ms = 2001}, 5000000, "c-1 c-2 ");
    end(&pair);
}

UNIT_MAIN(cmocka_unit_test(replica__lags_by_writes), cmocka_unit_test(replica__lags_by_time))
