/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/ha/units.h"

#include "tests/system/rig/await.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { CALL_MS = 2000, LOG_SIZE = 512 };

/* Tokens of jobs leave no host unencrypted: for jobs there would be another address. */
static const char job_url[] = "job_url = https://fabric-manager\n";

static int open_links(struct units *units, struct etcdcluster *cluster)
{
    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        int length = 0;
        for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
            network_enter(units->network, (int)UNITS_HOST(i));
            units->links[i][m] =
                tcpproxy_create_to(etcdcluster_address(cluster, m), etcdcluster_port(cluster, m));
            network_enter(units->network, -1);
            if (!units->links[i][m])
                return -1;
            length +=
                snprintf(units->endpoints[i] + length, sizeof units->endpoints[i] - (size_t)length,
                         "%shttp://127.0.0.1:%d", m ? ", " : "", tcpproxy_port(units->links[i][m]));
        }
        units_through_proxies(units, i, !units->network);
    }
    return 0;
}

void units_through_proxies(struct units *units, unsigned broker, bool through)
{
    units->brokers.endpoints[broker] = through ? units->endpoints[broker] : NULL;
}

static char *clocks_of(const struct units *units, unsigned broker, char path[128])
{
    char name[32];

    (void)snprintf(name, sizeof name, "%u.clocks", broker);
    return folder_path(path, 128, units->brokers.folder, name);
}

void units_set_clocks(struct units *units, unsigned broker)
{
    char path[128];

    if (clocks_set(clocks_of(units, broker, path), &units->clocks[broker]) < 0)
        verdict_fault(&units->scene->verdict, "the clocks of broker %u cannot be set", broker);
}

static void start(struct units *units, unsigned broker)
{
    char path[128];

    clocks_use(clocks_of(units, broker, path));
    brokers_start(&units->brokers, broker);
    clocks_use(NULL);
}

static bool one_leads(void *arg)
{
    return units_leader(arg) >= 0;
}

static void print_logs(const struct units *units)
{
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        process_print_log(units->brokers.processes[i]);
}

int units_open(struct units *units, struct scene *scene, struct etcdcluster *cluster,
               struct network *network)
{
    *units = (struct units){.scene = scene, .network = network};
    brokers_open(&units->brokers, cluster);
    units->brokers.lease = "2s";
    units->brokers.network = network;
    units->brokers.first_host = UNITS_HOST(0);
    if (open_links(units, cluster) < 0)
        return -1;
    (void)snprintf(units->lines, sizeof units->lines,
                   "events_keep = 30000\nevents_age = 0\n" /* the audit hears 20,000 again */
                   "[broker]\nsync_grace = 200ms\n%s"
                   "[fm]\nurl = %s\nauth = basic\nauthdir = %s\n%s[inventory]\nsource = "
                   "off\n[hwcoll]\n%s%s[vni]\n%s%s",
                   scene->debug ? "log_level = debug\n" : "", testbed_fm_url(scene->testbed),
                   testbed_folder(scene->testbed), scene_fm_lines, network ? job_url : "",
                   scene_hwcoll_lines, scene_vni_lines, scene_cluster_lines);
    units->brokers.lines = units->lines;
    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        (void)plainhttp_set_timeout(units->brokers.clients[i], CALL_MS);
        units_set_clocks(units, i);
        start(units, i);
    }
    if (await(one_leads, units, AWAIT_DEADLINE_MS))
        return 0;
    print_logs(units);
    return -1;
}

void units_close(struct units *units)
{
    brokers_close(&units->brokers);
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
            tcpproxy_destroy(units->links[i][m]);
}

/* ---- brokers ---- */

bool units_runs(const struct units *units, unsigned broker)
{
    return units->brokers.processes[broker] && !units->paused[broker];
}

void units_start(struct units *units, unsigned broker)
{
    fleet_starts(units->scene->fleet, broker);
    units->lives[broker]++;
    units->paused[broker] = false;
    start(units, broker);
}

void units_kill(struct units *units, unsigned broker)
{
    brokers_kill(&units->brokers, broker);
}

