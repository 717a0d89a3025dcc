/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/crowd.h"

#include "tests/system/rig/await.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURN_MS = 4,
    SENT_A_TURN = 6,
    AGAIN_MS = 30,       /* before what was refused or lost is repeated */
    NEXT_LIFE_MS = 100,  /* after a life that never was */
    SYNC_EVERY_MS = 120, /* of one cluster */
};

/* What a request's tag says: the job, or the cluster of a sync, and what was asked. */
enum request { RESERVE, RELEASE, LOOK, SYNC, REQUESTS };

struct crowd {
    struct crowd_options options;
    struct prng prng;
    bool trouble, calm;
    struct job jobs[CROWD_JOBS];
    bool syncing[CROWD_CLUSTERS];
    int64_t sync_ns[CROWD_CLUSTERS]; /* the next one's time */
    bool watching;
    size_t released_count;
    char released[CROWD_WATCHED][CROWD_NAME_SIZE];
    struct crowd_counts counts;
};

static int64_t in_ms(int64_t ms)
{
    return await_now_ns() + ms * 1000000;
}

/* ---- sending ---- */

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply);

static int send_request(struct crowd *crowd, uint64_t tag, const char *method, const char *path,
                        const char *body)
{
    const struct fleet_request request = {.done = on_reply, .arg = crowd, .tag = tag};

    return fleet_send(crowd->options.fleet, &request, method, path, body);
}

static bool request(struct crowd *crowd, struct job *job, enum request kind)
{
    static const char *const methods[] = {"PUT", "DELETE", "GET"};
    char path[JOB_PATH_SIZE];

    job_path(job, path);
    if (!fleet_has_room(crowd->options.fleet) ||
        send_request(crowd, (uint64_t)job->index * REQUESTS + kind, methods[kind], path,
                     kind == RESERVE ? job->body : NULL) < 0) {
        job->again_ns = in_ms(AGAIN_MS);
        return false;
    }
    job->reserves += kind == RESERVE;
    job->releases += kind == RELEASE;
    job->looks += kind == LOOK;
    return true;
}

static void reserve(struct crowd *crowd, struct job *job)
{
    crowd->counts.reserves++;
    (void)request(crowd, job, RESERVE);
}

static void release(struct crowd *crowd, struct job *job)
{
    job_let_go(job, crowd->options.vnis, await_now_ns());
    if (!job->canceled)
        job->life = JOB_LEAVING;
    crowd->counts.releases++;
    job->watched |= crowd->watching && job->releases_sent == 0;
    job->releases_sent += request(crowd, job, RELEASE);
}

static void begin(struct crowd *crowd, struct job *job)
{
    struct prng *prng = &crowd->prng;
    const bool cancels = prng_percent(prng, 6);

    /* Who cancels wants no earlier life of the id to be mistaken for this one. */
    job_begin(job, prng,
              cancels || job->canceled || (crowd->options.impatient && job->lost_answer) ||
                  prng_percent(prng, 50));
    reserve(crowd, job);
    if (!cancels && prng_percent(prng, 12))
        reserve(crowd, job); /* the same, at the same time */
    if (cancels && job->reserves > 0) {
        job->canceled = true;
        release(crowd, job);
    }
}

/* What a live job's resource manager may do. */
static void go_on(struct crowd *crowd, struct job *job)
{
    uint32_t mind = prng_below(&crowd->prng, 100);

    /* What the fabric manager forgot is not to be over before anyone can notice. */
    if (job->forgotten && job_token(job->told) && mind >= 40)
        mind %= 41;
    if (mind < 25) {
        crowd->counts.repeats++;
        reserve(crowd, job);
    } else if (mind < 40) {
        crowd->counts.looks++;
        (void)request(crowd, job, LOOK);
    } else if (mind < 75) {
        release(crowd, job);
        if (prng_percent(&crowd->prng, 10))
            release(crowd, job);
    } else if (mind < 79) {
        job_let_go(job, crowd->options.vnis, await_now_ns());
        job->life = JOB_FORSAKEN;
        job->again_ns = in_ms(AGAIN_MS);
        crowd->counts.forsaken++;
    }
}

