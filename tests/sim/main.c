/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-sim: runs the core in a modelled world, one seed after another, and looks whether its
 * promises hold. */

#include "tests/sim/shrink.h"
#include "tests/sim/sweep.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
    struct sweep sweep;
    bool trace;
    bool caught; /* a planted bug must be found */
};

static void usage(FILE *out)
{
    fputs(
        "usage: mcast-sim [--seeds N] [--seed K] [--jobs J] [--trace] [--keep-going]\n"
        "                 [--brokers N] [--lives N] [--skip JOBS] [--rounds N] [--only KINDS]\n"
        "                 [--without KINDS] [--plant NAME [--caught]] [--list]\n"
        "\n"
        "  --seeds N       how many seeds (100; 1 with --trace)\n"
        "  --seed K        the first one (1)\n"
        "  --jobs J        on so many cores (1)\n"
        "  --trace         print everything that happens\n"
        "  --keep-going    one line for each failing seed, instead of the first one's trace\n"
        "  --brokers N     so many share a ledger on a cluster (1, up to 3; 1: one, with a disk)\n"
        "  --lives N       job ids in a run (drawn from the seed)\n"
        "  --skip JOBS     these of them never start (0, 1, ... comma-separated)\n"
        "  --rounds N      storms in a run (drawn from the seed)\n"
        "  --only KINDS    only these kinds of faults, comma-separated; \"none\" for none\n"
        "  --without KINDS all but these\n"
        "  --plant NAME    make this mistake on purpose\n"
        "  --caught        succeed if a seed fails: the mistake was found\n"
        "  --list          print the kinds of faults and the mistakes that can be planted\n"
        "\n"
        "Exit: 0 all promises held, 1 one was broken, 2 usage.\n"
        "Example: mcast-sim --seeds 100000 --jobs 8\n",
        out);
}

static void list(void)
{
    puts("faults:");
    for (unsigned kind = 0; kind < FAULT_COUNT; kind++)
        printf("  %s\n", fault_word((enum fault_kind)kind));
    puts("plants:");
    for (unsigned plant = 1; plant < PLANT_END; plant++)
        printf("  %-16s %s\n", plant_word((enum plant)plant), plant_what((enum plant)plant));
}

static void bad(const char *what, const char *value)
{
    fprintf(stderr, "mcast-sim: %s \"%s\": see --help and --list\n", what, value);
    exit(2);
}

static uint64_t number(const char *text, uint64_t least)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (end == text || *end || value < least)
        bad("not an allowed number:", text);
    return value;
}

static uint64_t kinds(const char *text)
{
    uint64_t mask = 0;
    char *copy = strdup(text), *rest = copy;
    for (char *word; copy && (word = strsep(&rest, ","));) {
        int kind = fault_from_word(word);
        if (kind >= 0)
            mask |= (uint64_t)1 << kind;
        else if (strcmp(word, "none") != 0)
            bad("no such kind of fault:", word);
    }
    free(copy);
    return mask;
}

static uint64_t skipped(const char *text)
{
    uint64_t mask = 0;
    char *copy = strdup(text), *rest = copy;
    for (char *word; copy && (word = strsep(&rest, ","));) {
        uint64_t job = number(word, 0);
        if (job >= 64)
            bad("only the first 64 jobs can be skipped, not", word);
        mask |= (uint64_t)1 << job;
    }
    free(copy);
    return mask;
}

static enum plant planted(const char *word)
{
    int found = plant_from_word(word);
    if (found < 0)
        bad("no such planted bug:", word);
    return (enum plant)found;
}

/* What makes a run: false when the option is about something else. */
static bool parse_profile(int option, struct profile *profile)
{
    switch (option) {
    case 'b':
        profile->brokers = (uint32_t)number(optarg, 1);
        if (profile->brokers > BROKERS_MAX)
            bad("at most 3 brokers, not", optarg);
        return true;
    case 'l':
        profile->jobs = (uint32_t)number(optarg, 1);
        return true;
    case 'x':
        profile->skipped = skipped(optarg);
        return true;
    case 'r':
        profile->rounds = (uint32_t)number(optarg, 1);
        return true;
    case 'o':
        profile->faults &= kinds(optarg);
        return true;
    case 'w':
        profile->faults &= ~kinds(optarg);
        return true;
    case 'p':
        profile->plant = planted(optarg);
        return true;
    default:
        return false;
    }
}

