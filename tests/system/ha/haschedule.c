/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/ha/haschedule.h"

#include "tests/system/ha/halinks.h"
#include "tests/system/ha/haparts.h"
#include "tests/system/rig/await.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPACTIONS = 300 };

/* ---- brokers ---- */

static void leader_killed(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);
    const struct ha_wish wish = ha_wish_of(context, leader);

    units_kill(&context->units, leader);
    if (ha_dice(context, 2))
        units_start(&context->units, leader);
    else
        ha_await_another(context, wish);
    ha_go_on(context);
}

/* Again and again, also while it takes over. */
static void leaders_killed(struct ha_context *context)
{
    for (int i = 0; i < 3; i++) {
        const unsigned leader = ha_leader(context);

        units_kill(&context->units, leader);
        ha_go_on_for(context, 1, 2600);
        units_start(&context->units, leader);
    }
}

static void standby_killed(struct ha_context *context)
{
    const unsigned standby = ha_standby(context);

    units_kill(&context->units, standby);
    ha_go_on(context);
    units_start(&context->units, standby);
    ha_go_on(context);
}

static void all_killed(struct ha_context *context)
{
    const unsigned first = ha_dice(context, BROKERS_MAX);

    for (unsigned i = 0; i < BROKERS_MAX; i++)
        units_kill(&context->units, i);
    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        units_start(&context->units, (first + i) % BROKERS_MAX);
        ha_go_on_for(context, 1, 60);
    }
}

/* Longer than its lease: it acts no more, and ends, when it goes on (I10). */
static void leader_paused(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);
    struct ha_wish wish = ha_wish_of(context, leader);

    units_pause(&context->units, leader, true);
    ha_await_another(context, wish);
    ha_go_on(context);
    units_pause(&context->units, leader, false);
    ha_await(context, ha_lives_again, &wish, "a broker that was deposed does not end");
}

static void leader_blinks(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);

    units_pause(&context->units, leader, true);
    ha_go_on_for(context, 50, 2200);
    units_pause(&context->units, leader, false);
    ha_go_on(context);
}

static void standby_paused(struct ha_context *context)
{
    const unsigned standby = ha_standby(context), leader = ha_leader(context);

    units_pause(&context->units, standby, true);
    ha_go_on(context);
    if (ha_dice(context, 2) && leader != standby)
        units_kill(&context->units, leader);
    ha_go_on_for(context, 50, 1500);
    units_pause(&context->units, standby, false);
}

static void step_down(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);
    const struct ha_wish wish = ha_wish_of(context, leader);
    struct plainhttp_reply reply;

    const int status = brokers_call(&context->units.brokers, leader, "POST", "/v1/step-down",
                                    "{\"force\":true}", &reply);
    if (status != 202 && status != 503 && status != 0)
        verdict_fault(&context->scene.verdict, "step-down was answered %d", status);
    plainhttp_reply_release(&reply);
    if (status == 202)
        ha_await_another(context, wish);
}

static void leader_stopped(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);

    units_stop(&context->units, leader);
    ha_go_on(context);
    units_start(&context->units, leader);
}

/* A new version: the standbys, and last the one that leads. */
static void all_upgraded(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);

    for (unsigned i = 1; i <= BROKERS_MAX; i++) {
        units_stop(&context->units, (leader + i) % BROKERS_MAX);
        ha_go_on(context);
        units_start(&context->units, (leader + i) % BROKERS_MAX);
    }
}

/* ---- members ---- */

static void member_killed(struct ha_context *context)
{
    const unsigned member = ha_dice(context, ETCDCLUSTER_MAX);

    etcdcluster_kill(context->cluster, member);
    ha_go_on(context);
    ha_go_on_for(context, 50, 1000);
    (void)etcdcluster_restart(context->cluster, member);
    ha_go_on(context);
}

static void etcd_leader_killed(struct ha_context *context)
{
    const int member = etcdcluster_leader(context->cluster);

    if (member >= 0)
        etcdcluster_kill(context->cluster, (unsigned)member);
    ha_go_on(context);
    ha_go_on_for(context, 50, 2000);
}

static void quorum_lost(struct ha_context *context)
{
    const unsigned stays = ha_dice(context, ETCDCLUSTER_MAX);
    struct ha_wish wish = {context, -1, 0};

    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        if (m != stays)
            etcdcluster_kill(context->cluster, m);
    ha_await(context, ha_none_leads, &wish, "a broker leads though the quorum is lost");
    ha_go_on(context);
}

/* Copies of commits lie in its socket, and are carried out, or not, when it goes on. */
static void member_paused(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);
    const unsigned member = ha_member(context, leader);
    const struct ha_wish wish = ha_wish_of(context, leader);

    etcdcluster_pause(context->cluster, member);
    ha_go_on(context);
    if (ha_dice(context, 2)) {
        units_kill(&context->units, leader);
        ha_await_another(context, wish);
    }
    ha_go_on(context);
    etcdcluster_resume(context->cluster, member);
    ha_go_on(context);
}

static bool is_kept(void *arg)
{
    return tcpproxy_kept(arg);
}

