/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/killschedule.h"

#include "tests/system/kills/fakeclock.h"
#include "tests/system/kills/fmloss.h"
#include "tests/system/kills/refusal.h"
#include "tests/system/kills/silence.h"
#include "tests/system/kills/smalldisk.h"
#include "tests/system/rig/folder.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 128, QUIET_MS = 600, START_NS = 30000000 };

/* ---- small parts ---- */

static const char *file(const struct scene *scene, const char *name, char path[PATH_SIZE])
{
    return folder_path(path, PATH_SIZE, testbed_folder(scene->testbed), name);
}

/* So many answers that the next thing happens at a moment that the dice choose. */
static void go_on(struct scene *scene)
{
    scene_run(scene, prng_between(&scene->prng, 20, 160), QUIET_MS);
}

static void kill_broker(struct kill_context *context)
{
    context->kills++;
    scene_kill_broker(context->scene);
}

static void kill_fm(struct kill_context *context)
{
    context->fm_kills++;
    testbed_kill_fm(context->scene->testbed);
}

static void move(const struct scene *scene, const char *from, const char *to)
{
    char source[PATH_SIZE], target[PATH_SIZE];

    if (rename(file(scene, from, source), file(scene, to, target)) < 0)
        perror(source);
}

static void refuse(struct kill_context *context, const char *words)
{
    context->refusals++;
    refusal_expect(context->scene, context->mcastd, words);
}

static void skip(struct kill_context *context, const char *why)
{
    context->skipped++;
    printf("    left out: %s\n", why);
}

/* The same, because of what is missing here: ./dev test names it (tests/skipped.sh). */
static void skip_for_want(struct kill_context *context, const char *why)
{
    context->skipped++;
    printf("skipped: %s\n", why);
}

/* ---- kills ---- */

static void broker_killed(struct kill_context *context)
{
    kill_broker(context);
    (void)scene_start_broker(context->scene);
}

static void fm_killed(struct kill_context *context)
{
    kill_fm(context);
    go_on(context->scene);
    (void)scene_start_fm(context->scene);
}

static void both_killed(struct kill_context *context)
{
    struct scene *scene = context->scene;

    if (prng_percent(&scene->prng, 50)) {
        kill_fm(context);
        scene_run(scene, prng_below(&scene->prng, 60), QUIET_MS);
        kill_broker(context);
    } else {
        kill_broker(context);
        kill_fm(context);
    }
    if (prng_percent(&scene->prng, 50)) {
        (void)scene_start_broker(scene);
        go_on(scene);
        (void)scene_start_fm(scene);
    } else {
        (void)scene_start_fm(scene);
        (void)scene_start_broker(scene);
    }
}

/* Again and again, before it serves: at a moment of its start, not after a condition. */
static void killed_while_starting(struct kill_context *context)
{
    struct scene *scene = context->scene;

    kill_broker(context);
    for (int i = 0; i < 4; i++) {
        const struct timespec moment = {.tv_nsec = (long)prng_below(&scene->prng, START_NS)};

        if (testbed_launch_broker(scene->testbed) < 0)
            break;
        nanosleep(&moment, NULL);
        kill_broker(context);
    }
    (void)scene_start_broker(scene);
}

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

/* Told to, with requests under way: it answers or breaks off, and ends well. */
static void stop_broker(struct kill_context *context)
{
    struct scene *scene = context->scene;

    crowd_expect_trouble(scene->crowd, true);
    context->stops++;
    process_signal(testbed_broker(scene->testbed), SIGTERM);
    if (!scene_await(scene, has_ended, testbed_broker(scene->testbed)) ||
        testbed_stop_broker(scene->testbed) < 0)
        verdict_fault(&scene->verdict, "told to stop, the broker ends badly");
    crowd_hang_up(scene->crowd);
}

static void stopped(struct kill_context *context)
{
    stop_broker(context);
    (void)scene_start_broker(context->scene);
}

/* ---- the disk ---- */

static void limit_files(const struct scene *scene, rlim_t length)
{
    const struct rlimit limit = {length, RLIM_INFINITY};

    if (prlimit(process_pid(testbed_broker(scene->testbed)), RLIMIT_FSIZE, &limit, NULL) < 0)
        perror("prlimit");
}

static bool saves_again(void *arg)
{
    const struct scene *scene = arg;

    return plainhttp_probe(testbed_http(scene->testbed), "/readyz") == 200;
}

static void await_saving(struct scene *scene)
{
    if (!scene_await(scene, saves_again, scene))
        verdict_fault(&scene->verdict, "the disk is well again, and the broker does not save");
}

