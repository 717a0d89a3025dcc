/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/audit.h"

#include "tests/system/rig/await.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 128, REPLAYED = 20000, FOREIGN = 5 };

/* ---- one job ---- */

static void look_at_job(struct scene *scene, struct job *job)
{
    struct plainhttp_reply reply;
    char path[JOB_PATH_SIZE];

    job_path(job, path);
    scene_call(scene, "GET", path, &reply);
    if (reply.status == 200)
        job_told(job, json_incref(reply.json), scene->vnis, &scene->history, await_now_ns());
    else
        verdict_fault(&scene->verdict, "I2: %s-%s was acknowledged, and GET says %d", job->cluster,
                      job->id, reply.status);
    plainhttp_reply_release(&reply);
}

static bool has_addresses(const struct job *job)
{
    return job->life == JOB_LIVE && strcmp(job_hwcoll(job->told), "reserved") == 0;
}

static void ask_broker(struct scene *scene, const char *method, const char *path)
{
    struct plainhttp_reply reply;

    scene_call(scene, method, path, &reply);
    plainhttp_reply_release(&reply);
}

/* A job that the fabric manager was made to forget hears of it, sooner or later. */
static bool losses_are_told(void *arg)
{
    struct scene *scene = arg;
    bool told = true;

    for (size_t i = 0; i < CROWD_JOBS; i++) {
        struct job *job = crowd_job(scene->crowd, i);

        if (!job->forgotten || !has_addresses(job))
            continue;
        ask_broker(scene, "POST", "/v1/accept-loss");
        look_at_job(scene, job);
        told &= !has_addresses(job);
    }
    return told;
}

/* ---- the broker's list ---- */

struct page {
    size_t active;          /* so far */
    uint32_t owners[65536]; /* of a VNI: a number, in this ledger */
};

static struct job *job_of(struct scene *scene, const json_t *entry)
{
    const char *cluster = json_string_value(json_object_get(entry, "cluster"));
    const char *id = json_string_value(json_object_get(entry, "job"));

    for (size_t i = 0; cluster && id && i < CROWD_JOBS; i++) {
        struct job *job = crowd_job(scene->crowd, i);

        if (strcmp(job->cluster, cluster) == 0 && strcmp(job->id, id) == 0)
            return job;
    }
    return NULL;
}

static void look_at_entry(struct scene *scene, struct page *page, const json_t *entry)
{
    const char *state = json_string_value(json_object_get(entry, "state"));
    const uint64_t number = job_number(entry);
    const json_t *vni, *vnis = json_object_get(entry, "vnis");
    size_t i;

    json_array_foreach(vnis, i, vni)
    {
        uint32_t *owner = &page->owners[json_integer_value(vni) & 65535];

        if (*owner)
            verdict_fault(&scene->verdict, "I1: VNI %d is in two reservations, %u and %" PRIu64,
                          (int)json_integer_value(vni), *owner, number);
        *owner = (uint32_t)number;
    }
    if (!state || strcmp(state, "active") != 0)
        return;
    const struct job *job = job_of(scene, entry);
    page->active++;
    history_story(&scene->history, number)->live = true;
    if (!job || job->life != JOB_LIVE || job_number(job->told) != number) {
        char *text = json_dumps(entry, JSON_COMPACT);

        verdict_fault(&scene->verdict, "I2: active, and nobody was told so or has it still: %s",
                      text);
        free(text);
    }
}

/* Reads the page at the path, and writes the path of the next one there; "": it was the last. */
static void look_at_page(struct scene *scene, struct page *page, char path[PATH_SIZE])
{
    struct plainhttp_reply reply;
    const json_t *entry;
    size_t i;

    if (scene_call(scene, "GET", path, &reply) != 200)
        verdict_fault(&scene->verdict, "the list of jobs was answered %d", reply.status);
    json_array_foreach(json_object_get(reply.json, "jobs"), i, entry)
    {
        look_at_entry(scene, page, entry);
    }
    const char *next = json_string_value(json_object_get(reply.json, "next"));
    snprintf(path, PATH_SIZE, "%s", next ? next : "");
    plainhttp_reply_release(&reply);
}

