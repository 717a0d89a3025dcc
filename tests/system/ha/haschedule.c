/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/ha/haschedule.h"

#include "tests/system/kills/fakeclock.h"
#include "tests/system/rig/await.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUIET_MS = 500, COMPACTIONS = 300 };

/* ---- small parts ---- */

static unsigned dice(struct ha_context *context, uint32_t sides)
{
    return prng_below(&context->scene.prng, sides);
}

/* So many answers that the next thing happens at a moment that the dice choose. */
static void go_on(struct ha_context *context)
{
    scene_run(&context->scene, prng_between(&context->scene.prng, 5, 160), QUIET_MS);
}

static void go_on_for(struct ha_context *context, unsigned from_ms, unsigned to_ms)
{
    scene_run(&context->scene, UINT32_MAX, prng_between(&context->scene.prng, from_ms, to_ms));
}

static void skip_for_want(struct ha_context *context, const char *why)
{
    context->left_out[context->fault]++;
    printf("skipped: %s: %s\n", haschedule(&(size_t){0})[context->fault].name, why);
}

struct wish {
    struct ha_context *context;
    int broker;
    unsigned life;
};

static bool another_leads(void *arg)
{
    const struct wish *wish = arg;
    const int leader = units_leader(&wish->context->units);

    return leader >= 0 &&
           (leader != wish->broker || wish->context->units.lives[leader] != wish->life);
}

static bool none_leads(void *arg)
{
    const struct wish *wish = arg;

    return units_leader(&wish->context->units) < 0;
}

static bool lives_again(void *arg)
{
    const struct wish *wish = arg;

    return wish->context->units.lives[wish->broker] != wish->life;
}

static void await_wish(struct ha_context *context, bool (*holds)(void *wish), struct wish *wish,
                       const char *words)
{
    if (!scene_await(&context->scene, holds, wish))
        verdict_fault(&context->scene.verdict, "%s", words);
}

/* The one that leads, or will in a moment. */
static unsigned leader_of(struct ha_context *context)
{
    struct wish wish = {context, -1, 0};

    await_wish(context, another_leads, &wish, "no broker leads");
    const int leader = units_leader(&context->units);
    return leader < 0 ? dice(context, BROKERS_MAX) : (unsigned)leader;
}

static unsigned standby_of(struct ha_context *context)
{
    return (leader_of(context) + 1 + dice(context, BROKERS_MAX - 1)) % BROKERS_MAX;
}

static struct wish wish_of(struct ha_context *context, unsigned broker)
{
    return (struct wish){context, (int)broker, context->units.lives[broker]};
}

static void await_another(struct ha_context *context, struct wish wish)
{
    await_wish(context, another_leads, &wish, "no other broker takes over");
}

/* To which the broker sends most: its commits. */
static unsigned member_of(struct ha_context *context, unsigned broker)
{
    struct tcpproxy *const *links = context->units.links[broker];
    uint64_t before[ETCDCLUSTER_MAX], most = 0;
    unsigned member = 0;

    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        before[m] = tcpproxy_passed(links[m], TCPPROXY_TO_SERVER);
    go_on(context);
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        const uint64_t more = tcpproxy_passed(links[m], TCPPROXY_TO_SERVER) - before[m];
        member = more > most ? m : member;
        most = more > most ? more : most;
    }
    return member;
}

/* ---- brokers ---- */

static void leader_killed(struct ha_context *context)
{
    const unsigned leader = leader_of(context);
    const struct wish wish = wish_of(context, leader);

    units_kill(&context->units, leader);
    if (dice(context, 2))
        units_start(&context->units, leader);
    else
        await_another(context, wish);
    go_on(context);
}

/* Again and again, also while it takes over. */
static void leaders_killed(struct ha_context *context)
{
    for (int i = 0; i < 3; i++) {
        const unsigned leader = leader_of(context);

        units_kill(&context->units, leader);
        go_on_for(context, 1, 2600);
        units_start(&context->units, leader);
    }
}

static void standby_killed(struct ha_context *context)
{
    const unsigned standby = standby_of(context);

    units_kill(&context->units, standby);
    go_on(context);
    units_start(&context->units, standby);
    go_on(context);
}

static void all_killed(struct ha_context *context)
{
    const unsigned first = dice(context, BROKERS_MAX);

    for (unsigned i = 0; i < BROKERS_MAX; i++)
        units_kill(&context->units, i);
    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        units_start(&context->units, (first + i) % BROKERS_MAX);
        go_on_for(context, 1, 60);
    }
}

/* Longer than its lease: it acts no more, and ends, when it goes on (I10). */
static void leader_paused(struct ha_context *context)
{
    const unsigned leader = leader_of(context);
    struct wish wish = wish_of(context, leader);

    units_pause(&context->units, leader, true);
    await_another(context, wish);
    go_on(context);
    units_pause(&context->units, leader, false);
    await_wish(context, lives_again, &wish, "a broker that was deposed does not end");
}

