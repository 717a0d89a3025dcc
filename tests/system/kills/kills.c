/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-kills: a real broker and the fabric manager's double under load, killed and otherwise
 * mistreated at random moments, round by round. Exit status 0: after every round the clients'
 * notes, the ledger, the fabric manager and the events agreed. */
#include "tests/system/kills/audit.h"
#include "tests/system/kills/killschedule.h"
#include "tests/system/kills/ledger.h"
#include "tests/system/rig/await.h"
#include "tests/system/soak/weather.h"

#include <curl/curl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mcast-kills --mcastd FILE --mock-fm FILE [--rounds N] [--seed K] [--debug]\n"
    "  The seed is printed; it decides what happens in which round, and after how many answers.\n"
    "  --debug: the broker logs every decision. MCAST_KEEP=1 keeps its folder.\n";

struct arguments {
    const char *mcastd, *mock_fm;
    unsigned rounds;
    uint64_t seed;
    bool debug;
};

/* Each kind of kill once, in another order each time. */
struct deck {
    size_t order[64], count, next;
};

static const struct plannedkill *draw(struct deck *deck, struct prng *prng)
{
    const struct plannedkill *all = killschedule(&deck->count);

    if (deck->next % deck->count == 0) {
        for (size_t i = 0; i < deck->count; i++) {
            const size_t j = prng_below(prng, (uint32_t)i + 1);

            deck->order[i] = deck->order[j];
            deck->order[j] = i;
        }
    }
    return &all[deck->order[deck->next++ % deck->count]];
}

/* Something that nobody asked for lies at the fabric manager under a name of ours. */
static void plant_stray(struct scene *scene)
{
    char name[64];

    snprintf(name, sizeof name, "%s-stray%u", scene_clusters[scene->strays % CROWD_CLUSTERS],
             scene->strays);
    scene->strays++;
    const int status = scene_plant(scene, name);
    if (status / 100 != 2)
        verdict_fault(&scene->verdict, "no stray could be planted: %d", status);
}

static void play_round(struct kill_context *context, struct deck *deck)
{
    struct scene *scene = context->scene;
    const struct plannedkill *plannedkill = draw(deck, &scene->prng);
    const char *weather = "fair";
    const int64_t began = await_now_ns();

    scene->verdict.round++;
    scene->verdict.plannedkill = plannedkill->name;
    crowd_calm(scene->crowd, false);
    if (prng_percent(&scene->prng, 30))
        plant_stray(scene);
    if (prng_percent(&scene->prng, 60) && !(weather = weather_change(scene->testbed, &scene->prng)))
        verdict_fault(&scene->verdict, "the fabric manager's double takes no faults");
    scene_run(scene, prng_between(&scene->prng, 200, 1200), 1500);
    plannedkill->strike(context);
    scene_run(scene, prng_between(&scene->prng, 100, 600), 800);
    if (prng_percent(&scene->prng, 40) && scene->verdict.faults == 0 &&
        testbed_broker(scene->testbed)) {
        context->kills++;
        scene_kill_broker(scene);
        (void)scene_start_broker(scene);
    }
    if (scene->verdict.faults == 0) {
        (void)weather_clear(scene->testbed);
        crowd_calm(scene->crowd, true);
        audit(scene);
        ledger_compare(scene);
    }
    printf("  %3u %-23s %-13s %.1f s\n", scene->verdict.round, plannedkill->name,
           weather ? weather : "?", (double)(await_now_ns() - began) / 1e9);
}