/* Delivered again, and again under the next leader: its guards fail. */
static void commit_repeated(struct ha_context *context)
{
    unsigned member;
    const unsigned leader = ha_proxied_leader(context, &member);
    const struct ha_wish wish = ha_wish_of(context, leader);

    struct tcpproxy *const link = context->units.links[leader][member];
    tcpproxy_keep(link, "/v3/kv/txn");
    if (!scene_await(&context->scene, is_kept, link)) {
        verdict_fault(&context->scene.verdict, "no commit passes to member %u", member);
        return;
    }
    for (int i = 0; i < 2; i++) {
        ha_go_on(context);
        const int status = tcpproxy_replay(link);
        if (status != 200)
            verdict_fault(&context->scene.verdict, "a repeated commit was answered %d", status);
        if (i == 0 && ha_dice(context, 2)) {
            units_kill(&context->units, leader);
            ha_await_another(context, wish);
        }
    }
}

static int member_call(struct ha_context *context, unsigned member, const char *path,
                       const char *body, struct plainhttp_reply *reply)
{
    const int status = etcdcluster_call(context->cluster, member, path, body, reply);

    if (status != 200)
        verdict_fault(&context->scene.verdict, "etcd: %s was answered %d: %.200s", path, status,
                      reply->text ? reply->text : "");
    return status;
}

static int etcd_call(struct ha_context *context, const char *path, const char *body,
                     struct plainhttp_reply *reply)
{
    return member_call(context, 0, path, body, reply);
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
    ha_go_on_for(context, 100, 1500);
    const int leader = units_leader(&context->units);
    if (leader >= 0 && ha_dice(context, 3) == 0)
        units_kill(&context->units, (unsigned)leader);
    ha_go_on_for(context, 100, 1000);
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
    const unsigned leader = ha_leader(context);
    const struct ha_wish wish = ha_wish_of(context, leader);
    struct ha_wish other = wish;

    compact(context);
    ha_go_on(context);
    units_kill(&context->units, leader);
    for (int i = 0; i < COMPACTIONS && !ha_another_leads(&other); i++) {
        compact(context);
        ha_go_on_for(context, 1, 30);
    }
    ha_await_another(context, wish);
}

/* One after the other, as for maintenance. */
static void restart_members(struct ha_context *context, long long quota)
{
    etcdcluster_set_quota(context->cluster, quota);
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        etcdcluster_kill(context->cluster, m);
        if (etcdcluster_restart(context->cluster, m) < 0 || etcdcluster_await(context->cluster) < 0)
            verdict_fault(&context->scene.verdict, "member %u does not start", m);
        ha_go_on_for(context, 1, 300);
    }
}

/* The largest of a member's. */
static long long ledger_bytes(struct ha_context *context)
{
    long long most = 0;

    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        struct plainhttp_reply reply;
        (void)member_call(context, m, "/v3/maintenance/status", "{}", &reply);
        const char *size = json_string_value(json_object_get(reply.json, "dbSize"));
        const long long bytes = size ? strtoll(size, NULL, 10) : 0;
        most = bytes > most ? bytes : most;
        plainhttp_reply_release(&reply);
    }
    return most;
}

static bool is_full(void *arg)
{
    struct plainhttp_reply reply;

    (void)etcd_call(arg, "/v3/maintenance/alarm", "{\"action\":\"GET\"}", &reply);
    const bool full = json_array_size(json_object_get(reply.json, "alarms")) > 0;
    plainhttp_reply_release(&reply);
    return full;
}

/* Each member that noticed it has raised it. */
static bool is_disarmed(void *arg)
{
    struct plainhttp_reply reply;
    const json_t *alarm;
    size_t i;

    (void)etcd_call(arg, "/v3/maintenance/alarm", "{\"action\":\"GET\"}", &reply);
    json_array_foreach(json_object_get(reply.json, "alarms"), i, alarm)
    {
        alarm_is(arg, "DEACTIVATE", json_string_value(json_object_get(alarm, "memberID")));
    }
    plainhttp_reply_release(&reply);
    return !is_full(arg);
}

/* By another prefix, when the crowd's own changes have not done it. */
static bool is_filled(void *arg)
{
    enum { BALLAST = 500000 };
    struct ha_context *context = arg;
    struct plainhttp_reply reply;
    char body[BALLAST + 64];

    const int head = snprintf(body, sizeof body, "{\"key\":\"emtr\",\"value\":\"");
    memset(body + head, 'A', BALLAST);
    (void)snprintf(body + head + BALLAST, sizeof body - (size_t)head - BALLAST, "\"}");
    (void)etcdcluster_call(context->cluster, 0, "/v3/kv/put", body, &reply);
    plainhttp_reply_release(&reply);
    return is_full(context);
}

/* As deploy/etcd/README.md says. */
static void free_space(struct ha_context *context)
{
    struct plainhttp_reply reply;

    (void)etcd_call(context, "/v3/kv/deleterange", "{\"key\":\"emtr\"}", &reply);
    plainhttp_reply_release(&reply);
    compact(context);
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        (void)member_call(context, m, "/v3/maintenance/defragment", "{}", &reply);
        plainhttp_reply_release(&reply);
        ha_go_on_for(context, 1, 200);
    }
    if (!scene_await(&context->scene, is_disarmed, context))
        verdict_fault(&context->scene.verdict, "no space is there though it was freed");
}

