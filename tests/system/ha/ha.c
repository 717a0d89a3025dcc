/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-ha: three real brokers on three members of etcd and the fabric manager's double, under
 * load, killed, paused, cut off and otherwise mistreated at random moments, round by round. Exit
 * status 0: clients saw one history, and after every round their notes, the brokers, the fabric
 * manager and the events agreed. */
#include "tests/system/ha/haschedule.h"
#include "tests/system/ha/witness.h"
#include "tests/system/kills/audit.h"
#include "tests/system/rig/await.h"
#include "tests/system/soak/weather.h"

#include <curl/curl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mcast-ha --mock-fm FILE [--rounds N] [--seed K] [--only FAULT] [--proxies] [--debug]\n"
    "  The seed is printed; it decides what happens in which round, and after how many answers.\n"
    "  --only: the faults that have this text in their names. --proxies: no network namespaces.\n"
    "  --debug: the brokers log every decision. MCAST_KEEP=1 keeps the folders.\n";

enum { GIVE_UP_MS = 1500, GAPS_MAX = 4096 };

struct ha {
    struct ha_context context;
    struct witness *witness;
    bool calm;
    const char *only;
    size_t order[HAFAULTS_MAX], next;
    size_t gap_count;
    int64_t gaps[GAPS_MAX]; /* the worst of each round, ns */
};

static void look_after(void *arg)
{
    struct ha *ha = arg;

    units_look_after(&ha->context.units);
    if (!ha->calm && ha->witness)
        witness_turn(ha->witness);
}

static int call(void *arg, const char *method, const char *path, struct plainhttp_reply *reply)
{
    struct ha *ha = arg;

    return units_call(&ha->context.units, method, path, reply);
}

/* Each once, in another order each time. */
static size_t draw(struct ha *ha)
{
    struct prng *prng = &ha->context.scene.prng;
    size_t count;
    const struct hafault *all = haschedule(&count);

    for (;;) {
        if (ha->next % count == 0) {
            for (size_t i = 0; i < count; i++) {
                const size_t j = prng_below(prng, (uint32_t)i + 1);
                ha->order[i] = ha->order[j];
                ha->order[j] = i;
            }
        }
        const size_t drawn = ha->order[ha->next++ % count];
        if (!ha->only || strstr(all[drawn].name, ha->only))
            return drawn;
    }
}

static bool is_there(const char *only)
{
    size_t count;
    const struct hafault *all = haschedule(&count);
    bool found = !only;

    for (size_t i = 0; i < count && !found; i++)
        found = strstr(all[i].name, only);
    return found;
}