static void report(const struct kill_context *context)
{
    const struct scene *scene = context->scene;
    const struct crowd_counts *counts = crowd_counts(scene->crowd);

    printf("%u rounds (seed %" PRIu64 "): broker killed %u times, stopped %u, refused to start %u, "
           "reloaded %u; fabric manager killed %u times; %u kills left out\n",
           scene->verdict.round, scene->verdict.seed, context->kills, context->stops,
           context->refusals, context->reloads, context->fm_kills, context->skipped);
    printf("  %" PRIu64 " answers: %" PRIu64 " reserves, %" PRIu64 " repeats, %" PRIu64
           " releases, %" PRIu64 " looks, %" PRIu64 " syncs (%" PRIu64 " refused); %" PRIu64
           " jobs forsaken, %" PRIu64 " canceled\n",
           counts->answers, counts->reserves, counts->repeats, counts->releases, counts->looks,
           counts->syncs, counts->strange_syncs, counts->forsaken, counts->overtaken);
    printf("  addresses: %" PRIu64 " reserved, %" PRIu64 " denied, %" PRIu64 " timeout, %" PRIu64
           " unavailable, %" PRIu64 " not wanted; %" PRIu64 " lost; at most %u of a budget of %u\n",
           counts->reserved, counts->denied, counts->timeout, counts->unavailable, counts->without,
           scene->history.lost, scene->budget_max, scene_budgets[1]);
    printf("  %" PRIu64 " requests broken off, %" PRIu64 " put off (503), %" PRIu64
           " without VNIs, %" PRIu64 " without addresses that they required; %" PRIu64
           " VNIs given again\n",
           counts->unanswered, counts->refused, counts->exhausted, counts->required,
           scene->vnis->given_again);
    printf("  %u releases answered while the fabric manager had answered none\n",
           context->unanswered);
    printf("  %zu events, heard %" PRIu64 " times; %" PRIu64 " link losses, %u strays, %" PRIu64
           " adopted, %" PRIu64 " of them reserved late; budgets looked at %" PRIu64 " times\n",
           scene->history.count, scene->history.heard, scene->history.link_downs, scene->strays,
           scene->history.adopted, scene->history.late, scene->glances);
    for (int kind = 0; kind < POSTMORTEM_KINDS; kind++) {
        const struct postmortem_counts *damaged = &context->damaged[kind];

        printf("  ledgers %s: %u refused, %u whole, %u not noticed\n",
               postmortem_word((enum postmortem_kind)kind), damaged->refused, damaged->whole,
               damaged->unnoticed);
    }
    printf("  %u faults\n", scene->verdict.faults);
}

static bool run(const struct arguments *arguments)
{
    struct scene scene;
    struct deck deck = {0};
    struct kill_context context = {.scene = &scene, .mcastd = arguments->mcastd};
    bool good = false;

    printf("seed %" PRIu64 "\n", arguments->seed);
    if (scene_open(&scene, arguments->mcastd, arguments->mock_fm, arguments->seed,
                   arguments->debug) == 0) {
        while (scene.verdict.round < arguments->rounds && scene.verdict.faults == 0)
            play_round(&context, &deck);
        report(&context);
        good = scene.verdict.faults == 0;
        if (!good && testbed_broker(scene.testbed))
            process_print_log(testbed_broker(scene.testbed));
        /* Both must be able to end by themselves, and with nothing to complain about. */
        if (good && (testbed_stop_broker(scene.testbed) < 0 || testbed_stop_fm(scene.testbed) < 0))
            good = false;
    }
    scene_close(&scene);
    return good;
}

static int read_arguments(struct arguments *out, int argc, char **argv)
{
    static const struct option options[] = {
        {"mcastd", required_argument, NULL, 'b'}, {"mock-fm", required_argument, NULL, 'f'},
        {"rounds", required_argument, NULL, 'r'}, {"seed", required_argument, NULL, 's'},
        {"debug", no_argument, NULL, 'd'},        {NULL, 0, NULL, 0}};
    int option;

    *out = (struct arguments){.rounds = 16, .seed = 1};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'b':
            out->mcastd = optarg;
            break;
        case 'f':
            out->mock_fm = optarg;
            break;
        case 'r':
            out->rounds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 's':
            out->seed = strtoull(optarg, NULL, 10);
            break;
        case 'd':
            out->debug = true;
            break;
        default:
            return -1;
        }
    }
    return optind == argc && out->mcastd && out->mock_fm && out->rounds > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct arguments arguments;

    if (read_arguments(&arguments, argc, argv) < 0) {
        fputs(usage, stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* in order with stderr, also in a file */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return 1;
    const bool good = run(&arguments);
    curl_global_cleanup();
    return good ? 0 : 1;
}
