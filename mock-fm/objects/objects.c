/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/objects.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct objects {
    struct objects_totals totals;
    bool overcommit;
    struct job *first, *last;
    void *by_id; /* the jobs: tsearch's tree */
    struct tree *trees[OBJECTS_MCAST_IDS];
    struct tree **roots; /* by NIC address: the tree it is the root of */
};

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

static struct job *find_job(const struct objects *objects, const char *id)
{
    void *node = tfind(&id, &objects->by_id, compare_ids);
    return node ? *(struct job **)node : NULL;
}

struct objects *objects_create(unsigned addresses, bool overcommit)
{
    struct objects *objects = calloc(1, sizeof *objects);
    assert(addresses >= 1 && addresses <= OBJECTS_MCAST_IDS);
    if (!objects)
        return NULL;
    objects->totals.addresses = addresses;
    objects->overcommit = overcommit;
    /* The table of roots is 8 MB of address space, of which only touched pages cost memory. */
    if ((objects->roots = calloc(NIC_ADDRESSES, sizeof *objects->roots)))
        return objects;
    free(objects);
    return NULL;
}

static void free_tree(struct tree *tree)
{
    free(tree->step);
    free(tree->macs);
    free(tree);
}

static void free_job(struct job *job)
{
    free(job->id);
    if (job->token)
        explicit_bzero(job->token, strlen(job->token));
    free(job->token);
    free(job);
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
    const struct objects_totals *totals = &objects->totals;
    int64_t left = (int64_t)totals->addresses - (int64_t)totals->reserved;
    if (!is_job_id(id))
        return problem_set(problem, 400,
                           "jobID must have 1 to %d characters, without control characters, "
                           "quotes, '/' or '\\'",
                           OBJECTS_JOB_ID_MAX);
    if (limit < 1 || limit > OBJECTS_MCAST_IDS)
        return problem_set(problem, 400, "mcastLimit must be a number from 1 to %d",
                           OBJECTS_MCAST_IDS);
    if (find_job(objects, id))
        return problem_set(problem, 409, "job %s exists already; delete it first", id);
    if (!objects->overcommit && limit > left)
        return problem_set(
            problem, 507,
            "02: no multicast addresses left: %lld asked for, %lld of %u not reserved",
            (long long)limit, (long long)(left > 0 ? left : 0), totals->addresses);
    return 0;
}

/* The next free id in a round, so that a stale id is not soon someone else's. */
static bool find_free_id(const struct objects *objects, unsigned *id)
{
    unsigned addresses = objects->totals.addresses;
    for (unsigned i = 0; i < addresses; i++) {
        *id = (objects->totals.next_mcast_id + i) % addresses;
        if (!objects->trees[*id])
            return true;
    }
    return false;
}

static int choose_root(const struct objects *objects, const struct job *job, struct change *wish,
                       struct problem *problem)
{
    bool own = false;
    for (size_t i = 0; i < wish->mac_count; i++) {
        const struct tree *tree = objects->roots[wish->macs[i]];
        if (!tree) {
            wish->root = wish->macs[i];
            return 0;
        }
        own = own || tree->job == job;
    }
    if (own)
        return problem_set(problem, 400,
                           "hw root in use: each of the %zu NICs is the root of a tree already",
                           wish->mac_count);
    return problem_set(problem, 507, "03: no hardware root free in this group of %zu NICs",
                       wish->mac_count);
}

