/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/scene.h"

#include "tests/system/rig/await.h"

#include <stdio.h>
#include <string.h>

enum { GLANCE_EVERY_MS = 40 };

/* One name is the beginning of another on purpose (B4). */
const char *const scene_clusters[CROWD_CLUSTERS] = {"elcap", "elcap2", "tuo"};
const unsigned scene_budgets[CROWD_CLUSTERS] = {0, 40, 24};

/* Others' objects, which look as much like ours as they can. */
static const char *const foreign[] = {"foo-17", "elcap3-1", "elca-p-1", "tuolumne-4", "elcap_2-8"};

int scene_plant(struct scene *scene, const char *name)
{
    char body[96];
    struct plainhttp_reply reply;

    snprintf(body, sizeof body, "{\"jobID\":\"%s\",\"mcastLimit\":1}", name);
    const int status = plainhttp_call(testbed_fm_http(scene->testbed), "POST",
                                      "/fabric/collectives/jobs", body, &reply);
    plainhttp_reply_release(&reply);
    return status;
}

/* Short times: a round is to be over in a few seconds. The link is fast to come back, and so few
 * VNIs that each is given again and again. The fabric manager's double acts at most 600 ms late
 * (weather.c): within [fm] timeout after a request was given up, be it by a kill just after it was
 * sent, as docs/architecture.md takes for granted. */
const char scene_fm_lines[] = "timeout = 1s\nreserve_timeout = 400ms\nlink_retry = 50ms\n"
                              "relist = 700ms\nstray_grace = 300ms\n";
const char scene_hwcoll_lines[] = "min_nodes = 64\naddresses_per_job = 4\ntotal_addresses = 120\n";
const char scene_vni_lines[] = "pool = 2000-2299\nhold = 300ms\n";
const char scene_cluster_lines[] = "[cluster \"elcap2\"]\nusers = root\nbudget = 40\n"
                                   "[cluster \"tuo\"]\nusers = root\nbudget = 24\n";

int scene_open_fm(struct scene *scene, const struct testbed_options *options)
{
    scene->testbed = testbed_create(options);
    if (!scene->testbed || testbed_start_fm(scene->testbed) < 0)
        return -1;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (scene_plant(scene, foreign[i]) / 100 != 2)
            return -1;
    return 0;
}

int scene_open_clients(struct scene *scene, const struct fleet_options *fleet)
{
    const struct crowd_options crowd = {
        .verdict = &scene->verdict,
        .vnis = vnis_create(&scene->verdict, SCENE_HOLD_MS * (int64_t)1000000),
        .history = &scene->history,
        .clusters = scene_clusters,
        .fleet = fleet_create(fleet),
        .impatient = fleet->give_up_ms > 0,
        .seed = prng_throw(&scene->prng)};
    scene->vnis = crowd.vnis;
    scene->fleet = crowd.fleet;
    if (!scene->vnis || !scene->fleet || !(scene->crowd = crowd_create(&crowd)))
        return -1;
    for (size_t i = 0; i < SCENE_SUBSCRIBERS; i++)
        if (!(scene->subscribers[i] = subscriber_create(&scene->history, scene->fleet)))
            return -1;
    return 0;
}

int scene_open(struct scene *scene, const char *mcastd, const char *mock_fm, uint64_t seed,
               bool debug)
{
    const struct testbed_options options = {
        .mcastd = mcastd,
        .mock_fm = mock_fm,
        .broker = debug ? "log_level = debug\nsync_grace = 200ms\n" : "sync_grace = 200ms\n",
        .state = "events_keep = 1000000\nevents_age = 0\n",
        .fm = scene_fm_lines,
        .hwcoll = scene_hwcoll_lines,
        .vni = scene_vni_lines,
        .clusters = scene_cluster_lines,
    };

    *scene = (struct scene){.verdict = {.seed = seed}, .debug = debug};
    prng_init(&scene->prng, seed);
    history_init(&scene->history, &scene->verdict);
    if (scene_open_fm(scene, &options) < 0 || testbed_start_broker(scene->testbed) < 0 ||
        testbed_await_link(scene->testbed) < 0)
        return -1;
    const struct fleet_options fleet = {
        .verdict = &scene->verdict, .sockets = {testbed_socket(scene->testbed)}, .brokers = 1};
    return scene_open_clients(scene, &fleet);
}

void scene_close(struct scene *scene)
{
    for (size_t i = 0; i < SCENE_SUBSCRIBERS; i++)
        subscriber_destroy(scene->subscribers[i]);
    crowd_destroy(scene->crowd);
    fleet_destroy(scene->fleet);
    vnis_destroy(scene->vnis);
    history_release(&scene->history);
    json_decref(scene->restored);
    testbed_destroy(scene->testbed);
}

/* ---- the fabric manager, seen from outside ---- */

int scene_cluster_of(const char *name, const char **job)
{
    for (int i = 0; i < CROWD_CLUSTERS; i++) {
        const size_t length = strlen(scene_clusters[i]);

        if (strncmp(name, scene_clusters[i], length) == 0 && name[length] == '-') {
            *job = name + length + 1;
            return i;
        }
    }
    return -1;
}