static void leader_blinks(struct ha_context *context)
{
    const unsigned leader = leader_of(context);

    units_pause(&context->units, leader, true);
    go_on_for(context, 50, 2200);
    units_pause(&context->units, leader, false);
    go_on(context);
}

static void standby_paused(struct ha_context *context)
{
    const unsigned standby = standby_of(context), leader = leader_of(context);

    units_pause(&context->units, standby, true);
    go_on(context);
    if (dice(context, 2) && leader != standby)
        units_kill(&context->units, leader);
    go_on_for(context, 50, 1500);
    units_pause(&context->units, standby, false);
}

static void step_down(struct ha_context *context)
{
    const unsigned leader = leader_of(context);
    const struct wish wish = wish_of(context, leader);
    struct plainhttp_reply reply;

    const int status = brokers_call(&context->units.brokers, leader, "POST", "/v1/step-down",
                                    "{\"force\":true}", &reply);
    if (status != 202 && status != 503 && status != 0)
        verdict_fault(&context->scene.verdict, "step-down was answered %d", status);
    plainhttp_reply_release(&reply);
    if (status == 202)
        await_another(context, wish);
}

static void leader_stopped(struct ha_context *context)
{
    const unsigned leader = leader_of(context);

    units_stop(&context->units, leader);
    go_on(context);
    units_start(&context->units, leader);
}

/* A new version: the standbys, and last the one that leads. */
static void all_upgraded(struct ha_context *context)
{
    const unsigned leader = leader_of(context);

    for (unsigned i = 1; i <= BROKERS_MAX; i++) {
        units_stop(&context->units, (leader + i) % BROKERS_MAX);
        go_on(context);
        units_start(&context->units, (leader + i) % BROKERS_MAX);
    }
}

/* ---- links ---- */

static void cut_leader(struct ha_context *context, unsigned directions)
{
    const unsigned leader = leader_of(context);
    const struct wish wish = wish_of(context, leader);

    units_cut(&context->units, leader, directions);
    await_another(context, wish);
    go_on(context);
    units_cut(&context->units, leader, 0);
    go_on(context);
}

static void leader_cut(struct ha_context *context)
{
    cut_leader(context, TCPPROXY_TO_SERVER | TCPPROXY_TO_CLIENT);
}

static void leader_unheard(struct ha_context *context)
{
    cut_leader(context, TCPPROXY_TO_SERVER);
}

static void leader_deaf(struct ha_context *context)
{
    cut_leader(context, TCPPROXY_TO_CLIENT);
}

/* For less than the lease, or about as long. */
static void links_torn(struct ha_context *context)
{
    const unsigned leader = leader_of(context);

    for (int i = 0; i < 3; i++) {
        units_cut(&context->units, leader, 1 + dice(context, 3));
        go_on_for(context, 50, 1800);
        units_cut(&context->units, leader, 0);
        go_on(context);
    }
}

static void one_link_cut(struct ha_context *context)
{
    const unsigned leader = leader_of(context);
    const unsigned member = member_of(context, leader);

    tcpproxy_cut(context->units.links[leader][member], 1 + dice(context, 3));
    go_on(context);
    go_on_for(context, 50, 1500);
}

static void standby_cut(struct ha_context *context)
{
    units_cut(&context->units, standby_of(context), 1 + dice(context, 3));
    go_on(context);
    if (dice(context, 2))
        units_kill(&context->units, leader_of(context));
    go_on_for(context, 50, 1500);
}

static void links_reset(struct ha_context *context)
{
    const unsigned leader = leader_of(context);

    for (int i = 0; i < 5; i++) {
        for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
            tcpproxy_reset(context->units.links[leader][m], dice(context, 3) == 0);
        go_on(context);
    }
}

static void links_slow(struct ha_context *context)
{
    const unsigned leader = leader_of(context);

    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        tcpproxy_delay(context->units.links[leader][m], prng_between(&context->scene.prng, 5, 150));
    go_on(context);
    go_on_for(context, 50, 800);
}

/* ---- members ---- */

static void member_killed(struct ha_context *context)
{
    const unsigned member = dice(context, ETCDCLUSTER_MAX);

    etcdcluster_kill(context->cluster, member);
    go_on(context);
    go_on_for(context, 50, 1000);
    (void)etcdcluster_restart(context->cluster, member);
    go_on(context);
}

static void etcd_leader_killed(struct ha_context *context)
{
    const int member = etcdcluster_leader(context->cluster);

    if (member >= 0)
        etcdcluster_kill(context->cluster, (unsigned)member);
    go_on(context);
    go_on_for(context, 50, 2000);
}

