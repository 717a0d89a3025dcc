/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-soak: the log of a real machine through a real broker, round and round, with the fabric
 * manager's double misbehaving, and restarts now and then. Exit status 0: every promise held, and
 * nothing grew with the jobs. */
#include "tests/system/replay/rounds.h"
#include "tests/system/rig/await.h"
#include "tests/system/soak/curve.h"
#include "tests/system/soak/drive.h"
#include "tests/system/soak/trend.h"
#include "tests/system/soak/weather.h"

#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: mcast-soak --mcastd FILE --mock-fm FILE [--minutes M] [--seed K] [--rate "
    "JOBS_A_SECOND]\n"
    "                  [--json FILE] LOG\n"
    "  LOG: Standard Workload Format, plain or gzip. The broker's first life is 60 % of the time,\n"
    "  after that it is killed or stopped, and started, a dozen times.\n";

enum { LIVES = 12, LINES = 30, WEATHER_S = 15, FM_RESTART_S = 150 };

static const double warm_up_part = 0.15, first_life_part = 0.6;

struct arguments {
    const char *mcastd, *mock_fm, *log, *json;
    double minutes;
    unsigned rate;
    uint64_t seed;
};

struct campaign {
    const struct arguments *arguments;
    struct testbed *testbed;
    struct drive *drive;
    struct prng prng;
    struct curve curve;
    unsigned life;
    int64_t began_ns, life_ns, weather_ns, sample_ns, restart_ns, fm_restart_ns;
    int64_t sample_every_ns, lives_every_ns;
    unsigned kills, stops, fm_kills;
    uint64_t reserved, without; /* at the last reading */
};

static const int64_t second_ns = 1000000000;

/* ---- looking ---- */

static void add_latencies(struct campaign *campaign, struct reading *reading)
{
    static double latencies[DRIVE_LATENCIES];
    const struct drive_counts *counts = drive_counts(campaign->drive);

    for (size_t i = 0; i < counts->latency_count; i++)
        latencies[i] = (double)counts->latencies_ns[i] / 1e6;
    reading->p50_ms = trend_percentile(latencies, counts->latency_count, 50);
    reading->p99_ms = trend_percentile(latencies, counts->latency_count, 99);
    drive_forget_latencies(campaign->drive);
    const double reserved = (double)(counts->reserved - campaign->reserved);
    const double all = reserved + (double)(counts->without - campaign->without);
    reading->reserve = all > 0 ? reserved / all : 1;
    campaign->reserved = counts->reserved;
    campaign->without = counts->without;
}

static int look(struct campaign *campaign)
{
    const int64_t now = await_now_ns();
    struct reading reading = {.time_s = (double)(now - campaign->began_ns) / 1e9,
                              .life = campaign->life,
                              .life_s = (double)(now - campaign->life_ns) / 1e9,
                              .jobs = (double)drive_counts(campaign->drive)->jobs};

    add_latencies(campaign, &reading);
    if (reading_take(campaign->testbed, &reading) < 0) {
        fprintf(stderr, "the broker does not tell how it is\n");
        return -1;
    }
    return curve_add(&campaign->curve, &reading);
}

/* ---- what happens ---- */

static int restart_broker(struct campaign *campaign)
{
    const bool kill = prng_percent(&campaign->prng, 50);

    if (look(campaign) < 0)
        return -1;
    if (kill)
        testbed_kill_broker(campaign->testbed);
    else if (testbed_stop_broker(campaign->testbed) < 0)
        return -1;
    campaign->kills += kill;
    campaign->stops += !kill;
    drive_broken(campaign->drive);
    if (testbed_start_broker(campaign->testbed) < 0)
        return -1;
    drive_compare(campaign->drive);
    campaign->life++;
    campaign->life_ns = await_now_ns();
    return 0;
}

static int restart_fm(struct campaign *campaign)
{
    testbed_kill_fm(campaign->testbed);
    campaign->fm_kills++;
    return testbed_start_fm(campaign->testbed);
}