void scene_note_restored(struct scene *scene)
{
    struct plainhttp_reply reply;
    const json_t *job;
    size_t i;

    json_decref(scene->restored);
    scene->restored = json_object();
    plainhttp_call(testbed_fm_http(scene->testbed), "GET", "/mock/state", NULL, &reply);
    json_array_foreach(json_object_get(reply.json, "jobs"), i, job)
    {
        const char *name = json_string_value(json_object_get(job, "jobID"));

        if (name)
            (void)json_object_set_new(scene->restored, name, json_true());
    }
    plainhttp_reply_release(&reply);
}

static bool has_token(const struct scene *scene, const char *cluster, const char *id)
{
    for (size_t i = 0; i < CROWD_JOBS; i++) {
        const struct job *job = crowd_job(scene->crowd, i);

        if (job->told && job_token(job->told) && strcmp(job->cluster, cluster) == 0 &&
            strcmp(job->id, id) == 0)
            return true;
    }
    return false;
}

/* I8: at no moment are there more addresses than a budget allows. What was planted, also in the
 * place of a job's that was taken away, has fewer than the broker asks for, and is not its. Nor is
 * what an old state brought back when its job has no addresses: while that job lives, the broker
 * leaves it alone (B11), and it needs a moment more to delete it when the job has ended. */
static void look_at_budgets(struct scene *scene, const json_t *jobs)
{
    unsigned sums[CROWD_CLUSTERS] = {0}, sum = 0;
    const json_t *job;
    const char *id;
    size_t i;

    json_array_foreach(jobs, i, job)
    {
        const char *name = json_string_value(json_object_get(job, "jobID"));
        const int cluster = name ? scene_cluster_of(name, &id) : -1;

        const json_int_t limit = json_integer_value(json_object_get(job, "mcastLimit"));
        if (cluster >= 0 && limit >= SCENE_PER_JOB &&
            (!json_object_get(scene->restored, name) ||
             has_token(scene, scene_clusters[cluster], id)))
            sums[cluster] += (unsigned)limit;
    }
    for (size_t c = 0; c < CROWD_CLUSTERS; c++) {
        sum += sums[c];
        if (scene_budgets[c] && sums[c] > scene->budget_max)
            scene->budget_max = sums[c];
        if (scene_budgets[c] && sums[c] > scene_budgets[c])
            verdict_fault(&scene->verdict, "I8: %s has %u addresses, its budget is %u",
                          scene_clusters[c], sums[c], scene_budgets[c]);
    }
    if (sum > SCENE_ADDRESSES)
        verdict_fault(&scene->verdict, "I8: %u addresses are reserved, of %d", sum,
                      SCENE_ADDRESSES);
    scene->glances++;
}

static void glance(struct scene *scene)
{
    struct plainhttp_reply reply;
    const int64_t now = await_now_ns();

    if (now < scene->glance_ns || !testbed_fm_runs(scene->testbed) || scene->old_state)
        return;
    scene->glance_ns = now + GLANCE_EVERY_MS * (int64_t)1000000;
    if (plainhttp_call(testbed_fm_http(scene->testbed), "GET", "/mock/state", NULL, &reply) == 200)
        look_at_budgets(scene, json_object_get(reply.json, "jobs"));
    plainhttp_reply_release(&reply);
}

int scene_call(struct scene *scene, const char *method, const char *path,
               struct plainhttp_reply *reply)
{
    return scene->call ? scene->call(scene->brokers, method, path, reply)
                       : plainhttp_call(testbed_http(scene->testbed), method, path, NULL, reply);
}

/* ---- time passes ---- */

/* What goes on all the time, for a few milliseconds. */
static void turn(struct scene *scene)
{
    crowd_turn(scene->crowd);
    /* The last of them comes and goes. */
    if (prng_percent(&scene->prng, 1))
        subscriber_leave(scene->subscribers[SCENE_SUBSCRIBERS - 1]);
    for (size_t i = 0; i < SCENE_SUBSCRIBERS; i++)
        subscriber_turn(scene->subscribers[i]);
    glance(scene);
    if (scene->look_after)
        scene->look_after(scene->brokers);
}

void scene_run(struct scene *scene, unsigned answers, unsigned at_most_ms)
{
    const uint64_t enough = crowd_counts(scene->crowd)->answers + answers;
    const int64_t end = await_now_ns() + (int64_t)at_most_ms * 1000000;

    while (crowd_counts(scene->crowd)->answers < enough && await_now_ns() < end)
        turn(scene);
}

bool scene_await(struct scene *scene, bool (*holds)(void *arg), void *arg)
{
    const int64_t end = await_now_ns() + AWAIT_DEADLINE_MS * (int64_t)1000000;

    while (!holds(arg)) {
        if (await_now_ns() > end)
            return false;
        turn(scene);
    }
    return true;
}

void scene_kill_broker(struct scene *scene)
{
    crowd_expect_trouble(scene->crowd, true);
    testbed_kill_broker(scene->testbed);
    crowd_hang_up(scene->crowd);
}

int scene_start_broker(struct scene *scene)
{
    if (testbed_start_broker(scene->testbed) < 0) {
        verdict_fault(&scene->verdict, "the broker does not start");
        return -1;
    }
    crowd_expect_trouble(scene->crowd, false);
    return 0;
}

int scene_start_fm(struct scene *scene)
{
    if (testbed_start_fm(scene->testbed) < 0) {
        verdict_fault(&scene->verdict, "the fabric manager's double does not start");
        return -1;
    }
    return 0;
}