static void act(struct crowd *crowd, struct job *job)
{
    if (job->reserves + job->releases + job->looks > 0 || job->again_ns > await_now_ns())
        return;
    switch (job->life) {
    case JOB_NONE:
        if (!crowd->calm && prng_percent(&crowd->prng, 40))
            begin(crowd, job);
        return;
    case JOB_ASKED:
        if (job->canceled)
            release(crowd, job); /* its reserve is never repeated: the job is over */
        else
            reserve(crowd, job);
        return;
    case JOB_LIVE:
        if (!crowd->calm)
            go_on(crowd, job);
        return;
    case JOB_LEAVING:
        release(crowd, job);
        return;
    case JOB_FORSAKEN:
        (void)request(crowd, job, LOOK);
        return;
    }
}

/* Every job that may be active, as its resource manager sees it now. */
static char *sync_body(struct crowd *crowd, size_t cluster)
{
    json_t *active = json_array();

    for (size_t i = 0; i < CROWD_PLACES; i++) {
        struct job *job = &crowd->jobs[cluster * CROWD_PLACES + i];

        job->named_live = job->life == JOB_LIVE ? job->lives : 0;
        if (job->life == JOB_ASKED || job->life == JOB_LIVE || job->life == JOB_LEAVING)
            (void)json_array_append_new(active, json_string(job->id));
    }
    json_t *body = json_pack("{so}", "active", active);
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return text;
}

static void sync_cluster(struct crowd *crowd, size_t cluster)
{
    char path[JOB_PATH_SIZE];

    if (crowd->syncing[cluster] || crowd->sync_ns[cluster] > await_now_ns() ||
        !fleet_has_room(crowd->options.fleet))
        return;
    char *body = sync_body(crowd, cluster);
    snprintf(path, sizeof path, "/v1/clusters/%s/sync", crowd->options.clusters[cluster]);
    crowd->sync_ns[cluster] = in_ms(SYNC_EVERY_MS);
    if (body && send_request(crowd, cluster * REQUESTS + SYNC, "POST", path, body) == 0)
        crowd->syncing[cluster] = true;
    free(body);
}

/* ---- answers ---- */

static const char *code_of(const json_t *answer)
{
    const char *code = json_string_value(json_object_get(answer, "code"));

    return code ? code : "";
}

static void fault(const struct crowd *crowd, const struct job *job, const char *what,
                  const struct wire_reply *reply)
{
    verdict_fault(crowd->options.verdict, "%s of %s-%s was answered %d: %.300s", what, job->cluster,
                  job->id, reply->status, reply->body);
}

static void in_doubt(struct crowd *crowd, struct job *job, const struct wire_reply *reply)
{
    crowd->counts.unanswered += reply->status == 0;
    crowd->counts.refused += reply->status != 0;
    job->lost_answer = true;
    job->again_ns = in_ms(AGAIN_MS);
}

static void count_hwcoll(struct crowd_counts *counts, const char *state)
{
    if (strcmp(state, "reserved") == 0)
        counts->reserved++;
    else if (strcmp(state, "denied") == 0)
        counts->denied++;
    else if (strcmp(state, "timeout") == 0)
        counts->timeout++;
    else if (strcmp(state, "unavailable") == 0)
        counts->unavailable++;
    else
        counts->without++;
}

/* A life that never was: refused, or released while it was being reserved. */
static void never_was(struct crowd *crowd, struct job *job, const struct wire_reply *reply)
{
    if (job->told)
        fault(crowd, job, "a repeated reserve", reply);
    else if (!job->canceled && job->reserves == 0)
        job->life = JOB_NONE; /* else its twin may have had more luck */
    job->again_ns = in_ms(NEXT_LIFE_MS);
}

/* It can never have what it requires (job_begin). */
static bool requires_too_much(const struct job *job)
{
    return strstr(job->body, "\"node_count\":2,") && strstr(job->body, "\"required\"");
}

static void reserve_refused(struct crowd *crowd, struct job *job, const json_t *answer,
                            const struct wire_reply *reply)
{
    const char *code = code_of(answer);

    if (reply->status == 503 && strcmp(code, "vnis-exhausted") == 0) {
        crowd->counts.exhausted++;
        never_was(crowd, job, reply);
    } else if (reply->status == 503 && strcmp(code, "hwcoll-required") == 0) {
        crowd->counts.required++;
        never_was(crowd, job, reply);
    } else if (reply->status == 422 && strcmp(code, "invalid") == 0 && requires_too_much(job)) {
        crowd->counts.required++;
        never_was(crowd, job, reply);
    } else if (reply->status == 503) {
        in_doubt(crowd, job, reply);
    } else if (strcmp(code, "released-before-reserve") == 0 && (job->canceled || job->not_found)) {
        crowd->counts.overtaken++;
        job->not_found = false; /* once: docs/architecture.md, "One life of a reservation" */
        job->again_ns = in_ms(AGAIN_MS);
    } else if (strcmp(code, "released-meanwhile") == 0 && job->canceled) {
        crowd->counts.overtaken++;
    } else {
        fault(crowd, job, "reserve", reply);
    }
}