/* True once a period; the next begins now. */
static bool is_time(int64_t *due_ns, int64_t period_ns)
{
    const int64_t now = await_now_ns();

    if (now < *due_ns)
        return false;
    *due_ns = now + period_ns;
    return true;
}

static int happen(struct campaign *campaign)
{
    if (is_time(&campaign->sample_ns, campaign->sample_every_ns) && look(campaign) < 0)
        return -1;
    if (is_time(&campaign->weather_ns, WEATHER_S * second_ns) &&
        !weather_change(campaign->testbed, &campaign->prng))
        return -1;
    if (is_time(&campaign->fm_restart_ns, FM_RESTART_S * second_ns) && restart_fm(campaign) < 0)
        return -1;
    if (is_time(&campaign->restart_ns, campaign->lives_every_ns) && restart_broker(campaign) < 0)
        return -1;
    return 0;
}

static void set_times(struct campaign *campaign)
{
    const double whole_s = campaign->arguments->minutes * 60;
    const int64_t now = await_now_ns();
    const int64_t first_ns = (int64_t)(whole_s * first_life_part * 1e9);

    campaign->began_ns = campaign->life_ns = now;
    campaign->lives_every_ns = (int64_t)(whole_s * (1 - first_life_part) / (LIVES + 0.5) * 1e9);
    campaign->sample_every_ns = campaign->lives_every_ns / 3;
    if (campaign->sample_every_ns > 5 * second_ns)
        campaign->sample_every_ns = 5 * second_ns;
    campaign->sample_ns = now + campaign->sample_every_ns;
    campaign->weather_ns = now + 2 * second_ns;
    campaign->fm_restart_ns = now + FM_RESTART_S * second_ns;
    campaign->restart_ns = now + first_ns;
}

static int play(struct campaign *campaign)
{
    set_times(campaign);
    const int64_t end_ns = campaign->began_ns + (int64_t)(campaign->arguments->minutes * 60 * 1e9);
    while (await_now_ns() < end_ns) {
        if (drive_turn(campaign->drive) < 0 || happen(campaign) < 0)
            return -1;
        if (drive_counts(campaign->drive)->faults > 0)
            return 0; /* each of them fails the campaign; more would only hide the first */
    }
    if (look(campaign) < 0 || weather_clear(campaign->testbed) < 0)
        return -1;
    while (!drive_finish(campaign->drive))
        if (drive_turn(campaign->drive) < 0)
            return -1;
    return rounds_await_quiet(campaign->testbed);
}

/* ---- the report ---- */

static void write_json(const struct campaign *campaign, json_t *verdicts, bool good)
{
    const struct arguments *arguments = campaign->arguments;
    const struct drive_counts *counts = drive_counts(campaign->drive);
    json_t *all = json_pack(
        "{sf sI sI sI sI sI sI sI sI sI sb so so}", "minutes", arguments->minutes, "seed",
        (json_int_t)arguments->seed, "rate", (json_int_t)arguments->rate, "laps",
        (json_int_t)counts->laps, "jobs", (json_int_t)counts->jobs, "faults",
        (json_int_t)counts->faults, "broker_kills", (json_int_t)campaign->kills, "broker_stops",
        (json_int_t)campaign->stops, "fabric_manager_kills", (json_int_t)campaign->fm_kills,
        "reserved", (json_int_t)counts->reserved, "good", good, "verdicts", json_incref(verdicts),
        "readings", curve_json(&campaign->curve));

    if (!all || json_dump_file(all, arguments->json, JSON_INDENT(1)) < 0)
        fprintf(stderr, "%s: cannot be written\n", arguments->json);
    json_decref(all);
}