static void play_round(struct ha *ha)
{
    struct ha_context *context = &ha->context;
    struct scene *scene = &context->scene;
    const struct hafault *fault = &haschedule(&(size_t){0})[context->fault = draw(ha)];
    struct fleet_counts *seen = fleet_counts(scene->fleet);
    const char *weather = "fair";
    const int64_t began = await_now_ns();

    scene->verdict.round++;
    scene->verdict.plannedkill = fault->name;
    context->played[context->fault]++;
    seen->worst_gap_ns = 0;
    ha->calm = false;
    crowd_calm(scene->crowd, false);
    if (prng_percent(&scene->prng, 40) && !(weather = weather_change(scene->testbed, &scene->prng)))
        verdict_fault(&scene->verdict, "the fabric manager's double takes no faults");
    scene_run(scene, prng_between(&scene->prng, 100, 500), 800);
    fault->strike(context);
    if (units_heal(&context->units) < 0)
        verdict_fault(&scene->verdict, "not healed");
    scene_run(scene, prng_between(&scene->prng, 50, 300), 400);
    const int64_t gap = seen->worst_gap_ns;
    if (ha->gap_count < GAPS_MAX)
        ha->gaps[ha->gap_count++] = gap;
    if (scene->verdict.faults == 0) {
        (void)weather_clear(scene->testbed);
        ha->calm = true;
        crowd_calm(scene->crowd, true);
        audit(scene);
    }
    printf("  %3u %-21s %-13s %5.1f s, gap %5.2f s\n", scene->verdict.round, fault->name,
           weather ? weather : "?", (double)(await_now_ns() - began) / 1e9, (double)gap / 1e9);
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void report(struct ha *ha)
{
    const struct ha_context *context = &ha->context;
    const struct scene *scene = &context->scene;
    const struct crowd_counts *counts = crowd_counts(scene->crowd);
    const struct fleet_counts *seen = fleet_counts(scene->fleet);
    const struct witness_counts *looks = witness_counts(ha->witness);
    size_t count;
    const struct hafault *all = haschedule(&count);

    printf("%u rounds (seed %" PRIu64 "):", scene->verdict.round, scene->verdict.seed);
    for (size_t i = 0; i < count; i++)
        if (context->played[i])
            printf(" %s %u,", all[i].name, context->played[i] - context->left_out[i]);
    qsort(ha->gaps, ha->gap_count, sizeof *ha->gaps, by_length);
    printf("\n  %u leaders followed each other; %u brokers ended because they led no longer\n",
           seen->reigns, context->units.deposed);
    const size_t middle = ha->gap_count / 2;
    if (ha->gap_count > 0)
        printf("  without an answer: %.2f s in the median of rounds, %.2f s in the worst\n",
               (double)ha->gaps[middle] / 1e9, (double)ha->gaps[ha->gap_count - 1] / 1e9);
    printf("  %" PRIu64 " answers: %" PRIu64 " reserves, %" PRIu64 " repeats, %" PRIu64
           " releases, %" PRIu64 " looks, %" PRIu64 " syncs; %" PRIu64 " not by a leader, %" PRIu64
           " put off, %" PRIu64 " broken off or given up\n",
           counts->answers, counts->reserves, counts->repeats, counts->releases, counts->looks,
           counts->syncs, seen->misled, counts->refused, counts->unanswered);
    printf("  all brokers asked: %" PRIu64 " looks, %" PRIu64 " at live jobs, %" PRIu64
           " at gone ones, %" PRIu64 " while they changed, %" PRIu64 " refused, %" PRIu64
           " unanswered\n",
           looks->looks, looks->live, looks->gone, looks->changed, looks->misled,
           looks->unanswered);
    printf("  addresses: %" PRIu64 " reserved, %" PRIu64 " lost; %zu events, heard %" PRIu64
           " times\n  %u faults\n",
           counts->reserved, scene->history.lost, scene->history.count, scene->history.heard,
           scene->verdict.faults);
}

static void make_network(struct ha_context *context)
{
    const char *lacks;

    context->units.network = network_create(UNITS_HOSTS, &lacks);
    if (!context->units.network)
        printf("skipped: network namespaces, proxies in their place: %s\n", lacks);
}

static int open_all(struct ha *ha, const char *mock_fm)
{
    struct scene *scene = &ha->context.scene;
    struct network *network = ha->context.units.network;
    const struct testbed_options options = {
        .mcastd = "", .mock_fm = mock_fm, .network = network, .fm_host = UNITS_FM_HOST};
    const struct etcdcluster_options members = {.members = 3, .network = network};
    struct fleet_options fleet = {
        .verdict = &scene->verdict, .brokers = BROKERS_MAX, .give_up_ms = GIVE_UP_MS};

    if (!(ha->context.cluster = etcdcluster_create(&members)) ||
        scene_open_fm(scene, &options) < 0 ||
        units_open(&ha->context.units, scene, ha->context.cluster, network) < 0)
        return -1;
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        fleet.sockets[i] = ha->context.units.brokers.socket[i] + strlen("unix:");
    if (scene_open_clients(scene, &fleet) < 0 || !(ha->witness = witness_create(scene)))
        return -1;
    scene->brokers = ha;
    scene->look_after = look_after;
    scene->call = call;
    crowd_expect_trouble(scene->crowd, true);
    return 0;
}

static bool run(struct ha *ha, const char *mock_fm, unsigned rounds)
{
    struct scene *scene = &ha->context.scene;
    bool good = false;

    printf("seed %" PRIu64 "\n", scene->verdict.seed);
    history_init(&scene->history, &scene->verdict);
    if (open_all(ha, mock_fm) == 0) {
        while (scene->verdict.round < rounds && scene->verdict.faults == 0)
            play_round(ha);
        report(ha);
        good = scene->verdict.faults == 0;
        for (unsigned i = 0; i < BROKERS_MAX; i++) {
            if (!good && ha->context.units.brokers.processes[i])
                process_print_log(ha->context.units.brokers.processes[i]);
            else if (good)
                units_stop(&ha->context.units, i);
        }
        good = good && scene->verdict.faults == 0;
    }
    scene_close(scene);
    witness_destroy(ha->witness);
    units_close(&ha->context.units);
    etcdcluster_destroy(ha->context.cluster);
    network_destroy(ha->context.units.network);
    return good;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"mock-fm", required_argument, NULL, 'f'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"only", required_argument, NULL, 'o'},
                                            {"debug", no_argument, NULL, 'd'},
                                            {"proxies", no_argument, NULL, 'p'},
                                            {NULL, 0, NULL, 0}};
    static struct ha ha;
    const char *mock_fm = NULL;
    unsigned rounds = 12;
    uint64_t seed = 1;
    bool proxies = false;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'f')
            mock_fm = optarg;
        else if (option == 'r')
            rounds = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (option == 'o')
            ha.only = optarg;
        else if (option == 'p')
            proxies = true;
        else if (option == 'd')
            ha.context.scene.debug = true;
        else
            mock_fm = NULL, argc = 0;
    }
    if (!mock_fm || optind != argc || !is_there(ha.only)) {
        fputs(usage, stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* in order with stderr, also in a file */
    if (!proxies)
        make_network(&ha.context);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return 1;
    ha.context.scene.verdict.seed = seed;
    prng_init(&ha.context.scene.prng, seed);
    const bool good = run(&ha, mock_fm, rounds);
    curl_global_cleanup();
    return good ? 0 : 1;
}