static void reserve_answered(struct crowd *crowd, struct job *job, const struct wire_reply *reply)
{
    json_t *answer = json_loadb(reply->body, reply->length, 0, NULL);

    job->reserves--;
    if (reply->status == 0) {
        in_doubt(crowd, job, reply);
    } else if (reply->status == 200 || reply->status == 201) {
        /* Not "told before": of two at the same time, the second one's answer may come first. */
        if (reply->status == 201 && job->created)
            fault(crowd, job, "a repeated reserve", reply);
        job->created |= reply->status == 201;
        if (job->canceled && job->not_found)
            fault(crowd, job, "a reserve whose release came before it", reply);
        if (!job->told)
            count_hwcoll(&crowd->counts, job_hwcoll(answer));
        job->not_found = false;
        job_told(job, json_incref(answer), crowd->options.vnis, crowd->options.history,
                 await_now_ns());
        if (job->life == JOB_ASKED && !job->canceled)
            job->life = JOB_LIVE;
    } else {
        reserve_refused(crowd, job, answer, reply);
    }
    json_decref(answer);
}

static void note_released(struct crowd *crowd, struct job *job, const struct wire_reply *reply)
{
    char name[CROWD_NAME_SIZE];

    if (job->watched && reply->status == 202 && job_token(job->told) &&
        crowd->released_count < CROWD_WATCHED) {
        snprintf(name, sizeof name, "%s-%s", job->cluster, job->id);
        memcpy(crowd->released[crowd->released_count++], name, sizeof name);
    }
    job->watched = false;
}

static void release_answered(struct crowd *crowd, struct job *job, const struct wire_reply *reply)
{
    const bool plain = job->releases_sent == 1 && !job->canceled && !job->lost_answer;

    job->releases--;
    if (reply->status == 0 || reply->status == 503) {
        in_doubt(crowd, job, reply);
        return;
    }
    if (reply->status != 200 && reply->status != 202 && reply->status != 404)
        fault(crowd, job, "release", reply);
    if (plain && reply->status != 202)
        fault(crowd, job, "I2: the first release of a live job", reply);
    if (reply->status == 404 && job->told && job->releases_sent == 1 && !job->lost_answer)
        fault(crowd, job, "I2: a release after an acknowledged reserve", reply);
    job->not_found = reply->status == 404;
    note_released(crowd, job, reply);
    /* What was acknowledged to a canceled job's reserve comes into the story when it comes. */
    if (job->releases == 0 && job->reserves == 0)
        job_end(job, crowd->options.history);
    else
        job->life = JOB_LEAVING;
}

static void look_answered(struct crowd *crowd, struct job *job, const struct wire_reply *reply)
{
    json_t *answer = json_loadb(reply->body, reply->length, 0, NULL);
    const char *state = json_string_value(json_object_get(answer, "state"));

    job->looks--;
    if (reply->status == 0 || reply->status == 503) {
        in_doubt(crowd, job, reply);
    } else if (job->life == JOB_FORSAKEN) {
        if (reply->status == 404 || (state && strcmp(state, "releasing") == 0)) {
            job_end(job, crowd->options.history);
            job->canceled = true; /* its id is not to be used again */
        }
        job->again_ns = in_ms(AGAIN_MS);
    } else if (reply->status == 200) {
        job_told(job, json_incref(answer), crowd->options.vnis, crowd->options.history,
                 await_now_ns());
    } else {
        fault(crowd, job, "I2: look", reply);
    }
    json_decref(answer);
}

/* It named a job that was live all the while. Those in doubt may be unknown to the broker, which
 * refuses a sync that names none but such. */
static bool named_a_live_one(const struct crowd *crowd, size_t cluster)
{
    for (size_t i = 0; i < CROWD_PLACES; i++) {
        const struct job *job = &crowd->jobs[cluster * CROWD_PLACES + i];

        if (job->life == JOB_LIVE && job->named_live == job->lives)
            return true;
    }
    return false;
}