static bool report(struct campaign *campaign, bool went_on)
{
    const struct drive_counts *counts = drive_counts(campaign->drive);
    json_t *verdicts = json_array();

    curve_print(&campaign->curve, LINES, stdout);
    const bool flat = curve_judge(
        &campaign->curve, campaign->arguments->minutes * 60 * warm_up_part, stdout, verdicts);
    const bool good = went_on && flat && counts->faults == 0;
    printf("%llu jobs in %llu laps (seed %llu), %.1f %% with multicast addresses; broker killed %u "
           "times, stopped %u; fabric manager killed %u times; %llu answers 503; %zu faults\n",
           (unsigned long long)counts->jobs, (unsigned long long)counts->laps,
           (unsigned long long)campaign->arguments->seed,
           100.0 * (double)counts->reserved /
               (double)(counts->reserved + counts->without + (counts->jobs == 0)),
           campaign->kills, campaign->stops, campaign->fm_kills,
           (unsigned long long)counts->refused, counts->faults);
    if (campaign->arguments->json)
        write_json(campaign, verdicts, good);
    json_decref(verdicts);
    return good;
}

static bool run(const struct arguments *arguments, const struct joblog *log)
{
    /* Short times, so that in the warm-up everything that is kept for a while has been forgotten.
     */
    const struct testbed_options options = {
        .mcastd = arguments->mcastd,
        .mock_fm = arguments->mock_fm,
        .broker = "log_level = warning\ntombstone = 200ms\n",
        .state = "events_keep = 1000\n",
        .fm = "timeout = 1s\nreserve_timeout = 500ms\nlink_retry = 100ms\nrelist = 10s\n"
              "stray_grace = 2s\n",
        .hwcoll = "min_nodes = 128\ntotal_addresses = 4086\nsystem_nodes = 4360\n",
        .vni = "hold = 2s\n",
    };
    struct campaign campaign = {.arguments = arguments, .testbed = testbed_create(&options)};
    const struct drive_options drive = {.log = log,
                                        .testbed = campaign.testbed,
                                        .connections = 16,
                                        .jobs_per_second = arguments->rate};
    bool good = false;

    prng_init(&campaign.prng, arguments->seed);
    if (campaign.testbed && testbed_start_fm(campaign.testbed) == 0 &&
        testbed_start_broker(campaign.testbed) == 0 && testbed_await_link(campaign.testbed) == 0 &&
        (campaign.drive = drive_create(&drive))) {
        good = report(&campaign, play(&campaign) == 0);
        if (!good && testbed_broker(campaign.testbed))
            process_print_log(testbed_broker(campaign.testbed));
        if (good &&
            (testbed_stop_broker(campaign.testbed) < 0 || testbed_stop_fm(campaign.testbed) < 0))
            good = false;
    }
    curve_release(&campaign.curve);
    drive_destroy(campaign.drive);
    testbed_destroy(campaign.testbed);
    return good;
}

static int read_arguments(struct arguments *out, int argc, char **argv)
{
    static const struct option options[] = {{"mcastd", required_argument, NULL, 'b'},
                                            {"mock-fm", required_argument, NULL, 'f'},
                                            {"minutes", required_argument, NULL, 'm'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"rate", required_argument, NULL, 'r'},
                                            {"json", required_argument, NULL, 'j'},
                                            {NULL, 0, NULL, 0}};
    int option;

    *out = (struct arguments){.minutes = 60, .rate = 250, .seed = 1};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'b':
            out->mcastd = optarg;
            break;
        case 'f':
            out->mock_fm = optarg;
            break;
        case 'm':
            out->minutes = strtod(optarg, NULL);
            break;
        case 's':
            out->seed = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            out->rate = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'j':
            out->json = optarg;
            break;
        default:
            return -1;
        }
    }
    if (optind + 1 != argc || !out->mcastd || !out->mock_fm || !(out->minutes > 0) || !out->rate)
        return -1;
    out->log = argv[optind];
    return 0;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct joblog log;
    struct error err;

    if (read_arguments(&arguments, argc, argv) < 0) {
        fputs(usage, stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* in order with stderr, also in a file */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return 1;
    if (joblog_read(&log, arguments.log, SIZE_MAX, &err) < 0 || log.fault_count > 0) {
        fprintf(stderr, "%s: %s\n", arguments.log,
                log.fault_count > 0 ? log.faults[0].words : err.text);
        return 1;
    }
    const bool good = run(&arguments, &log);
    joblog_release(&log);
    curl_global_cleanup();
    return good ? 0 : 1;
}