static int compare_macs(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static int check_macs(const struct change *wish, struct problem *problem)
{
    uint32_t *sorted;
    char text[NIC_TEXT_SIZE];
    int result = 0;
    if (wish->mac_count == 0)
        return problem_set(problem, 400, "macs must name at least one NIC");
    if (!(sorted = malloc(wish->mac_count * sizeof sorted[0])))
        return problem_set(problem, 500, "out of memory");
    memcpy(sorted, wish->macs, wish->mac_count * sizeof sorted[0]);
    qsort(sorted, wish->mac_count, sizeof sorted[0], compare_macs);
    for (size_t i = 1; i < wish->mac_count && result == 0; i++) {
        if (sorted[i] != sorted[i - 1])
            continue;
        nic_format_short(sorted[i], text);
        result = problem_set(problem, 400, "macs names %s twice", text);
    }
    free(sorted);
    return result;
}

int objects_may_grow(const struct objects *objects, struct change *wish, struct problem *problem)
{
    const struct job *job = find_job(objects, wish->job);
    if (!job)
        return problem_set(problem, 404, "no such job %.*s", OBJECTS_JOB_ID_MAX, wish->job);
    if (strlen(wish->step) > OBJECTS_STEP_MAX)
        return problem_set(problem, 400, "jobStepID must have at most %d bytes", OBJECTS_STEP_MAX);
    if (check_macs(wish, problem) < 0)
        return -1;
    if (job->trees_in_use >= job->limit)
        return problem_set(problem, 507, "01: job %s has used all of its %u multicast addresses",
                           job->id, job->limit);
    if (!find_free_id(objects, &wish->mcast_id))
        return problem_set(problem, 507, "02: none of the %u multicast addresses is free",
                           objects->totals.addresses);
    return choose_root(objects, job, wish, problem);
}

static int add_job(struct objects *objects, const struct change *change)
{
    if (find_job(objects, change->job) || change->serial <= objects->totals.last_serial)
        return -EINVAL;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return -ENOMEM;
    if (!(job->id = strdup(change->job)) || !(job->token = strdup(change->token)) ||
        !tsearch(job, &objects->by_id, compare_ids)) {
        free_job(job);
        return -ENOMEM;
    }
    job->limit = change->limit;
    job->serial = change->serial;
    job->version = change->version;
    job->updated_us = change->at_us;
    job->previous = objects->last;
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

static int add_tree(struct objects *objects, const struct change *change)
{
    struct job *job = find_job(objects, change->job);
    if (!job || objects->trees[change->mcast_id] || objects->roots[change->root])
        return -EINVAL;
    struct tree *tree = malloc(sizeof *tree), **end = &job->trees;
    if (!tree)
        return -ENOMEM;
    *tree = (struct tree){.mcast_id = change->mcast_id,
                          .job = job,
                          .step = strdup(change->step),
                          .root = change->root,
                          .vni = change->vni,
                          .timeout_us = change->timeout_us,
                          .macs = reallocarray(NULL, change->mac_count, sizeof *tree->macs),
                          .mac_count = change->mac_count,
                          .updated_us = change->at_us};
    if (!tree->step || !tree->macs) {
        free_tree(tree);
        return -ENOMEM;
    }
    memcpy(tree->macs, change->macs, change->mac_count * sizeof *tree->macs);
    while (*end)
        end = &(*end)->next;
    *end = tree;
    job->trees_in_use++;
    touch(job, change->at_us);
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
        free_tree(tree);
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
    free_job(job);
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

static int apply_to_counters(struct objects *objects, const struct change *change)
{
    if (change->serial < objects->totals.last_serial)
        return -EINVAL;
    objects->totals.last_serial = change->serial;
    objects->totals.next_mcast_id = change->next_mcast_id;
    return 0;
}

static int apply_to_job(struct objects *objects, const struct change *change)
{
    struct job *job = find_job(objects, change->job);
    if (!job)
        return -EINVAL;
    if (change->kind == CHANGE_JOB_GONE) {
        remove_job(objects, job);
    } else {
        remove_trees(objects, job, change->step, NULL);
        touch(job, change->at_us);
    }
    return 0;
}

static int remove_tree(struct objects *objects, const struct change *change)
{
    const struct tree *tree = objects->trees[change->mcast_id];
    if (!tree)
        return -EINVAL;
    struct job *job = tree->job;
    remove_trees(objects, job, NULL, tree);
    touch(job, change->at_us);
    return 0;
}

int objects_apply(struct objects *objects, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_MARK:
        return apply_to_counters(objects, change);
    case CHANGE_RESET:
        remove_all(objects);
        /* A state restored from a backup has its counters, too: they may go back. */
        objects->totals.last_serial = 0;
        objects->totals.next_mcast_id = 0;
        return 0;
    case CHANGE_JOB:
        return add_job(objects, change);
    case CHANGE_JOB_GONE:
    case CHANGE_STEP_GONE:
        return apply_to_job(objects, change);
    case CHANGE_TREE:
        return add_tree(objects, change);
    case CHANGE_TREE_GONE:
        return remove_tree(objects, change);
    }
    return -EINVAL;
}

int objects_apply_line(struct objects *objects, const char *line, size_t length)
{
    struct change_read read;
    if (change_decode(line, length, &read) < 0)
        return -EINVAL;
    int result = objects_apply(objects, &read.change);
    change_release(&read);
    return result;
}

static int recount_job(const struct job *job, objects_listener *on_change, void *listener)
{
    /* Applying its trees counts the job's version up to what it is now. */
    struct change change = {.kind = CHANGE_JOB,
                            .at_us = job->updated_us,
                            .job = job->id,
                            .token = job->token,
                            .limit = job->limit,
                            .serial = job->serial,
                            .version = job->version - job->trees_in_use};
    int result = on_change(listener, &change);
    for (const struct tree *tree = job->trees; tree && result == 0; tree = tree->next) {
        change = (struct change){.kind = CHANGE_TREE,
                                 .at_us = tree->updated_us,
                                 .job = job->id,
                                 .step = tree->step,
                                 .mcast_id = tree->mcast_id,
                                 .root = tree->root,
                                 .vni = tree->vni,
                                 .timeout_us = tree->timeout_us,
                                 .macs = tree->macs,
                                 .mac_count = tree->mac_count};
        result = on_change(listener, &change);
    }
    return result;
}

int objects_recount(const struct objects *objects, objects_listener *on_change, void *listener)
{
    const struct change mark = {.kind = CHANGE_MARK,
                                .serial = objects->totals.last_serial,
                                .next_mcast_id = objects->totals.next_mcast_id};
    int result = 0;
    for (const struct job *job = objects->first; job && result == 0; job = job->next)
        result = recount_job(job, on_change, listener);
    /* Last, because the counters may be ahead of every object that is left. */
    return result == 0 ? on_change(listener, &mark) : result;
}

static int apply_to_copy(void *copy, const struct change *change)
{
    return objects_apply(copy, change);
}

struct objects *objects_copy(const struct objects *objects)
{
    struct objects *copy = objects_create(objects->totals.addresses, true);
    if (copy && objects_recount(objects, apply_to_copy, copy) < 0) {
        objects_destroy(copy);
        return NULL;
    }
    return copy;
}

const struct job *objects_job(const struct objects *objects, const char *id)
{
    return find_job(objects, id);
}

const struct tree *objects_tree(const struct objects *objects, unsigned mcast_id)
{
    return mcast_id < OBJECTS_MCAST_IDS ? objects->trees[mcast_id] : NULL;
}

const struct job *objects_first(const struct objects *objects)
{
    return objects->first;
}

struct objects_totals objects_totals(const struct objects *objects)
{
    return objects->totals;
}
