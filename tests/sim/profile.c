/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/profile.h"
#include "tests/coreconfig.h"

#include "core/fabric/reservewait.h"
#include "tests/sim/brokers.h"
#include "tests/sim/fault.h"
#include "tests/sim/reload.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void profile_init(struct profile *profile, uint64_t seed)
{
    memset(profile, 0, sizeof *profile);
    profile->seed = seed;
    profile->faults = UINT64_MAX;
}

static int64_t pick(struct rng *rng, const int64_t *choices, uint32_t count)
{
    return choices[rng_below(rng, count)];
}
#define PICK(rng, ...)                                                                             \
    pick(rng, (const int64_t[]){__VA_ARGS__},                                                      \
         sizeof(const int64_t[]){__VA_ARGS__} / sizeof(int64_t))

static void draw_vnis(struct rng *rng, struct core_config *config)
{
    struct error err;
    char text[64];
    /* Small enough to run dry; some with 1 and 10 in it, which nobody may get (F1). */
    int64_t first = PICK(rng, 1, 8, 1024, 65470);
    int64_t size = rng_between(rng, 12, 60);
    snprintf(text, sizeof text, "%lld-%lld", (long long)first, (long long)(first + size - 1));
    int parsed = idset_parse(&config->vni_pool, text, &err);
    assert(parsed == 0);
    (void)parsed;
    config->vni_per_job = (uint32_t)PICK(rng, 1, 1, 1, 0, 2, 4);
    config->vni_single_node = !rng_chance(rng, 250);
    config->vni_required = !rng_chance(rng, 150);
    config->vni_hold_ms = PICK(rng, 1000, 20000, 60000, 600000);
}

static void draw_fabric(struct rng *rng, struct core_config *config)
{
    config->fm_present = !rng_chance(rng, 40);
    config->min_nodes = (uint32_t)PICK(rng, 0, 1, 2, 2, 8, 64);
    config->total_addresses = (uint32_t)PICK(rng, 64, 256, 4086);
    config->system_nodes = 11136;
    config->sharing = 1;
    config->addresses_per_job = (uint32_t)PICK(rng, 1, 8, 23, 23);
    if (config->total_addresses == 4086 && config->min_nodes == 64)
        config->addresses_per_job = 0; /* auto: 23 (F15) */
    config->reserve_timeout_ms = PICK(rng, 300, 2000, 2000, 8000);
    config->call_timeout_ms = PICK(rng, 1000, 3000, 10000);
    config->calls_at_once = (uint32_t)PICK(rng, 1, 2, 4, 16);
    config->relist_ms = PICK(rng, 0, 5000, 30000, 600000);
    config->stray_grace_ms = PICK(rng, 1000, 5000, 30000);
    config->link_retry_ms = PICK(rng, 100, 1000);
}

/* Few partition keys, so that they run out (S4). */
static void draw_interconnects(struct profile *p)
{
    struct omnipath_config *omnipath = &p->config.omnipath;
    struct rng rng;
    rng_init_for(&rng, p->seed, "interconnects", 0);
    p->others = (uint32_t)PICK(&rng, 0, 0, 0, 400);
    for (uint16_t key = 1 + (uint16_t)rng_below(&rng, 4); key > 0; key--)
        idset_add(&omnipath->pkeys, (uint16_t)(key * 3));
    omnipath->pkey_hold_ms = PICK(&rng, 0, 1000, 5000);
}

static void draw_named(struct profile *p)
{
    struct rng rng;
    rng_init_for(&rng, p->seed, "named", 0);
    p->named = (uint32_t)PICK(&rng, 0, 0, 20, 300);
}

/* Whose jobs are relayed. A reload may change it. */
static void draw_relays(struct profile *p)
{
    struct rng rng;
    rng_init_for(&rng, p->seed, "relays", 0);
    p->relays = rng_chance(&rng, 350);
    p->config.relay_timeout_ms = PICK(&rng, 2000, 8200, 20000, 60000);
    for (uint32_t i = 0; i < p->config.cluster_count; i++)
        p->config.clusters[i].relay = p->relays && rng_chance(&rng, 750);
    strcpy(p->config.relay_url, "https://mcastd:7471");
}

/* Clusters whose Slurm has its own plugin. Some are asked which of their jobs are active; else only
 * Slurm's own look tells what is over. */
