/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/objects.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool nic_parse(const char *text, uint32_t *nic)
{
    unsigned high, middle, low;
    int end = 0;
    /* sscanf would also take blanks, signs and "0x". */
    if (text[strspn(text, "0123456789abcdefABCDEF:")] ||
        sscanf(text, "%2x:%2x:%2x%n", &high, &middle, &low, &end) != 3 || text[end] || high > 0xF)
        return false;
    *nic = high << 16 | middle << 8 | low;
    return true;
}

void nic_format_short(uint32_t nic, char text[NIC_TEXT_SIZE])
{
    snprintf(text, NIC_TEXT_SIZE, "%X:%02X:%02X", (nic >> 16) & 0xF, (nic >> 8) & 0xFF, nic & 0xFF);
}

void nic_format_long(uint32_t nic, char text[NIC_TEXT_SIZE])
{
    snprintf(text, NIC_TEXT_SIZE, "00:00:00:%02X:%02X:%02X", (nic >> 16) & 0xF, (nic >> 8) & 0xFF,
             nic & 0xFF);
}

/* A job's first member is its id. */
static int compare_ids(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

struct job *objects_job(const struct objects *objects, const char *id)
{
    void *node = tfind(&id, &objects->by_id, compare_ids);
    return node ? *(struct job **)node : NULL;
}

struct objects *objects_create(unsigned addresses, bool overcommit)
{
    struct objects *objects = memory_zeroed(sizeof *objects);
    assert(addresses >= 1 && addresses <= OBJECTS_MCAST_IDS);
    objects->addresses = addresses;
    objects->overcommit = overcommit;
    /* 8 MB of address space, of which only touched pages cost memory. */
    objects->roots = memory_zeroed(NIC_ADDRESSES * sizeof *objects->roots);
    return objects;
}

/* libfabric puts ids into JSON without escaping them, and they are the last part of a path. */
static bool is_job_id(const char *id)
{
    size_t length = strlen(id);
    if (length == 0 || length > OBJECTS_JOB_ID_MAX)
        return false;
    for (; *id; id++) {
        if (iscntrl((unsigned char)*id) || strchr("\"\\/", *id))
            return false;
    }
    return true;
}

int objects_may_reserve(const struct objects *objects, const char *id, int64_t limit,
                        struct problem *problem)
{
    int64_t left = (int64_t)objects->addresses - (int64_t)objects->totals.reserved;
    if (!is_job_id(id))
        return problem_set(problem, 400,
                           "jobID must have 1 to %d characters, without control characters, "
                           "quotes, '/' or '\\'",
                           OBJECTS_JOB_ID_MAX);
    if (limit < 1 || limit > OBJECTS_MCAST_IDS)
        return problem_set(problem, 400, "mcastLimit must be a number from 1 to %d",
                           OBJECTS_MCAST_IDS);
    if (objects_job(objects, id))
        return problem_set(problem, 409, "job %s exists already; delete it first", id);
    if (!objects->overcommit && limit > left)
        return problem_set(
            problem, 507,
            "02: no multicast addresses left: %lld asked for, %lld of %u not reserved",
            (long long)limit, (long long)(left > 0 ? left : 0), objects->addresses);
    return 0;
}

/* The next free id in a round, so that a stale id is not soon someone else's. */
static bool find_free_id(const struct objects *objects, unsigned *id)
{
    unsigned addresses = objects->addresses;
    for (unsigned i = 0; i < addresses; i++) {
        *id = (objects->totals.next_mcast_id + i) % addresses;
        if (!objects->trees[*id])
            return true;
    }
    return false;
}

static int choose_root(const struct objects *objects, const struct job *job, json_t *change,
                       struct problem *problem)
{
    const json_t *macs = json_object_get(change, "macs"), *mac;
    bool own = false;
    size_t i;
    json_array_foreach(macs, i, mac)
    {
        const struct tree *tree = objects->roots[json_integer_value(mac)];
        if (!tree) {
            json_object_set(change, "root", json_array_get(macs, i));
            return 0;
        }
        own = own || tree->job == job;
    }
    if (own)
        return problem_set(problem, 400,
                           "hw root in use: each of the %zu NICs is the root of a tree already",
                           json_array_size(macs));
    return problem_set(problem, 507, "03: no hardware root free in this group of %zu NICs",
                       json_array_size(macs));
}

static int check_macs(const json_t *macs, struct problem *problem)
{
    bool *named = memory_zeroed(NIC_ADDRESSES * sizeof *named);
    int result = 0;
    if (json_array_size(macs) == 0)
        result = problem_set(problem, 400, "macs must name at least one NIC");
    for (size_t i = 0; i < json_array_size(macs) && result == 0; i++) {
        uint32_t nic = (uint32_t)json_integer_value(json_array_get(macs, i));
        char text[NIC_TEXT_SIZE];
        nic_format_short(nic, text);
        if (named[nic])
            result = problem_set(problem, 400, "macs names %s twice", text);
        named[nic] = true;
    }
    free(named);
    return result;
}

int objects_may_grow(const struct objects *objects, json_t *tree, struct problem *problem)
{
    const char *id = json_string_value(json_object_get(tree, "job"));
    const struct job *job = objects_job(objects, id);
    unsigned mcast_id;
    if (!job)
        return problem_set(problem, 404, "no such job %.*s", OBJECTS_JOB_ID_MAX, id);
    if (json_string_length(json_object_get(tree, "step")) > OBJECTS_STEP_MAX)
        return problem_set(problem, 400, "jobStepID must have at most %d bytes", OBJECTS_STEP_MAX);
    if (check_macs(json_object_get(tree, "macs"), problem) < 0)
        return -1;
    if (job->trees_in_use >= job->limit)
        return problem_set(problem, 507, "01: job %s has used all of its %u multicast addresses",
                           job->id, job->limit);
    if (!find_free_id(objects, &mcast_id))
        return problem_set(problem, 507, "02: none of the %u multicast addresses is free",
                           objects->addresses);
    json_object_set_new(tree, "mcastID", json_integer(mcast_id));
    return choose_root(objects, job, tree, problem);
}

static int add_job(struct objects *objects, json_t *change)
{
    const char *id, *token;
    json_int_t limit, serial, version, at;
    if (json_unpack(change, "{s:s, s:s, s:I, s:I, s:I, s:I}", "job", &id, "token", &token, "limit",
                    &limit, "serial", &serial, "version", &version, "at", &at) < 0 ||
        limit < 0 || limit > OBJECTS_MCAST_IDS || version < 0 || objects_job(objects, id) ||
        serial <= (json_int_t)objects->totals.last_serial)
        return -EINVAL;
    struct job *job = memory_zeroed(sizeof *job);
    *job = (struct job){.id = id,
                        .made = json_incref(change),
                        .token = token,
                        .limit = (unsigned)limit,
                        .serial = (uint64_t)serial,
                        .version = (uint64_t)version,
                        .updated_us = at,
                        .previous = objects->last};
    if (!tsearch(job, &objects->by_id, compare_ids))
        abort();
    *(objects->last ? &objects->last->next : &objects->first) = job;
    objects->last = job;
    objects->totals.jobs++;
    objects->totals.reserved += job->limit;
    objects->totals.last_serial = job->serial;
    return 0;
}

static void touch(struct job *job, int64_t at_us)
{
    job->version++;
    if (at_us > job->updated_us)
        job->updated_us = at_us;
}

static bool are_macs(const json_t *macs)
{
    const json_t *mac;
    size_t i;
    json_array_foreach(macs, i, mac)
    {
        if (!json_is_integer(mac) || json_integer_value(mac) < 0 ||
            json_integer_value(mac) >= NIC_ADDRESSES)
            return false;
    }
    return json_array_size(macs) > 0;
}

static int add_tree(struct objects *objects, json_t *change)
{
    const char *id, *step;
    const json_t *macs;
    json_int_t mcast_id, root, vni, timeout_us, at;
    if (json_unpack(change, "{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:I}", "job", &id, "step", &step,
                    "macs", &macs, "mcastID", &mcast_id, "root", &root, "vni", &vni, "timeout",
                    &timeout_us, "at", &at) < 0 ||
        mcast_id < 0 || mcast_id >= OBJECTS_MCAST_IDS || root < 0 || root >= NIC_ADDRESSES ||
        vni < 0 || vni > UINT16_MAX || timeout_us < 0 || !are_macs(macs) ||
        objects->trees[mcast_id] || objects->roots[root])
        return -EINVAL;
    struct job *job = objects_job(objects, id);
    if (!job)
        return -EINVAL;
    struct tree *tree = memory_zeroed(sizeof *tree), **end = &job->trees;
    *tree = (struct tree){.made = json_incref(change),
                          .job = job,
                          .step = step,
                          .mcast_id = (unsigned)mcast_id,
                          .root = (uint32_t)root,
                          .vni = (unsigned)vni,
                          .timeout_us = timeout_us,
                          .macs = macs,
                          .updated_us = at};
    while (*end)
        end = &(*end)->next;
    *end = tree;
    job->trees_in_use++;
    touch(job, at);
    objects->trees[tree->mcast_id] = tree;
    objects->roots[tree->root] = tree;
    objects->totals.trees++;
    objects->totals.next_mcast_id = (tree->mcast_id + 1) % OBJECTS_MCAST_IDS;
    return 0;
}

/* Removes the trees of a job that have this step, or this id; without either, all of them. */
static void remove_trees(struct objects *objects, struct job *job, const char *step,
                         const struct tree *only)
{
    struct tree **link = &job->trees;
    while (*link) {
        struct tree *tree = *link;
        if ((step && strcmp(step, tree->step) != 0) || (only && tree != only)) {
            link = &tree->next;
            continue;
        }
        *link = tree->next;
        job->trees_in_use--;
        objects->totals.trees--;
        objects->trees[tree->mcast_id] = NULL;
        objects->roots[tree->root] = NULL;
        json_decref(tree->made);
        free(tree);
    }
}

static void remove_job(struct objects *objects, struct job *job)
{
    remove_trees(objects, job, NULL, NULL);
    tdelete(job, &objects->by_id, compare_ids);
    *(job->previous ? &job->previous->next : &objects->first) = job->next;
    *(job->next ? &job->next->previous : &objects->last) = job->previous;
    objects->totals.jobs--;
    objects->totals.reserved -= job->limit;
    json_decref(job->made);
    free(job);
}

static void remove_all(struct objects *objects)
{
    while (objects->first)
        remove_job(objects, objects->first);
}

void objects_destroy(struct objects *objects)
{
    if (!objects)
        return;
    remove_all(objects);
    free(objects->roots);
    free(objects);
}

static int mark(struct objects *objects, json_t *change)
{
    json_int_t serial, next;
    if (json_unpack(change, "{s:I, s:I}", "serial", &serial, "nextMcastID", &next) < 0 ||
        serial < (json_int_t)objects->totals.last_serial || next < 0 || next >= OBJECTS_MCAST_IDS)
        return -EINVAL;
    objects->totals.last_serial = (uint64_t)serial;
    objects->totals.next_mcast_id = (unsigned)next;
    return 0;
}

/* A state restored from a backup has its counters, too: they may go back. */
static int reset(struct objects *objects, json_t *change)
{
    (void)change;
    remove_all(objects);
    objects->totals.last_serial = 0;
    objects->totals.next_mcast_id = 0;
    return 0;
}

static struct job *job_of(const struct objects *objects, const json_t *change)
{
    const char *id = json_string_value(json_object_get(change, "job"));
    return id ? objects_job(objects, id) : NULL;
}

static int64_t time_of(const json_t *change)
{
    return json_integer_value(json_object_get(change, "at"));
}

static int end_job(struct objects *objects, json_t *change)
{
    struct job *job = job_of(objects, change);
    if (!job)
        return -EINVAL;
    remove_job(objects, job);
    return 0;
}

static int end_step(struct objects *objects, json_t *change)
{
    struct job *job = job_of(objects, change);
    const char *step = json_string_value(json_object_get(change, "step"));
    if (!job || !step)
        return -EINVAL;
    remove_trees(objects, job, step, NULL);
    touch(job, time_of(change));
    return 0;
}

static int end_tree(struct objects *objects, json_t *change)
{
    json_int_t id;
    const struct tree *tree = NULL;
    if (json_unpack(change, "{s:I}", "mcastID", &id) == 0 && id >= 0 && id < OBJECTS_MCAST_IDS)
        tree = objects->trees[id];
    if (!tree)
        return -EINVAL;
    struct job *job = tree->job;
    remove_trees(objects, job, NULL, tree);
    touch(job, time_of(change));
    return 0;
}

int objects_apply(struct objects *objects, json_t *change)
{
    static const struct {
        const char *op;
        int (*apply)(struct objects *objects, json_t *change);
    } ops[] = {
        {"job", add_job},        {"job-gone", end_job}, {"tree", add_tree}, {"step-gone", end_step},
        {"tree-gone", end_tree}, {"mark", mark},        {"reset", reset},
    };
    const char *op = json_string_value(json_object_get(change, "op"));
    for (size_t i = 0; op && i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i].op) == 0)
            return ops[i].apply(objects, change);
    return -EINVAL;
}