/* No file of the broker's may become longer than so. */
static void disk_full(struct kill_context *context)
{
    static const rlim_t lengths[] = {0, 4096, 65536, 1 << 20};
    struct scene *scene = context->scene;

    limit_files(scene, lengths[prng_below(&scene->prng, sizeof lengths / sizeof *lengths)]);
    go_on(scene);
    if (prng_percent(&scene->prng, 40)) {
        kill_broker(context);
        (void)scene_start_broker(scene);
        return;
    }
    limit_files(scene, RLIM_INFINITY);
    await_saving(scene);
}

static bool saves_nothing(void *arg)
{
    const struct scene *scene = arg;

    return plainhttp_probe(testbed_http(scene->testbed), "/readyz") == 503;
}

/* ENOSPC itself: the ledger is on a disk of its own for a while, which fills. */
static void disk_without_space(struct kill_context *context)
{
    struct scene *scene = context->scene;
    const char *folder = testbed_folder(scene->testbed);
    bool moved_back = true;

    stop_broker(context);
    if (smalldisk_move_in(folder) < 0) {
        skip_for_want(context, "no small disk could be mounted for the ledger");
    } else if (scene_start_broker(scene) == 0) {
        go_on(scene);
        if (smalldisk_fill(folder) < 0 || !scene_await(scene, saves_nothing, scene))
            verdict_fault(&scene->verdict, "the disk is full, and nobody notices");
        go_on(scene);
        const bool killed = prng_percent(&scene->prng, 40);
        if (killed)
            kill_broker(context); /* it would not start again before there is room */
        moved_back = smalldisk_make_room(folder) == 0;
        if (killed)
            (void)scene_start_broker(scene);
        await_saving(scene);
        go_on(scene);
        kill_broker(context);
        moved_back &= smalldisk_move_out(folder) == 0;
    }
    if (!moved_back)
        verdict_fault(&scene->verdict, "the ledger could not be moved back from the small disk");
    (void)scene_start_broker(scene);
}