static void draw_plugins(struct profile *p)
{
    struct rng rng;
    rng_init_for(&rng, p->seed, "plugins", 0);
    if (!rng_chance(&rng, 200))
        return;
    p->formers = rng_chance(&rng, 400);
    for (uint32_t i = 0; i < p->config.cluster_count; i++) {
        struct cluster_config *cluster = &p->config.clusters[i];
        p->plugin[i] = rng_chance(&rng, 700);
        p->plugin_limit[i] = (uint32_t)PICK(&rng, 0, 0, 1, 8, 23, 100);
        if (!p->plugin[i])
            continue;
        cluster->limit_refused = rng_chance(&rng, 250);
        cluster->jobpoll = rng_chance(&rng, 500);
        cluster->jobpoll_every_ms = PICK(&rng, 10000, 30000, 90000);
        cluster->plugin = !cluster->jobpoll; /* else it may have hooks as well (slurm.c) */
        if (!cluster->jobpoll && p->config.vni_hold_ms < 0) /* a suspect ledger would stay so */
            p->config.vni_hold_ms = 60000;
        p->silent[i] = true;
    }
}

static bool has_plugins(const struct profile *p)
{
    bool has = false;
    for (uint32_t i = 0; i < p->config.cluster_count; i++)
        has |= p->plugin[i];
    return has;
}

int64_t profile_longest_wait(const struct core_config *config)
{
    return config->reserve_timeout_ms != RESERVE_TIMEOUT_AUTO ? config->reserve_timeout_ms
                                                              : RESERVEWAIT_MAX_MS;
}

/* In some the broker chooses how long jobs wait; with calls that may take longer than that, too. */
static void draw_waits(struct profile *p)
{
    struct rng rng;
    rng_init_for(&rng, p->seed, "waits", 0);
    p->slows = rng_chance(&rng, 500);
    if (!rng_chance(&rng, 350))
        return;
    p->config.reserve_timeout_ms = RESERVE_TIMEOUT_AUTO;
    p->config.call_timeout_ms = PICK(&rng, 3000, 10000, 10000, 40000);
}

static void draw_floods(struct profile *p)
{
    struct rng rng;
    rng_init_for(&rng, p->seed, "floods", 0);
    p->floods = (uint32_t)PICK(&rng, 0, 0, 0, 0, 300);
}

/* Each is a prefix of another, or has one for a prefix. */
static const char *const names[] = {"elcap", "elcap2", "el", "elcap_2"};
static const char *const conflicting_names[] = {"elcap-f1", "elcap2-f1", "el-f1", "elcap_2-f1"};

static void draw_clusters(struct rng *rng, struct core_config *config)
{
    config->cluster_count = 1 + rng_below(rng, 4);
    uint32_t from = rng_below(rng, 4);
    for (uint32_t i = 0; i < config->cluster_count; i++) {
        strcpy(config->clusters[i].name, names[(from + i) % 4]);
        config->clusters[i].budget = (uint32_t)PICK(rng, 0, 0, 0, 30, 200);
    }
}

/* A ledger that the brokers share does not go back: how etcd is restored is another matter. */
static void draw_brokers(struct profile *p)
{
    struct rng rng;
    if (p->brokers < 2)
        return;
    rng_init_for(&rng, p->seed, "brokers", 0);
    p->lease_ms = PICK(&rng, 2000, 2000, 5000, 20000);
    p->faults &= ~((uint64_t)1 << FAULT_LEDGER_BACK);
    p->quiet_ms += BROKERS_PAUSE_MAX_MS + 4 * p->lease_ms;
}

/* Who is asked which jobs are active; some say it only when they are asked. Whether nodes report.
 */
static void draw_hooks(struct profile *p)
{
    struct rng rng;
    rng_init(&rng, p->seed, 8);
    for (uint32_t i = 0; i < p->config.cluster_count; i++) {
        struct cluster_config *cluster = &p->config.clusters[i];
        cluster->jobpoll = rng_chance(&rng, 400);
        cluster->jobpoll_every_ms = PICK(&rng, 0, 10000, 30000, 90000);
        p->silent[i] = rng_chance(&rng, 500) && cluster->jobpoll && cluster->jobpoll_every_ms > 0;
    }
    p->reports = rng_chance(&rng, 600);
    p->nodes_named = rng_chance(&rng, 500);
    p->boot_told = rng_chance(&rng, 700);
    if (p->reports && p->nodes_named && rng_chance(&rng, 500)) /* a site whose nodes all report */
        p->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    struct rng launches;
    rng_init_for(&launches, p->seed, "launches", 0);
    p->launches = (uint32_t)PICK(&launches, 0, 500, 1000, 1000);
    p->sums = (uint32_t)PICK(&launches, 0, 500, 1000);
    p->askers = (uint32_t)PICK(&launches, 0, 300, 1000);
    p->looks = rng_chance(&launches, 500) && p->reports && p->nodes_named;
    if (!p->reports || !p->nodes_named)
        p->launches = p->sums = p->askers = 0;
    p->config.mass_loss_min = (uint32_t)PICK(&rng, 3, 3, 1, 8);
    p->config.mass_loss_percent = (uint32_t)PICK(&rng, 10, 10, 50, 1);
}