static void look_at_list(struct scene *scene)
{
    struct page *page = calloc(1, sizeof *page);
    char path[PATH_SIZE] = "/v1/jobs?limit=200";
    size_t live = 0;

    while (page && path[0])
        look_at_page(scene, page, path);
    for (size_t i = 0; i < CROWD_JOBS; i++)
        live += crowd_job(scene->crowd, i)->life == JOB_LIVE;
    if (page && page->active != live)
        verdict_fault(&scene->verdict, "I2: %zu jobs are active, %zu were acknowledged",
                      page->active, live);
    free(page);
}

/* ---- the fabric manager ---- */

struct comparison {
    struct scene *scene;
    char words[512]; /* the first thing that does not agree */
    bool agrees;
};

__attribute__((format(printf, 2, 3))) static void differ(struct comparison *comparison,
                                                         const char *format, ...)
{
    va_list args;

    if (!comparison->agrees)
        return;
    comparison->agrees = false;
    va_start(args, format);
    vsnprintf(comparison->words, sizeof comparison->words, format, args);
    va_end(args);
}

/* The administrator of these rounds: what is missing is lost, and no other broker is here (B11). */
static void administer(struct scene *scene)
{
    ask_broker(scene, "POST", "/v1/accept-loss");
    for (size_t i = 0; i < CROWD_CLUSTERS; i++) {
        char path[64];

        snprintf(path, sizeof path, "/v1/clusters/%s/claim", scene_clusters[i]);
        ask_broker(scene, "POST", path);
    }
}

/* Nothing under the name of a job that runs is deleted, also when it is not the job's (B11). */
static bool is_in_the_way(const struct scene *scene, const struct job *job)
{
    return job->life == JOB_LIVE && (job->forgotten || scene->history.leftovers > 0);
}

static void compare_held(struct comparison *comparison, const json_t *held, size_t *foreign,
                         size_t *ours)
{
    const char *name = json_string_value(json_object_get(held, "jobID")), *id = NULL;
    const int cluster = name ? scene_cluster_of(name, &id) : -1;

    if (cluster < 0) {
        ++*foreign;
        return;
    }
    char path[64];
    for (size_t i = 0; i < CROWD_JOBS; i++) {
        const struct job *job = crowd_job(comparison->scene->crowd, i);

        if (strcmp(job->cluster, scene_clusters[cluster]) != 0 || strcmp(job->id, id) != 0)
            continue;
        *ours += has_addresses(job);
        if (has_addresses(job) || is_in_the_way(comparison->scene, job))
            return;
    }
    snprintf(path, sizeof path, "/v1/clusters/%s/jobs/%s", scene_clusters[cluster], id);
    if (strncmp(id, "stray", strlen("stray")) == 0)
        ask_broker(comparison->scene, "DELETE", path);
    differ(comparison, "I3: the fabric manager holds %s, no active job was told so", name);
}

/* It may take a while: what is to be released is tried again and again, later and later. */
static bool fm_agrees(void *arg)
{
    struct comparison *comparison = arg;
    struct scene *scene = comparison->scene;
    struct plainhttp_reply reply;
    size_t i, foreign = 0, ours = 0, expected = 0;
    const json_t *held;

    comparison->agrees = true;
    administer(scene);
    for (size_t j = 0; j < CROWD_JOBS; j++)
        if (crowd_job(scene->crowd, j)->endangered && has_addresses(crowd_job(scene->crowd, j)))
            look_at_job(scene, crowd_job(scene->crowd, j)); /* it may have been told meanwhile */
    plainhttp_call(testbed_fm_http(scene->testbed), "GET", "/mock/state", NULL, &reply);
    if (reply.status != 200)
        differ(comparison, "the fabric manager's double answered %d", reply.status);
    json_array_foreach(json_object_get(reply.json, "jobs"), i, held)
    {
        compare_held(comparison, held, &foreign, &ours);
    }
    plainhttp_reply_release(&reply);
    for (size_t j = 0; j < CROWD_JOBS; j++)
        expected += has_addresses(crowd_job(scene->crowd, j));
    if (ours != expected)
        differ(comparison, "I3: the fabric manager holds %zu reservations of %zu that were told",
               ours, expected);
    if (foreign != FOREIGN)
        differ(comparison, "I6: of %d objects of others, %zu are left", FOREIGN, foreign);
    return comparison->agrees;
}