static void parse_option(int option, struct options *options)
{
    struct sweep *sweep = &options->sweep;
    switch (option) {
    case 'n':
        sweep->seeds = number(optarg, 1);
        break;
    case 's':
        sweep->first = number(optarg, 0);
        break;
    case 'j':
        sweep->workers = (uint32_t)number(optarg, 1);
        break;
    case 't':
        options->trace = true;
        break;
    case 'c':
        options->caught = true;
        break;
    case 'k':
        sweep->keep_going = true;
        break;
    case 'L':
        list();
        exit(0);
    case 'h':
        usage(stdout);
        exit(0);
    default:
        usage(stderr);
        exit(2);
    }
}

static void parse(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {
        {"seeds", required_argument, NULL, 'n'},   {"seed", required_argument, NULL, 's'},
        {"jobs", required_argument, NULL, 'j'},    {"trace", no_argument, NULL, 't'},
        {"brokers", required_argument, NULL, 'b'}, {"lives", required_argument, NULL, 'l'},
        {"skip", required_argument, NULL, 'x'},    {"rounds", required_argument, NULL, 'r'},
        {"only", required_argument, NULL, 'o'},    {"without", required_argument, NULL, 'w'},
        {"plant", required_argument, NULL, 'p'},   {"caught", no_argument, NULL, 'c'},
        {"keep-going", no_argument, NULL, 'k'},    {"list", no_argument, NULL, 'L'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    struct sweep *sweep = &options->sweep;
    memset(options, 0, sizeof *options);
    profile_init(&sweep->profile, 0);
    sweep->first = 1;
    sweep->workers = 1;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;)
        if (!parse_profile(option, &sweep->profile))
            parse_option(option, options);
    if (optind < argc)
        bad("unexpected argument", argv[optind]);
    if (sweep->seeds == 0)
        sweep->seeds = options->trace ? 1 : 100;
    if (sweep->workers > sweep->seeds)
        sweep->workers = (uint32_t)sweep->seeds;
}

static void print_counts(const char *title, const uint64_t *counts, unsigned count,
                         const char *(*word)(unsigned))
{
    int column = printf("%-9s", title);
    for (unsigned i = 0; i < count; i++) {
        const char *name = word(i);
        if (!name || !*name)
            continue;
        if (column > 84)
            column = printf("\n%9s", "");
        column += printf(" %s %llu", name, (unsigned long long)counts[i]);
    }
    putchar('\n');
}

#define ONE_(name, status, word) +1
enum { ANSWERS = 0 ANSWER_KINDS(ONE_) };
#undef ONE_

static const char *fault_name(unsigned kind)
{
    return fault_word((enum fault_kind)kind);
}

static const char *answer_name(unsigned kind)
{
    return answer_word((enum answer_kind)kind);
}

static const char *event_name(unsigned kind)
{
    return kind == EVENT_NONE ? NULL : event_kind_word((int)kind);
}

static const char *outcome_name(unsigned outcome)
{
    return outcome == 0 ? NULL : fmcall_outcome_word((enum fmcall_outcome)outcome);
}

static void summary(const struct sweep_outcome *out, double seconds)
{
    const struct sim_result *total = &out->total;
    printf("%llu seeds, %llu job lives, %llu steps (%llu ticks), %llu commits, %llu calls, "
           "%llu job list polls, %llu times VNIs were clean before their time, %llu reserves "
           "refused so "
           "that other users find VNIs, %llu trees, "
           "%llu launch documents, %llu sums of nodes, %.1f days of virtual time in %.1f s: "
           "%.0f lives/s\n",
           (unsigned long long)out->runs, (unsigned long long)total->lives,
           (unsigned long long)total->steps, (unsigned long long)total->ticks,
           (unsigned long long)total->commits, (unsigned long long)total->calls,
           (unsigned long long)total->jobpolls, (unsigned long long)total->early,
           (unsigned long long)total->over_share, (unsigned long long)total->trees,
           (unsigned long long)total->documents, (unsigned long long)total->sums,
           (double)total->virtual_ms / 86400000, seconds,
           seconds > 0 ? (double)total->lives / seconds : 0);
    printf("joins     joined %llu later %llu denied %llu steps-from-memory %llu learned %llu\n",
           (unsigned long long)total->joined, (unsigned long long)total->join_laters,
           (unsigned long long)total->join_denials, (unsigned long long)total->shown_from_memory,
           (unsigned long long)total->learned);
    printf("slow      %llu reserves were waited for longer than the least, and came\n",
           (unsigned long long)total->slow_starts);
    print_counts("faults", total->faults, FAULT_COUNT, fault_name);
    if (total->broker_faults[BROKER_TAKEOVERS] > 0)
        print_counts("brokers", total->broker_faults, BROKER_FAULT_COUNT, broker_fault_word);
    print_counts("answers", total->answers, ANSWERS, answer_name);
    print_counts("events", total->events, EVENT_KIND_COUNT, event_name);
    print_counts("outcomes", total->outcomes, FM_NOT_ROUTED + 1, outcome_name);
}

static void print_again(const struct profile *profile)
{
    printf("again: mcast-sim --trace --seed %llu", (unsigned long long)profile->seed);
    if (profile->brokers > 1)
        printf(" --brokers %u", profile->brokers);
    if (profile->jobs)
        printf(" --lives %u", profile->jobs);
    if (profile->rounds)
        printf(" --rounds %u", profile->rounds);
    const char *separator = " --skip ";
    for (unsigned job = 0; job < 64; job++) {
        if (profile->skipped >> job & 1) {
            printf("%s%u", separator, job);
            separator = ",";
        }
    }
    if (profile->plant)
        printf(" --plant %s", plant_word(profile->plant));
    separator = " --only ";
    for (unsigned kind = 0; kind < FAULT_COUNT && profile->faults != UINT64_MAX; kind++) {
        if (profile->faults >> kind & 1) {
            printf("%s%s", separator, fault_word((enum fault_kind)kind));
            separator = ",";
        }
    }
    if (profile->faults == 0)
        printf(" --only none");
    putchar('\n');
}

static void explain(const struct options *options, const struct sweep_outcome *out)
{
    struct profile profile = options->sweep.profile;
    struct sim_result result;
    profile.seed = out->failed_seed;
    printf("seed %llu breaks %s: %s\n", (unsigned long long)profile.seed, out->total.invariant,
           out->total.words);
    print_again(&profile);
    sweep_once(&profile, false, &result);
    uint64_t steps = result.steps;
    unsigned tries = shrink(&profile, &result);
    printf("shrunk in %u tries from %llu steps to %llu:\n", tries, (unsigned long long)steps,
           (unsigned long long)result.steps);
    sweep_once(&profile, true, &result);
    printf("seed %llu breaks %s: %s\n", (unsigned long long)profile.seed, result.invariant,
           result.words);
    print_again(&profile);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int traced(const struct options *options)
{
    int failures = 0;
    for (uint64_t i = 0; i < options->sweep.seeds; i++) {
        struct profile profile = options->sweep.profile;
        struct sim_result result;
        profile.seed = options->sweep.first + i;
        printf("seed %llu\n", (unsigned long long)profile.seed);
        sim_run(&profile, stdout, &result);
        failures += result.failed;
    }
    return failures > 0;
}

static int judge_plant(const struct options *options, const struct sweep_outcome *out)
{
    enum plant plant = options->sweep.profile.plant;
    printf("%s: %s\n", plant_word(plant), plant_what(plant));
    if (out->failures == 0) {
        printf("not caught by %llu seeds\n", (unsigned long long)out->runs);
        return 1;
    }
    printf("caught by seed %llu, %s: %s\n", (unsigned long long)out->failed_seed,
           out->total.invariant, out->total.words);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    struct sweep_outcome out;
    parse(argc, argv, &options);
    if (options.trace)
        return traced(&options);

    double began = seconds_now();
    sweep_run(&options.sweep, &out);
    summary(&out, seconds_now() - began);
    if (options.caught)
        return judge_plant(&options, &out);
    if (out.failures == 0)
        return 0;
    if (options.sweep.keep_going)
        printf("%llu of %llu seeds failed\n", (unsigned long long)out.failures,
               (unsigned long long)out.runs);
    else
        explain(&options, &out);
    return 1;
}