/* It can be read only: another program has a transaction of its own. */
static void ledger_held(struct kill_context *context)
{
    struct scene *scene = context->scene;
    char path[PATH_SIZE];
    sqlite3 *db = NULL;

    if (sqlite3_open(file(scene, "state.db", path), &db) != SQLITE_OK ||
        sqlite3_busy_timeout(db, 2000) != SQLITE_OK ||
        sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        skip(context, "the ledger could not be locked");
    else
        go_on(scene);
    sqlite3_close(db);
    await_saving(scene);
}

static void ledger_away(struct kill_context *context)
{
    struct scene *scene = context->scene;

    move(scene, "state.db", "state.db.away");
    go_on(scene);
    move(scene, "state.db.away", "state.db");
    await_saving(scene);
}

static void ledger_damaged(struct kill_context *context)
{
    kill_broker(context);
    postmortem(context->scene, context->mcastd, context->damaged);
    (void)scene_start_broker(context->scene);
}

/* ---- the key ---- */

static bool has_tokens(const struct scene *scene)
{
    for (size_t i = 0; i < CROWD_JOBS; i++) {
        const struct job *job = crowd_job(scene->crowd, i);

        if (job->life == JOB_LIVE && job_token(job->told))
            return true;
    }
    return false;
}

static void without_key(struct kill_context *context, const char *other_key, const char *words)
{
    struct scene *scene = context->scene;

    kill_broker(context);
    if (has_tokens(scene)) {
        move(scene, "state.key", "state.key.away");
        if (other_key)
            (void)folder_write(testbed_folder(scene->testbed), "state.key", 0600, other_key);
        refuse(context, words);
        move(scene, "state.key.away", "state.key");
    } else {
        skip(context, "no job has a token, so no key is missed");
    }
    (void)scene_start_broker(scene);
}

static void key_missing(struct kill_context *context)
{
    without_key(context, NULL, "is missing, and ");
}

static void key_changed(struct kill_context *context)
{
    without_key(context, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
                "sealed with another key than that of ");
}

/* ---- the clock ---- */

/* Set back by years, forward by hours, … from one start to the next; and right again. */
static void clock_set(struct kill_context *context)
{
    static const char *const offsets[] = {"-2y", "-30d", "-3h", "-5", "+5", "+3h", "+30d", "+2y"};
    struct scene *scene = context->scene;
    const char *lacks = fakeclock_lacks();

    if (lacks) {
#ifdef __SANITIZE_ADDRESS__
        skip(context, lacks);
#else
        skip_for_want(context, lacks);
#endif
        return;
    }
    for (int i = 0; i < 2; i++) {
        kill_broker(context);
        fakeclock_set(offsets[prng_below(&scene->prng, sizeof offsets / sizeof *offsets)]);
        const int started = scene_start_broker(scene);
        fakeclock_set(NULL);
        if (started < 0)
            return;
        go_on(scene);
    }
    kill_broker(context);
    (void)scene_start_broker(scene);
}

/* ---- operation ---- */

static int64_t status_number(const struct scene *scene, const char *part, const char *name)
{
    struct plainhttp_reply reply;

    plainhttp_call(testbed_http(scene->testbed), "GET", "/v1/status", NULL, &reply);
    const json_t *object = part ? json_object_get(reply.json, part) : reply.json;
    const json_t *value = json_object_get(object, name);
    const int64_t number = json_is_boolean(value) ? json_is_true(value) : json_integer_value(value);
    plainhttp_reply_release(&reply);
    return number;
}

static bool pool_is_larger(void *arg)
{
    return status_number(arg, "vnis", "pool") == 350;
}

static bool pool_is_as_before(void *arg)
{
    return status_number(arg, "vnis", "pool") == 300;
}

static bool reload_is_refused(void *arg)
{
    return status_number(arg, NULL, "reload_refused") == 1;
}

static void reload(struct kill_context *context, const char *text, bool (*holds)(void *arg))
{
    struct scene *scene = context->scene;
    char path[PATH_SIZE];

    (void)mkdir(file(scene, "conf.d", path), 0700);
    if (folder_write(testbed_folder(scene->testbed), "conf.d/50-reload.conf", 0600, text) < 0)
        return;
    context->reloads++;
    process_signal(testbed_broker(scene->testbed), SIGHUP);
    if (!scene_await(scene, holds, scene))
        verdict_fault(&scene->verdict, "the reload of \"%s\" does not come into force", text);
}

/* No request is lost, whatever becomes of the reload: the crowd expects no trouble. */
static void reloaded(struct kill_context *context)
{
    struct scene *scene = context->scene;

    for (int i = 0; i < 2; i++) {
        reload(context, "[vni]\npool = 2000-2349\n[fm]\nparallel = 4\n", pool_is_larger);
        scene_run(scene, prng_below(&scene->prng, 60), QUIET_MS);
        reload(context, "[vni]\npool = 2000-2349\n[fm]\nparallel = many\n", reload_is_refused);
        scene_run(scene, prng_below(&scene->prng, 60), QUIET_MS);
        reload(context, "", pool_is_as_before);
    }
}

/* The first one does not notice. */
static void second_broker(struct kill_context *context)
{
    refuse(context, "is open in another mcastd");
    go_on(context->scene);
}

/* ---- the fabric manager ---- */

static void fm_forgets(struct kill_context *context)
{
    struct scene *scene = context->scene;

    fmloss_of_some(scene);
    if (prng_percent(&scene->prng, 50))
        broker_killed(context);
    if (prng_percent(&scene->prng, 50))
        fm_killed(context);
}

static void fm_restored(struct kill_context *context)
{
    struct scene *scene = context->scene;

    if (!fmloss_remember(scene))
        return;
    scene_run(scene, prng_between(&scene->prng, 100, 900), 2 * QUIET_MS);
    if (!fmloss_since(scene))
        return;
    go_on(scene);
    if (prng_percent(&scene->prng, 50))
        broker_killed(context);
}

static void fm_silent(struct kill_context *context)
{
    struct scene *scene = context->scene;

    reload(context, "[vni]\npool = 2000-2349\n[fm]\ntimeout = 10m\n", pool_is_larger);
    silence(scene, &context->unanswered);
    reload(context, "", pool_is_as_before);
    fm_killed(context);
}

static const struct plannedkill all[] = {
    {"broker killed", broker_killed},
    {"fabric manager killed", fm_killed},
    {"both killed", both_killed},
    {"killed while starting", killed_while_starting},
    {"stopped", stopped},
    {"disk full", disk_full},
    {"disk without space", disk_without_space},
    {"ledger held", ledger_held},
    {"ledger away", ledger_away},
    {"ledger damaged", ledger_damaged},
    {"key missing", key_missing},
    {"key changed", key_changed},
    {"clock set", clock_set},
    {"reloaded", reloaded},
    {"second broker", second_broker},
    {"fabric manager forgets", fm_forgets},
    {"old state restored", fm_restored},
    {"fabric manager silent", fm_silent},
};

const struct plannedkill *killschedule(size_t *count)
{
    *count = sizeof all / sizeof *all;
    return all;
}