/* Really: members have a quota that little is left of. */
static void quota_used_up(struct ha_context *context)
{
    enum { LEFT = 8 << 20 }; /* not used up while they restart */
    const struct crowd_counts *counts = crowd_counts(context->scene.crowd);

    restart_members(context, ledger_bytes(context) + LEFT);
    ha_go_on_for(context, 1, 5000);
    if (!is_full(context) && !scene_await(&context->scene, is_filled, context))
        verdict_fault(&context->scene.verdict, "the quota is not used up");
    struct refusal refusal = {counts, counts->refused};
    (void)scene_await(&context->scene, is_refused, &refusal);
    ha_go_on_for(context, 100, 1500);
    const int leader = units_leader(&context->units);
    if (leader >= 0 && ha_dice(context, 3) == 0)
        units_kill(&context->units, (unsigned)leader);
    free_space(context);
    ha_go_on(context);
    restart_members(context, 0);
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
    const unsigned all = ha_dice(context, 2);

    if (access(strace, X_OK) < 0) {
        ha_skip(context, "strace is not installed");
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
    ha_go_on_for(context, 1000, 2500);
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        if (slow[m] && !process_alive(slow[m]))
            ha_skip(context, "strace may not trace another process");
        if (!slow[m])
            continue;
        process_signal(slow[m], SIGINT); /* it lets go, and ends */
        (void)await(has_ended, slow[m], AWAIT_DEADLINE_MS);
        process_kill(slow[m]);
    }
}

static int64_t some_offset(struct ha_context *context)
{
    enum { HOUR = 3600, DAY = 24 * HOUR };
    static const int64_t offsets[] = {5, 3 * HOUR, 30 * DAY, 730 * DAY};
    const int64_t offset = offsets[ha_dice(context, sizeof offsets / sizeof *offsets)];

    return ha_dice(context, 2) ? offset : -offset;
}

static void set_date(struct ha_context *context, unsigned broker, int64_t offset_s)
{
    context->units.clocks[broker].realtime_s = offset_s;
    units_set_clocks(&context->units, broker);
}

/* Of one that is to lead; the clock that leases are counted by goes on. */
static void clock_set(struct ha_context *context)
{
    const unsigned standby = ha_standby(context);

    units_kill(&context->units, standby);
    set_date(context, standby, some_offset(context));
    units_start(&context->units, standby);
    ha_let_lead(context, standby);
    ha_go_on(context);
    ha_go_on(context);
    units_kill(&context->units, standby);
}

/* While it leads, to and fro, which is no reason to end; and perhaps it starts with a wrong one. */
static void date_jumps(struct ha_context *context)
{
    enum { JUMPS = 3, TRIES = 12 };
    unsigned leader = 0;

    for (unsigned tries = 0, outlived = 0; outlived < JUMPS; tries++) {
        leader = ha_leader(context);
        struct ha_wish wish = ha_wish_of(context, leader);
        set_date(context, leader, some_offset(context));
        ha_go_on(context);
        outlived += !ha_lives_again(&wish);
        if (tries == TRIES) {
            verdict_fault(&context->scene.verdict, "leaders end when the date is set");
            return;
        }
    }
    if (ha_dice(context, 2)) {
        units_kill(&context->units, leader);
        units_start(&context->units, leader);
    }
    ha_go_on(context);
}

/* Its host was suspended for longer than the lease, or nearly as long: of what could not be
 * noticed, as the time is gone at once, CLOCK_BOOTTIME alone tells (I10). */
static void leader_suspended(struct ha_context *context)
{
    static const int64_t seconds[] = {1, 2, 3, 3 * 3600, 30 * 24 * 3600};
    const int64_t gone_s = seconds[ha_dice(context, sizeof seconds / sizeof *seconds)];
    const unsigned leader = ha_leader(context);
    struct ha_wish wish = ha_wish_of(context, leader);

    context->units.clocks[leader].boottime_s += gone_s;
    units_set_clocks(&context->units, leader);
    if (gone_s > 2)
        ha_await(context, ha_lives_again, &wish, "a broker does not end after a suspend");
    ha_go_on(context);
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
        {"leader unplugged", leader_unplugged},
        {"leader's host lost", leaders_host_lost},
        {"member's host lost", members_host_lost},
        {"member cut off", member_cut},
        {"members' link cut", members_link_cut},
        {"fabric manager cut", fabric_manager_cut},
        {"network split", network_split},
        {"frames lost", frames_lost},
        {"member killed", member_killed},
        {"etcd's leader killed", etcd_leader_killed},
        {"quorum lost", quorum_lost},
        {"member paused", member_paused},
        {"commit repeated", commit_repeated},
        {"no space", no_space},
        {"quota used up", quota_used_up},
        {"compacted", compacted},
        {"slow disk", slow_disk},
        {"clock set", clock_set},
        {"date jumps", date_jumps},
        {"leader suspended", leader_suspended},
    };

    *count = sizeof all / sizeof *all;
    return all;
}