static void compare_tokens(struct scene *scene)
{
    for (size_t i = 0; i < CROWD_JOBS; i++) {
        const struct job *job = crowd_job(scene->crowd, i);
        struct plainhttp_reply reply;
        char path[128];

        if (!has_addresses(job))
            continue;
        snprintf(path, sizeof path, "/fabric/collectives/jobs/%s-%s", job->cluster, job->id);
        plainhttp_call(testbed_fm_http(scene->testbed), "GET", path, NULL, &reply);
        const char *token = json_string_value(json_object_get(reply.json, "sessionToken"));
        if (!token || strcmp(token, job_token(job->told)) != 0)
            verdict_fault(&scene->verdict, "I3: %s-%s has another token than it was told",
                          job->cluster, job->id);
        if (json_integer_value(json_object_get(reply.json, "mcastLimit")) != SCENE_PER_JOB)
            verdict_fault(&scene->verdict, "I3: %s-%s has not %d addresses", job->cluster, job->id,
                          SCENE_PER_JOB);
        plainhttp_reply_release(&reply);
    }
}

/* ---- events ---- */

static bool events_are_heard(void *arg)
{
    struct scene *scene = arg;
    struct plainhttp_reply reply;

    scene_call(scene, "GET", "/v1/status", &reply);
    const uint64_t last = (uint64_t)json_integer_value(
        json_object_get(json_object_get(reply.json, "events"), "last"));
    plainhttp_reply_release(&reply);
    for (size_t i = 0; i < SCENE_SUBSCRIBERS; i++)
        if (last == 0 || subscriber_last(scene->subscribers[i]) != last)
            return false;
    return scene->history.count == last;
}

static void compare_story(struct scene *scene, const struct job *job)
{
    const uint64_t number = job_number(job->told);
    const struct story *story = history_story(&scene->history, number);
    const bool lost = strcmp(job_hwcoll(job->told), "lost") == 0;

    if (!story->begun || story->released || story->adopted)
        verdict_fault(&scene->verdict,
                      "F24: %s-%s (number %" PRIu64 ") is active, and the events say otherwise",
                      job->cluster, job->id, number);
    if (has_addresses(job) && !story->reserved)
        verdict_fault(&scene->verdict, "F24: no event says that %s-%s got its addresses",
                      job->cluster, job->id);
    if (story->lost != lost)
        verdict_fault(&scene->verdict, "I4: %s-%s is told %s, and %s event says that it is lost",
                      job->cluster, job->id, job_hwcoll(job->told), story->lost ? "an" : "no");
}

/* Of everything there ever was. */
static void compare_stories(struct scene *scene)
{
    for (size_t i = 0; i < CROWD_JOBS; i++)
        if (crowd_job(scene->crowd, i)->life == JOB_LIVE)
            compare_story(scene, crowd_job(scene->crowd, i));
    for (uint64_t number = 1; number <= scene->history.highest; number++) {
        struct story *story = history_story(&scene->history, number);

        if (story->told_released && !story->released)
            verdict_fault(&scene->verdict, "F24: no event says that %" PRIu64 " was released",
                          number);
        if (story->begun && !story->released && !story->live)
            verdict_fault(&scene->verdict, "F24: %" PRIu64 " began, did not end, and is gone",
                          number);
        if (story->told && !story->begun)
            verdict_fault(&scene->verdict, "F24: no event says that %" PRIu64 " began", number);
        story->live = false;
    }
}

/* ---- the audit ---- */

static bool crowd_rests(void *arg)
{
    const struct scene *scene = arg;

    return crowd_is_quiet(scene->crowd);
}

void audit(struct scene *scene)
{
    struct comparison comparison = {.scene = scene};

    if (!scene_await(scene, crowd_rests, scene)) {
        verdict_fault(&scene->verdict, "requests never come to a definite answer");
        return;
    }
    if (!scene_await(scene, losses_are_told, scene))
        verdict_fault(&scene->verdict, "I4: a job lost its addresses, and is not told");
    for (size_t i = 0; i < CROWD_JOBS; i++)
        if (crowd_job(scene->crowd, i)->life == JOB_LIVE)
            look_at_job(scene, crowd_job(scene->crowd, i));
    if (!scene_await(scene, fm_agrees, &comparison))
        verdict_fault(&scene->verdict, "%s", comparison.words);
    compare_tokens(scene);
    look_at_list(scene);
    subscriber_replay(scene->subscribers[SCENE_SUBSCRIBERS - 1], REPLAYED);
    if (!scene_await(scene, events_are_heard, scene))
        verdict_fault(&scene->verdict, "F24: subscribers do not hear all events");
    compare_stories(scene);
    scene->old_state = false;
    scene->history.leftovers -= scene->history.leftovers > 0;
}