static void sync_answered(struct crowd *crowd, size_t cluster, const struct wire_reply *reply)
{
    crowd->syncing[cluster] = false;
    crowd->counts.syncs += reply->status == 200;
    if (reply->status == 422 && !named_a_live_one(crowd, cluster)) {
        crowd->counts.strange_syncs++;
        return;
    }
    if (reply->status != 200 && reply->status != 503 && reply->status != 0)
        verdict_fault(crowd->options.verdict, "sync of %s was answered %d: %.300s",
                      crowd->options.clusters[cluster], reply->status, reply->body);
}

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct crowd *crowd = arg;
    const enum request kind = (enum request)(tag % REQUESTS);
    struct job *job = &crowd->jobs[tag / REQUESTS];

    crowd->counts.answers += reply->status != 0;
    if (reply->status == 0 && !crowd->trouble)
        verdict_fault(crowd->options.verdict, "a request got no answer: its connection broke");
    switch (kind) {
    case RESERVE:
        reserve_answered(crowd, job, reply);
        return;
    case RELEASE:
        release_answered(crowd, job, reply);
        return;
    case LOOK:
        look_answered(crowd, job, reply);
        return;
    default:
        sync_answered(crowd, tag / REQUESTS, reply);
    }
}

/* ---- life ---- */

struct crowd *crowd_create(const struct crowd_options *options)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);

    if (!crowd)
        return NULL;
    crowd->options = *options;
    prng_init(&crowd->prng, options->seed);
    for (uint32_t i = 0; i < CROWD_JOBS; i++) {
        crowd->jobs[i].index = i;
        crowd->jobs[i].cluster = options->clusters[i / CROWD_PLACES];
    }
    return crowd;
}

void crowd_destroy(struct crowd *crowd)
{
    if (!crowd)
        return;
    for (size_t i = 0; i < CROWD_JOBS; i++)
        json_decref(crowd->jobs[i].told);
    free(crowd);
}

void crowd_expect_trouble(struct crowd *crowd, bool trouble)
{
    crowd->trouble = trouble;
}

void crowd_calm(struct crowd *crowd, bool calm)
{
    crowd->calm = calm;
}

bool crowd_is_quiet(const struct crowd *crowd)
{
    for (size_t i = 0; i < CROWD_JOBS; i++)
        if (crowd->jobs[i].life != JOB_NONE && crowd->jobs[i].life != JOB_LIVE)
            return false;
    return fleet_under_way(crowd->options.fleet) == 0;
}

void crowd_watch(struct crowd *crowd, bool watch)
{
    crowd->watching = watch;
    crowd->released_count = 0;
    for (size_t i = 0; i < CROWD_JOBS; i++)
        crowd->jobs[i].watched = false;
}

const char *crowd_released(const struct crowd *crowd, size_t index)
{
    return index < crowd->released_count ? crowd->released[index] : NULL;
}

bool crowd_awaits_release(const struct crowd *crowd)
{
    for (size_t i = 0; i < CROWD_JOBS; i++)
        if (crowd->jobs[i].watched)
            return true;
    return false;
}

static bool is_pressing(const struct job *job)
{
    return job->life == JOB_ASKED || job->life == JOB_LEAVING || job->life == JOB_FORSAKEN;
}

void crowd_turn(struct crowd *crowd)
{
    for (size_t cluster = 0; cluster < CROWD_CLUSTERS; cluster++)
        sync_cluster(crowd, cluster);
    for (unsigned i = 0; i < SENT_A_TURN && fleet_has_room(crowd->options.fleet); i++)
        act(crowd, &crowd->jobs[prng_below(&crowd->prng, CROWD_JOBS)]);
    for (size_t i = 0; i < CROWD_JOBS && fleet_has_room(crowd->options.fleet); i++)
        if (is_pressing(&crowd->jobs[i]))
            act(crowd, &crowd->jobs[i]);
    (void)fleet_turn(crowd->options.fleet, TURN_MS);
}

void crowd_hang_up(struct crowd *crowd)
{
    while (fleet_under_way(crowd->options.fleet) > 0)
        (void)fleet_turn(crowd->options.fleet, -1);
    fleet_hang_up(crowd->options.fleet);
}

struct job *crowd_job(struct crowd *crowd, size_t index)
{
    return &crowd->jobs[index];
}

const struct crowd_counts *crowd_counts(const struct crowd *crowd)
{
    return &crowd->counts;
}