static void list_job(const struct job *job, json_t *changes)
{
    json_t *change = json_copy(job->made);
    /* Applying its trees counts the job's version up to what it is now. */
    json_object_set_new(change, "version",
                        json_integer((json_int_t)(job->version - job->trees_in_use)));
    json_object_set_new(change, "at", json_integer(job->updated_us));
    json_array_append_new(changes, change);
    for (const struct tree *tree = job->trees; tree; tree = tree->next)
        json_array_append(changes, tree->made);
}

json_t *objects_changes(const struct objects *objects)
{
    json_t *changes = json_array();
    for (const struct job *job = objects->first; job; job = job->next)
        list_job(job, changes);
    /* Last, because the counters may be ahead of every object that is left. */
    json_array_append_new(changes, json_pack("{s:s, s:i, s:I, s:i}", "op", "mark", "at", 0,
                                             "serial", (json_int_t)objects->totals.last_serial,
                                             "nextMcastID", (int)objects->totals.next_mcast_id));
    return changes;
}

struct objects *objects_copy(const struct objects *objects)
{
    struct objects *copy = objects_create(objects->addresses, true);
    json_t *changes = objects_changes(objects), *change;
    size_t i;
    json_array_foreach(changes, i, change)
    {
        int result = objects_apply(copy, change);
        assert(result == 0);
        (void)result;
    }
    json_decref(changes);
    return copy;
}