void units_look_after(void *arg)
{
    struct units *units = arg;

    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        struct process *process = units->brokers.processes[i];
        if (!process || units->stopping[i] || process_alive(process))
            continue;
        const int status = process_exit_status(process);
        if (status != EX_TEMPFAIL) {
            verdict_fault(&units->scene->verdict, "broker %u ended with exit status %d", i, status);
            process_print_log(process);
        }
        units->deposed += status == EX_TEMPFAIL;
        units_kill(units, i);
        units_start(units, i);
    }
}

static bool has_ended(void *process)
{
    return !process_alive(process);
}

void units_stop(struct units *units, unsigned broker)
{
    struct process *process = units->brokers.processes[broker];

    units->stopping[broker] = true;
    brokers_signal(&units->brokers, broker, SIGTERM);
    const bool ended = scene_await(units->scene, has_ended, process);
    const int status = ended ? process_exit_status(process) : -1;
    /* Its lease may end at the same time. */
    if (status != 0 && status != EX_TEMPFAIL) {
        verdict_fault(&units->scene->verdict, "broker %u was stopped: exit status %d", broker,
                      status);
        process_print_log(process);
    }
    units_kill(units, broker);
    units->stopping[broker] = false;
}

void units_pause(struct units *units, unsigned broker, bool pause)
{
    brokers_signal(&units->brokers, broker, pause ? SIGSTOP : SIGCONT);
    units->paused[broker] = pause;
}

int units_leader(struct units *units)
{
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        if (units_runs(units, i) && plainhttp_probe(units->brokers.clients[i], "/readyz") == 200)
            return (int)i;
    return -1;
}

static bool is_no_leaders(const struct plainhttp_reply *reply)
{
    const char *code = json_string_value(json_object_get(reply->json, "code"));

    return reply->status == 0 || (reply->status == 503 && code && strcmp(code, "not-leader") == 0);
}

int units_call(void *arg, const char *method, const char *path, struct plainhttp_reply *reply)
{
    struct units *units = arg;
    const int64_t end = await_now_ns() + AWAIT_DEADLINE_MS * (int64_t)1000000;

    *reply = (struct plainhttp_reply){0};
    do {
        units_look_after(units);
        const int leader = units_leader(units);
        plainhttp_reply_release(reply);
        *reply = (struct plainhttp_reply){0};
        if (leader >= 0)
            (void)brokers_call(&units->brokers, (unsigned)leader, method, path, NULL, reply);
    } while (is_no_leaders(reply) && await_now_ns() < end);
    return reply->status;
}

/* ---- links and members ---- */

void units_cut_link(struct units *units, unsigned broker, unsigned member, unsigned directions)
{
    if (units->network)
        network_cut(units->network, UNITS_HOST(broker), member, directions);
    else
        tcpproxy_cut(units->links[broker][member], directions);
}

void units_cut(struct units *units, unsigned broker, unsigned directions)
{
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        units_cut_link(units, broker, m, directions);
}

static bool is_settled(void *arg)
{
    struct units *units = arg;
    struct plainhttp_reply reply;
    const int leader = units_leader(units);

    if (leader < 0 || fleet_at(units->scene->fleet) != (unsigned)leader)
        return false;
    (void)brokers_call(&units->brokers, (unsigned)leader, "GET", "/v1/status", NULL, &reply);
    const char *link =
        json_string_value(json_object_get(json_object_get(reply.json, "fabric_manager"), "link"));
    const bool up = link && strcmp(link, "up") == 0;
    plainhttp_reply_release(&reply);
    return up;
}

int units_heal(struct units *units)
{
    struct etcdcluster *cluster = units->brokers.cluster;

    if (units->network)
        network_heal(units->network);
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        if (etcdcluster_process(cluster, m))
            etcdcluster_resume(cluster, m);
        else if (etcdcluster_restart(cluster, m) < 0)
            return -1;
    }
    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
            tcpproxy_cut(units->links[i][m], 0);
            tcpproxy_delay(units->links[i][m], 0);
            tcpproxy_reset(units->links[i][m], false);
        }
        units->clocks[i].realtime_s = 0;
        units_set_clocks(units, i);
        if (!units->brokers.processes[i])
            units_start(units, i);
        else if (units->paused[i])
            units_pause(units, i, false);
    }
    if (etcdcluster_await(cluster) < 0)
        return -1;
    if (scene_await(units->scene, is_settled, units))
        return 0;
    verdict_fault(&units->scene->verdict, "no broker leads, with its link up, after all is healed");
    print_logs(units);
    return -1;
}