static void quorum_lost(struct ha_context *context)
{
    const unsigned stays = dice(context, ETCDCLUSTER_MAX);
    struct wish wish = {context, -1, 0};

    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        if (m != stays)
            etcdcluster_kill(context->cluster, m);
    await_wish(context, none_leads, &wish, "a broker leads though the quorum is lost");
    go_on(context);
}

/* Copies of commits lie in its socket, and are carried out, or not, when it goes on. */
static void member_paused(struct ha_context *context)
{
    const unsigned leader = leader_of(context);
    const unsigned member = member_of(context, leader);
    const struct wish wish = wish_of(context, leader);

    etcdcluster_pause(context->cluster, member);
    go_on(context);
    if (dice(context, 2)) {
        units_kill(&context->units, leader);
        await_another(context, wish);
    }
    go_on(context);
    etcdcluster_resume(context->cluster, member);
    go_on(context);
}

static bool is_kept(void *arg)
{
    return tcpproxy_kept(arg);
}

/* Delivered again, and again under the next leader: its guards fail. */
static void commit_repeated(struct ha_context *context)
{
    const unsigned leader = leader_of(context);
    const unsigned member = member_of(context, leader);
    const struct wish wish = wish_of(context, leader);

    struct tcpproxy *const link = context->units.links[leader][member];
    tcpproxy_keep(link, "/v3/kv/txn");
    if (!scene_await(&context->scene, is_kept, link)) {
        verdict_fault(&context->scene.verdict, "no commit passes to member %u", member);
        return;
    }
    for (int i = 0; i < 2; i++) {
        go_on(context);
        const int status = tcpproxy_replay(link);
        if (status != 200)
            verdict_fault(&context->scene.verdict, "a repeated commit was answered %d", status);
        if (i == 0 && dice(context, 2)) {
            units_kill(&context->units, leader);
            await_another(context, wish);
        }
    }
}

static int etcd_call(struct ha_context *context, const char *path, const char *body,
                     struct plainhttp_reply *reply)
{
    const int status = etcdcluster_call(context->cluster, 0, path, body, reply);

    if (status != 200)
        verdict_fault(&context->scene.verdict, "etcd: %s was answered %d: %.200s", path, status,
                      reply->text ? reply->text : "");
    return status;
}

static void alarm_is(struct ha_context *context, const char *action, const char *member)
{
    struct plainhttp_reply reply;
    char body[160];

    (void)snprintf(body, sizeof body,
                   "{\"action\":\"%s\",\"memberID\":\"%s\",\"alarm\":\"NOSPACE\"}", action, member);
    (void)etcd_call(context, "/v3/maintenance/alarm", body, &reply);
    plainhttp_reply_release(&reply);
}

struct refusal {
    const struct crowd_counts *counts;
    uint64_t before;
};

static bool is_refused(void *arg)
{
    const struct refusal *refusal = arg;

    return refusal->counts->refused > refusal->before;
}

/* As etcd raises the alarm when its quota is used up; the leader may be killed meanwhile, and none
 * can follow. */
static void no_space(struct ha_context *context)
{
    const struct crowd_counts *counts = crowd_counts(context->scene.crowd);
    struct refusal refusal = {counts, counts->refused};
    struct plainhttp_reply reply;
    char member[32] = "";

    if (etcd_call(context, "/v3/maintenance/status", "{}", &reply) == 200) {
        const char *id =
            json_string_value(json_object_get(json_object_get(reply.json, "header"), "member_id"));
        (void)snprintf(member, sizeof member, "%s", id ? id : "");
    }
    plainhttp_reply_release(&reply);
    alarm_is(context, "ACTIVATE", member);
    (void)scene_await(&context->scene, is_refused, &refusal);
    go_on_for(context, 100, 1500);
    const int leader = units_leader(&context->units);
    if (leader >= 0 && dice(context, 3) == 0)
        units_kill(&context->units, (unsigned)leader);
    go_on_for(context, 100, 1000);
    alarm_is(context, "DEACTIVATE", member);
}

static void compact(struct ha_context *context)
{
    struct plainhttp_reply reply;
    char body[96] = "";

    if (etcd_call(context, "/v3/kv/range", "{\"key\":\"AA==\"}", &reply) == 200) {
        const char *revision =
            json_string_value(json_object_get(json_object_get(reply.json, "header"), "revision"));
        (void)snprintf(body, sizeof body, "{\"revision\":\"%s\",\"physical\":true}",
                       revision ? revision : "");
    }
    plainhttp_reply_release(&reply);
    /* Another one may have come just before it. */
    (void)etcdcluster_call(context->cluster, 0, "/v3/kv/compaction", body, &reply);
    plainhttp_reply_release(&reply);
}