/* Who cleans up after steps, how it goes at this fabric manager, and what the site allows. */
static void draw_cleanups(struct profile *p)
{
    struct rng rng;
    rng_init(&rng, p->seed, 9);
    p->bearers = (uint32_t)PICK(&rng, 0, 0, 300, 1000);
    p->token_power = (enum token_power)PICK(&rng, TOKEN_ENDS_STEPS, TOKEN_SHOWS_STEPS,
                                            TOKEN_ENDS_TREES, TOKEN_MAKES_TREES, TOKEN_MAKES_TREES);
    p->token_dies = rng_chance(&rng, 500);
    p->config.cleanup_login = rng_chance(&rng, 700);
    p->config.cleanup_timeout_ms = PICK(&rng, 5000, 20000, 60000);
}

const char *profile_name_conflict(const struct profile *profile)
{
    const struct core_config *config = &profile->config;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool ours = false;
        for (uint32_t j = 0; j < config->cluster_count; j++)
            ours |= strcmp(names[i], config->clusters[j].name) == 0;
        if (!ours)
            return conflicting_names[i];
    }
    return NULL;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void profile_draw(struct profile *p)
{
    struct rng rng;
    struct core_config *config = &p->config;
    rng_init(&rng, p->seed, 2);
    coreconfig_init(config);
    draw_vnis(&rng, config);
    draw_fabric(&rng, config);
    draw_clusters(&rng, config);
    draw_hooks(p);
    draw_cleanups(p);
    draw_interconnects(p);
    draw_floods(p);
    draw_relays(p);
    draw_named(p);
    draw_waits(p);
    draw_plugins(p);
    reload_profile(config, true, TC_LOW_LATENCY);
    config->sync_grace_ms = PICK(&rng, 5000, 20000, 60000);
    struct rng lots; /* so small that nearly every sync is split */
    rng_init_for(&lots, p->seed, "sync_lot", 0);
    config->sync_lot = (uint32_t)PICK(&lots, 1, 2, 5, 20);
    config->tombstone_ms = PICK(&rng, 2000, 30000);
    config->events_keep = (uint32_t)PICK(&rng, 8, 50, 10000);
    strcpy(config->fm_urls[0], "https://fmn:8000");
    strcpy(config->fm_urls[1], "https://fmn2:8000");
    config->fm_url_count = (uint32_t)PICK(&rng, 1, 2);
    config->events_age_ms = PICK(&rng, 0, 30000, 3600000);

    uint32_t jobs = (uint32_t)rng_between(&rng, 4, 48);
    if (rng_chance(&rng, 8)) /* a crowd now and then: tables have to grow */
        jobs *= 12;
    p->jobs = p->jobs ? p->jobs : jobs;
    uint32_t rounds = 1 + rng_below(&rng, 3);
    p->rounds = p->rounds ? p->rounds : rounds;
    p->storm_ms = PICK(&rng, 30000, 120000, 600000);
    p->run_ms = PICK(&rng, 2000, 20000, 200000);
    p->sync_ms = PICK(&rng, 7000, 30000, 90000, 90000);
    p->crashes = (uint32_t)PICK(&rng, 0, 1, 3, 8);
    p->outages = (uint32_t)PICK(&rng, 0, 1, 3);
    p->reloads = (uint32_t)PICK(&rng, 0, 1, 4);
    p->capacity = config->total_addresses * (uint32_t)PICK(&rng, 1, 1, 1, 2) + 200;
    if (rng_chance(&rng, 200))
        p->capacity = 40; /* the fabric manager has less than the site believes: 507 */
    p->foreign = rng_below(&rng, 12);
    p->page = (uint32_t)PICK(&rng, 1, 5, 1000);
    p->disk_ms = PICK(&rng, 1, 5, 30);
    p->net_ms = PICK(&rng, 2, 20, 200);

    /* An object that vanishes or appears while the link is up is only found by comparing. */
    if (config->relist_ms == 0)
        p->faults &= ~((uint64_t)1 << FAULT_FM_FORGETS | (uint64_t)1 << FAULT_STRAY |
                       (uint64_t)1 << FAULT_FM_RESTORES | (uint64_t)1 << FAULT_FM_LIES |
                       (uint64_t)1 << FAULT_RIVAL | (uint64_t)1 << FAULT_LEDGER_BACK);

    /* What may follow one after the other: the link's longest pause, calls that act late and their
     * repeats, two lists and two syncs or job list polls with their grace periods. */
    p->quiet_ms = 60000 + 4 * 32 * config->link_retry_ms + 12 * config->call_timeout_ms +
                  4 * most(config->relist_ms, config->stray_grace_ms) +
                  4 * (config->sync_grace_ms + most(p->sync_ms, 90000)) + 2 * config->tombstone_ms;
    if (p->relays || has_plugins(p))
        p->quiet_ms += 4 * config->relay_timeout_ms;
    draw_brokers(p);
}
