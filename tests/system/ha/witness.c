/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/ha/witness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of one job at one broker: what was acknowledged when it was asked for. */
struct look {
    bool under_way;
    enum job_life life;
    unsigned lives;
    json_t *vnis;
    uint64_t number;
};

struct witness {
    struct scene *scene;
    struct prng prng;
    struct look looks[CROWD_JOBS * FLEET_MAX];
    struct witness_counts counts;
};

static void compare(struct witness *witness, const struct look *look, const struct job *job,
                    const struct wire_reply *reply)
{
    json_t *answer = json_loadb(reply->body, reply->length, 0, NULL);
    const char *state = json_string_value(json_object_get(answer, "state"));
    const bool active = reply->status == 200 && state && strcmp(state, "active") == 0;

    witness->counts.live += look->life == JOB_LIVE;
    witness->counts.gone += look->life == JOB_NONE;
    if (look->life == JOB_NONE ? active
                               : !active || job_number(answer) != look->number ||
                                     !json_equal(json_object_get(answer, "vnis"), look->vnis))
        verdict_fault(&witness->scene->verdict, "I9: %s-%s is %s by an answer, and then: %d %.300s",
                      job->cluster, job->id, look->life == JOB_LIVE ? "live" : "gone",
                      reply->status, reply->body);
    json_decref(answer);
}

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct witness *witness = arg;
    struct look *look = &witness->looks[tag];
    const struct job *job = crowd_job(witness->scene->crowd, tag / FLEET_MAX);

    witness->counts.looks++;
    if (reply->status == 0)
        witness->counts.unanswered++;
    else if (reply->status == 503)
        witness->counts.misled++;
    else if (job->life != look->life || job->lives != look->lives)
        witness->counts.changed++;
    else
        compare(witness, look, job, reply);
    json_decref(look->vnis);
    *look = (struct look){0};
}

/* Whether what the broker should say of it is known, until the next request that changes it. */
static bool is_certain(const struct job *job)
{
    return job->id[0] && job->reserves + job->releases == 0 &&
           (job->life == JOB_NONE ? !job->canceled && !job->lost_answer
                                  : job->life == JOB_LIVE && job->told);
}

void witness_turn(struct witness *witness)
{
    struct scene *scene = witness->scene;
    const size_t tag = prng_below(&witness->prng, CROWD_JOBS * FLEET_MAX);
    const struct job *job = crowd_job(scene->crowd, tag / FLEET_MAX);
    const struct fleet_request request = {.done = on_reply, .arg = witness, .tag = tag};
    struct look *look = &witness->looks[tag];
    char path[JOB_PATH_SIZE];

    if (look->under_way || !is_certain(job))
        return;
    *look = (struct look){true, job->life, job->lives, NULL, 0};
    if (job->told) {
        look->vnis = json_incref(json_object_get(job->told, "vnis"));
        look->number = job_number(job->told);
    }
    job_path(job, path);
    if (fleet_send_to(scene->fleet, (unsigned)(tag % FLEET_MAX), &request, "GET", path, NULL) == 0)
        return;
    json_decref(look->vnis);
    *look = (struct look){0};
}

struct witness *witness_create(struct scene *scene)
{
    struct witness *witness = calloc(1, sizeof *witness);

    if (witness) {
        witness->scene = scene;
        prng_init(&witness->prng, prng_throw(&scene->prng));
    }
    return witness;
}

void witness_destroy(struct witness *witness)
{
    for (size_t i = 0; witness && i < CROWD_JOBS * FLEET_MAX; i++)
        json_decref(witness->looks[i].vnis);
    free(witness);
}

const struct witness_counts *witness_counts(const struct witness *witness)
{
    return &witness->counts;
}