/* Also while the next leader loads. */
static void compacted(struct ha_context *context)
{
    const unsigned leader = leader_of(context);
    const struct wish wish = wish_of(context, leader);
    struct wish other = wish;

    compact(context);
    go_on(context);
    units_kill(&context->units, leader);
    for (int i = 0; i < COMPACTIONS && !another_leads(&other); i++) {
        compact(context);
        go_on_for(context, 1, 30);
    }
    await_another(context, wish);
}

/* ---- what a machine does ---- */

static bool has_ended(void *process)
{
    return !process_alive(process);
}

/* Or it cannot be. */
static bool is_traced(void *arg)
{
    struct process *strace = ((struct process **)arg)[0], *member = ((struct process **)arg)[1];
    char path[64], line[128];
    int tracer = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/status", process_pid(member));
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status))
        (void)sscanf(line, "TracerPid: %d", &tracer);
    if (status)
        (void)fclose(status);
    return tracer > 0 || !process_alive(strace);
}

/* strace(1) delays what etcd waits for before it says yes. */
static void slow_disk(struct ha_context *context)
{
    static const char strace[] = "/usr/bin/strace";
    char pid[16], delay[64], log[160];
    struct process *slow[ETCDCLUSTER_MAX] = {NULL};
    const unsigned all = dice(context, 2);

    if (access(strace, X_OK) < 0) {
        skip_for_want(context, "strace is not installed");
        return;
    }
    (void)snprintf(delay, sizeof delay, "inject=fdatasync:delay_enter=%u",
                   prng_between(&context->scene.prng, 20000, 400000));
    for (unsigned m = 0; m <= all * (ETCDCLUSTER_MAX - 1); m++) {
        const char *const argv[] = {strace, "-f",  "-q", "-e",        "trace=fdatasync",
                                    "-e",   delay, "-o", "/dev/null", "-p",
                                    pid,    NULL};
        (void)snprintf(pid, sizeof pid, "%d",
                       process_pid(etcdcluster_process(context->cluster, m)));
        slow[m] = process_start(
            argv, folder_path(log, sizeof log, context->units.brokers.folder, "strace.log"));
    }
    for (unsigned m = 0; m < ETCDCLUSTER_MAX && slow[m]; m++) {
        struct process *both[] = {slow[m], etcdcluster_process(context->cluster, m)};
        (void)scene_await(&context->scene, is_traced, both);
    }
    go_on_for(context, 1000, 2500);
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        if (slow[m] && !process_alive(slow[m]))
            skip_for_want(context, "strace may not trace another process");
        if (!slow[m])
            continue;
        process_signal(slow[m], SIGINT); /* it lets go, and ends */
        (void)await(has_ended, slow[m], AWAIT_DEADLINE_MS);
        process_kill(slow[m]);
    }
}

/* Of one that is to lead; the clock that leases are counted by goes on. */
static void clock_set(struct ha_context *context)
{
    static const char *const offsets[] = {"-2y", "-30d", "-3h", "-5", "+5", "+3h", "+30d", "+2y"};
    const unsigned standby = standby_of(context);

    if (fakeclock_lacks()) {
        skip_for_want(context, fakeclock_lacks());
        return;
    }
    units_kill(&context->units, standby);
    fakeclock_set(offsets[dice(context, sizeof offsets / sizeof *offsets)]);
    units_start(&context->units, standby);
    fakeclock_set(NULL);
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        if (i != standby)
            units_kill(&context->units, i);
    (void)leader_of(context);
    go_on(context);
    go_on(context);
    units_kill(&context->units, standby);
}

const struct hafault *haschedule(size_t *count)
{
    static const struct hafault all[] = {
        {"leader killed", leader_killed},
        {"leaders killed", leaders_killed},
        {"standby killed", standby_killed},
        {"all brokers killed", all_killed},
        {"leader paused", leader_paused},
        {"leader blinks", leader_blinks},
        {"standby paused", standby_paused},
        {"step-down", step_down},
        {"leader stopped", leader_stopped},
        {"all upgraded", all_upgraded},
        {"leader cut off", leader_cut},
        {"leader unheard", leader_unheard},
        {"leader deaf", leader_deaf},
        {"links torn", links_torn},
        {"one link cut", one_link_cut},
        {"standby cut off", standby_cut},
        {"links reset", links_reset},
        {"links slow", links_slow},
        {"member killed", member_killed},
        {"etcd's leader killed", etcd_leader_killed},
        {"quorum lost", quorum_lost},
        {"member paused", member_paused},
        {"commit repeated", commit_repeated},
        {"no space", no_space},
        {"compacted", compacted},
        {"slow disk", slow_disk},
        {"clock set", clock_set},
    };

    *count = sizeof all / sizeof *all;
    return all;
}
