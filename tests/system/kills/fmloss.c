/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/fmloss.h"

#include <stdlib.h>

enum {
    AMNESIA_ROUNDS = 4, /* until every job of then is over */
    FORGOTTEN_MAX = 6,
    FORGOTTEN_PERCENT = 60,
    OTHER_TOKEN_PERCENT = 40
};

static void forget(struct scene *scene, json_t *names)
{
    struct plainhttp_reply reply;
    json_t *body = json_pack("{sO}", "jobs", names);
    char *text = json_dumps(body, JSON_COMPACT);

    if (plainhttp_call(testbed_fm_http(scene->testbed), "POST", "/mock/forget", text, &reply) /
            100 !=
        2)
        verdict_fault(&scene->verdict, "the fabric manager's double does not forget: %d",
                      reply.status);
    plainhttp_reply_release(&reply);
    free(text);
    json_decref(body);
}

void fmloss_of_some(struct scene *scene)
{
    json_t *names = json_array(), *name;
    size_t i;

    for (i = 0; i < CROWD_JOBS && json_array_size(names) < FORGOTTEN_MAX; i++) {
        struct job *job = crowd_job(scene->crowd, i);

        if (job->life != JOB_LIVE || !job_token(job->told) ||
            !prng_percent(&scene->prng, FORGOTTEN_PERCENT))
            continue;
        job->forgotten = true;
        (void)json_array_append_new(names, json_sprintf("%s-%s", job->cluster, job->id));
    }
    forget(scene, names);
    /* The same name with another token is as good as lost; where the broker has seen in between
     * that there is none, it is a stray. */
    scene->history.leftovers = AMNESIA_ROUNDS;
    json_array_foreach(names, i, name)
    {
        if (prng_percent(&scene->prng, OTHER_TOKEN_PERCENT))
            (void)scene_plant(scene, json_string_value(name));
    }
    json_decref(names);
}

static bool control_fm(struct scene *scene, const char *path)
{
    struct plainhttp_reply reply;

    plainhttp_call(testbed_fm_http(scene->testbed), "POST", path, NULL, &reply);
    const bool done = reply.status / 100 == 2;
    plainhttp_reply_release(&reply);
    if (!done)
        verdict_fault(&scene->verdict, "the fabric manager's double does not do %s", path);
    return done;
}

bool fmloss_remember(struct scene *scene)
{
    return control_fm(scene, "/mock/snapshot");
}

bool fmloss_since(struct scene *scene)
{
    scene->old_state = true;
    scene->history.leftovers = AMNESIA_ROUNDS;
    for (size_t i = 0; i < CROWD_JOBS; i++) {
        struct job *job = crowd_job(scene->crowd, i);

        job->endangered = job->life == JOB_ASKED || job->life == JOB_LIVE;
    }
    const bool done = control_fm(scene, "/mock/restore");
    scene_note_restored(scene);
    return done;
}
