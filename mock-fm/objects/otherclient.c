/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/otherclient.h"

static int forget_job(struct fabric *fabric, const char *id, int64_t now_us,
                      struct problem *problem)
{
    struct change change = {.kind = CHANGE_JOB_GONE, .at_us = now_us, .job = id};
    if (!id || !objects_job(fabric->objects, id))
        return 0;
    return fabric_commit(fabric, &change, problem) < 0 ? -1 : 1;
}

int otherclient_forget(struct fabric *fabric, const json_t *ids, int64_t now_us,
                       struct problem *problem)
{
    const struct job *job;
    int lost = 0;
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        int result = forget_job(fabric, id, now_us, problem);
        if (result < 0)
            return -1;
        lost += result;
    }
    for (; !ids && (job = objects_first(fabric->objects)); lost++)
        if (forget_job(fabric, job->id, now_us, problem) < 0)
            return -1;
    return lost;
}

static int put_job(struct fabric *fabric, const json_t *text, int64_t now_us,
                   struct problem *problem)
{
    const json_t *limit = json_object_get(text, "mcastLimit");
    const json_t *token = json_object_get(text, "sessionToken");
    struct fabric_wish wish = {.id = json_string_value(json_object_get(text, "jobID")),
                               .limit = json_integer_value(limit),
                               .token = json_string_value(token),
                               .now_us = now_us};
    if (!wish.id || !json_is_integer(limit) || (token && json_string_length(token) == 0))
        return problem_set(problem, 400,
                           "a job is {\"jobID\":\"…\",\"mcastLimit\":N}, perhaps with a "
                           "\"sessionToken\"");
    if (forget_job(fabric, wish.id, now_us, problem) < 0)
        return -1;
    return fabric_reserve(fabric, &wish, problem);
}

int otherclient_put(struct fabric *fabric, const json_t *jobs, int64_t now_us,
                    struct problem *problem)
{
    for (size_t i = 0; i < json_array_size(jobs); i++)
        if (put_job(fabric, json_array_get(jobs, i), now_us, problem) < 0)
            return -1;
    return (int)json_array_size(jobs);
}

struct restore {
    struct fabric *fabric;
    struct problem *problem;
};

static int commit_again(void *cls, const struct change *change)
{
    struct restore *restore = cls;
    return fabric_commit(restore->fabric, change, restore->problem);
}

int otherclient_restore(struct fabric *fabric, const struct objects *snapshot, int64_t now_us,
                        struct problem *problem)
{
    const struct change reset = {.kind = CHANGE_RESET, .at_us = now_us};
    struct restore restore = {.fabric = fabric, .problem = problem};
    if (fabric_commit(fabric, &reset, problem) < 0)
        return -1;
    return objects_recount(snapshot, commit_again, &restore);
}
