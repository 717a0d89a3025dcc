/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/diagnosis.h"
#include "tests/coreconfig.h"
#include "core/reservation/reservation.h"
#include "tests/unit/unit.h"

#include <jansson.h>

#define DAY ((int64_t)86400 * 1000)
#define NOW ((int64_t)1790000000 * 1000)

/* A broker that is well, to be made ill in one place. */
struct broker_facts {
    struct core_config config;
    struct core_status core;
    struct core_cluster_status clusters[2];
    struct plugin_use use; /* of the second, once it is in plugins */
    const struct plugin_use *plugins[2];
    struct engine_counters counters;
    struct diagnosis_facts facts;
};

static void broker_facts_init(struct broker_facts *p)
{
    memset(p, 0, sizeof *p);
    coreconfig_init(&p->config);
    p->config.fm_present = true;
    p->config.min_nodes = 64;
    p->config.total_addresses = 4086;
    p->config.system_nodes = 11136;
    p->config.cluster_count = 2;
    snprintf(p->config.job_ca, sizeof p->config.job_ca, "yes");
    p->core = (struct core_status){
        .link = LINK_UP,
        .link_since_ms = NOW - DAY,
        .link_listed_ms = NOW - 1000,
        .link_url = "https://fmn",
        .link_error = "",
        .link_advice = "",
        .list_error = "",
        .reserve_error = "",
        .vnis_free = 60000,
        .vnis_pool = 64512,
        .vnis_live = 4000,
        .vnis_in_quarantine = 512,
        .addresses_total = 4086,
        .addresses_per_job = 23,
        .first_seq = 1,
        .last_seq = 100,
    };
    for (int i = 0; i < 2; i++)
        p->clusters[i] = (struct core_cluster_status){.name = i == 0 ? "elcap" : "tuo",
                                                      .name_conflict = "",
                                                      .synced_ms = NOW - 60000,
                                                      .jobpoll_error = ""};
    p->counters = (struct engine_counters){.role = ROLE_LEADER, .started_ms = NOW - 10 * DAY};
    p->counters.fabric.login_since_ms = NOW - 1000;
    p->counters.fabric.login_expires_ms = NOW + 300000;
    p->counters.fabric.date_skew_ms = 400;
    p->facts = (struct diagnosis_facts){
        .now_ms = NOW,
        .config = &p->config,
        .core = &p->core,
        .clusters = p->clusters,
        .plugins = p->plugins,
        .counters = &p->counters,
        .certificate_ends_ms = NOW + 90 * DAY,
        .files_open = 30,
        .files_max = 65536,
        .files_needed = 6400,
        .connections_max = 4096,
    };
}

#define OK "ok"
#define WARNING "warning"
#define PROBLEM "problem"
#define TEXT(finding, key) json_string_value(json_object_get(finding, key))

/* It finds this, in these words, and nothing else that is not fine. */
static void expect(struct broker_facts *p, const char *level, const char *check, const char *words)
{
    unsigned found = 0;
    struct writer out = {0};
    p->facts.out = &out;
    writer_begin_object(&out, NULL);
    diagnosis_write(&p->facts);
    writer_end_object(&out);
    json_t *all = json_loadb(out.data, out.used, 0, NULL), *finding;
    size_t i;
    json_array_foreach(json_object_get(all, "findings"), i, finding)
    {
        const char *its_level = TEXT(finding, "level"), *text = TEXT(finding, "finding");
        const bool is_it = !strcmp(TEXT(finding, "check"), check) && !strcmp(its_level, level);
        assert_true(text[0]);
        /* Who is told of trouble is told what to do. */
        assert_true(!strcmp(its_level, OK) || TEXT(finding, "advice"));
        if ((is_it && !strstr(text, words)) || (!is_it && strcmp(its_level, OK) != 0))
            fail_msg("%s: \"%s\"", check, text);
        found += is_it;
    }
    json_decref(all);
    writer_release(&out);
    assert_int_equal(found, 1);
}

#define CASE(check_level, check, words, change)                                                    \
    do {                                                                                           \
        struct broker_facts p;                                                                     \
        broker_facts_init(&p);                                                                     \
        change;                                                                                    \
        expect(&p, check_level, check, words);                                                     \
    } while (0)

UNIT(diagnosis__of_who_is_well)
{
    static const char *const checks[] = {
        "link",      "login",   "clock",  "neighbours", "vnis",        "partitions",  "sizing",
        "addresses", "storage", "events", "loop",       "certificate", "descriptors", "nodes"};
    struct broker_facts p;
    broker_facts_init(&p);
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        expect(&p, OK, checks[i], "");
}

UNIT(diagnosis__of_the_link)
{
    CASE(PROBLEM, "link", "down for 24 hours, with https://fmn: connection refused",
         p.core.link = LINK_DOWN;
         p.core.link_error = "connection refused");
    CASE(PROBLEM, "reserve", "nothing for 5 minutes, 3 times in a row: HTTP 507; jobs run without",
         p.core.reserves_failed = 3;
         p.core.reserves_failing_ms = NOW - 300000; p.core.reserve_error = "HTTP 507");
    CASE(WARNING, "list", "losses and leftovers are not found: no JSON",
         p.core.list_error = "no JSON");
    CASE(PROBLEM, "link", "it does not answer", p.core.link = LINK_LOGGING_IN);
    CASE(WARNING, "link", "coming up (listing)", p.core.link = LINK_LISTING;
         p.core.link_since_ms = NOW - 5000);
    CASE(OK, "link", "no fabric manager is configured", p.config.fm_present = false;
         p.core.link = LINK_DOWN; p.core.link_url = ""; p.core.link_listed_ms = 0;
         p.counters.fabric = (struct fmapi_counters){.date_skew_ms = INT64_MIN});
}

/* F21: that jobs may start without addresses because the fabric manager is slow. */
UNIT(diagnosis__of_a_slow_fabric_manager)
{
    CASE(WARNING, "reserve-wait",
         "took up to 12 seconds to reserve; a job's start waits 20 seconds",
         p.config.reserve_timeout_ms = RESERVE_TIMEOUT_AUTO;
         p.core.reserve_took_ms = 12000);
    CASE(OK, "link", "up for", p.config.reserve_timeout_ms = RESERVE_TIMEOUT_AUTO;
         p.core.reserve_took_ms = 10000);
    CASE(OK, "link", "up for", p.core.reserve_took_ms = 12000); /* the site has chosen */
}

/* B9: whether its Slurm asks, and with which login. */
UNIT(diagnosis__of_slurms_plugin)
{
    CASE(OK, "plugin", "\"tuo\" asked 20 seconds ago", p.plugins[1] = &p.use;
         p.use.asked_ms = NOW - 20000; p.clusters[1].synced_ms = 0;
         p.clusters[1].use.jobs_active = 1);
    CASE(WARNING, "plugin", "has never asked, and the broker was there for 10 days",
         p.plugins[1] = &p.use);
    CASE(OK, "plugin", "has not asked yet", p.plugins[1] = &p.use;
         p.counters.started_ms = NOW - 60000);
    CASE(WARNING, "plugin", "has not asked for 6 minutes", p.plugins[1] = &p.use;
         p.use.asked_ms = NOW - 6 * 60000);
    CASE(WARNING, "former-login", "has shown its former login 3 times", p.plugins[1] = &p.use;
         p.use.asked_ms = NOW - 20000; p.use.former_count = 3; p.use.former_ms = NOW - 60000);
    CASE(WARNING, "former-login", "was not shown since", p.plugins[1] = &p.use;
         p.use.asked_ms = NOW - 20000; p.use.former_accepted = true);
}

/* P1: how old what is known of the fabric is; it is nothing to jobs. */
UNIT(diagnosis__of_the_inventory)
{
    const struct inventory_facts good = {
        .reads = true, .checked_ms = NOW - 60000, .old_after_ms = 1800000, .error = ""};
    CASE(OK, "inventory", "7 switches, as of 60 seconds ago", p.counters.inventory = good;
         p.counters.fabric_parts.switches = 7);
    CASE(WARNING, "inventory", "is 24 hours old: HTTP 403", p.counters.inventory = good;
         p.counters.inventory.checked_ms = NOW - DAY; p.counters.inventory.error = "HTTP 403");
    CASE(WARNING, "inventory", "could not be read: HTTP 404", p.counters.inventory = good;
         p.counters.inventory.checked_ms = 0; p.counters.inventory.error = "HTTP 404");
}

UNIT(diagnosis__of_login_and_clock)
{
    CASE(OK, "login", "it ends in 5 minutes", (void)p);
    CASE(OK, "login", "as long as the password", p.counters.fabric.login_expires_ms = 0);
    CASE(PROBLEM, "login", "could not be renewed", p.counters.fabric.login_expires_ms = NOW - 5000);
    CASE(WARNING, "clock", "10 seconds ahead of ours", p.counters.fabric.date_skew_ms = 10000);
    CASE(PROBLEM, "clock", "2 minutes behind ours", p.counters.fabric.date_skew_ms = -120000);
    CASE(WARNING, "fm-verify", "can impersonate it", p.counters.fabric.unverified = true);
    CASE(WARNING, "job-ca", "do not verify", strcpy(p.config.job_ca, "no"));
}

/* Slurm takes what begins like its own name for its own (fabric-manager.md). */
UNIT(diagnosis__of_name_conflicts)
{
    CASE(PROBLEM, "neighbours", "\"elcap\" and \"elca\"", p.clusters[0].name_conflict = "elca");
    CASE(PROBLEM, "neighbours", "\"tuo\" and \"tuolumne\"",
         p.clusters[1].name_conflict = "tuolumne");
}

UNIT(diagnosis__of_pools)
{
    /* B2 */
    CASE(WARNING, "partitions",
         "7 of the 64512 VNIs of [vni] pool belong to other partitions of "
         "the fabric, beta among them",
         p.core.vnis_foreign = 7;
         p.facts.foreign_partition = "beta");
    struct reservation *user = calloc(1, sizeof *user + sizeof "f1");
    user->cluster = "elcap";
    memcpy(user->job, "f1", sizeof "f1");
    CASE(WARNING, "partitions",
         "job f1 of cluster elcap has a VNI that belongs to another partition",
         p.facts.foreign_user = user;
         p.core.vnis_foreign_used = 1);
    free(user);
    CASE(PROBLEM, "vnis", "0 of 64512 free", p.core.vnis_free = 0);
    CASE(WARNING, "vnis", "2000 of 64512 free", p.core.vnis_free = 2000);
    CASE(WARNING, "vnis", "32257 quarantined", p.core.vnis_in_quarantine = 32257);
    CASE(WARNING, "vnis", "32257 quarantined, 30000 of them for jobs of uid 5588",
         p.core.vnis_in_quarantine = 32257;
         p.core.vnis_held_most = 30000; p.core.vnis_held_most_uid = 5588);
    CASE(WARNING, "vnis", "20000 of 64512 free", p.core.vnis_free = 20000;
         p.core.vnis_held_most = 20001);
    CASE(WARNING, "addresses", "4080 of 4086", p.core.use.addresses = 4080);
    CASE(OK, "addresses", "4063 of 4086", p.core.use.addresses = 4063);
    CASE(PROBLEM, "sizing", "no job can get", p.config.total_addresses = 10;
         p.core.addresses_total = 0; p.core.addresses_per_job = 0);
    CASE(PROBLEM, "budgets", "no job of it gets any", p.clusters[0].budget = 22);
    CASE(WARNING, "budgets", "has used 23 of its 45", p.clusters[1].budget = 45;
         p.clusters[1].use.addresses = 23);
    CASE(WARNING, "releases", "5000 released reservations", p.core.use.releases = 5000);
}

/* F3, F9: what holds VNIs back, and what was given back without a word. */
UNIT(diagnosis__of_nodes)
{
    CASE(WARNING, "nodes", "on 3 nodes CXI services", p.core.nodes_lingering = 3);
    CASE(WARNING, "nodes", "on 1 node CXI services", p.core.nodes_lingering = 1);
    CASE(WARNING, "nodes", "4 VNIs are quarantined longer than [vni] hold",
         p.core.nodes_lingering = 1;
         p.core.vnis_overdue = 4);
    CASE(WARNING, "nodes", "a job was released 2 days ago, and not all its nodes",
         p.core.nodes_waited_ms = NOW - 2 * DAY - 1);
    CASE(OK, "nodes", "no node", p.core.nodes_waited_ms = NOW - DAY / 2);
    CASE(WARNING, "nodes", "7 VNIs were given back", p.core.vnis_unconfirmed = 7);
    CASE(WARNING, "nodes", "1 VNI was given back", p.core.vnis_unconfirmed = 1);
}

/* What an old ledger does not know, and what a dead step left. */
UNIT(diagnosis__of_adopted_jobs_and_cleanups)
{
    CASE(WARNING, "adopted", "1 active job was found without its VNIs: these may be given out",
         p.core.use.jobs_adopted = 1);
    CASE(WARNING, "adopted", "3 active jobs were found without their VNIs",
         p.core.use.jobs_adopted = 3);
    CASE(WARNING, "cleanups", "the trees of 2 steps could not be removed",
         p.core.cleanups.given_up = 2;
         p.core.cleanups.done = 5);
}

/* B11: while the broker has stopped by itself, it is not well. */
UNIT(diagnosis__of_alarms)
{
    static const struct alarm loss = {
        .kind = ALARM_MASS_LOSS, .since_ms = NOW - 300000, .detail = "12 of 40 are missing"};
    static const struct alarm conflict = {.kind = ALARM_NAME_CONFLICT,
                                          .cluster = "tuo",
                                          .since_ms = NOW - 7200000,
                                          .detail = "tuo-7 has another token"};
    CASE(OK, "alarm", "no alarm is on", p.facts.alarms = NULL);
    CASE(PROBLEM, "alarm", "mass-loss for 5 minutes: 12 of 40 are missing", p.facts.alarms = &loss);
    CASE(PROBLEM, "alarm", "name-conflict of cluster tuo for 2 hours: tuo-7 has another token",
         p.facts.alarms = &conflict);
}

/* What a resource manager forgets is never released unless it says which jobs run. */
UNIT(diagnosis__of_syncs)
{
    CASE(WARNING, "sync", "has not reported for 2 days", p.clusters[0].use.jobs_active = 3;
         p.clusters[0].synced_ms = NOW - 2 * DAY);
    CASE(WARNING, "sync", "has not reported for 10 days", p.clusters[0].use.jobs_active = 3;
         p.clusters[0].synced_ms = 0);
    CASE(OK, "events", "", p.clusters[0].synced_ms = 0); /* without jobs nothing is missed */
}

/* F20, F22: one that is asked need not say it unasked. */
UNIT(diagnosis__of_lists)
{
    CASE(OK, "list-command", "cluster \"tuo\" named its active jobs 5 minutes ago",
         p.clusters[1].jobpoll = true;
         p.clusters[1].jobpoll_ms = NOW - 300000; p.clusters[1].use.jobs_active = 3;
         p.clusters[1].synced_ms = 0);
    CASE(WARNING, "list-command",
         "the list_command of cluster \"tuo\" has failed for 5 minutes: it exited with status 1",
         p.clusters[1].jobpoll = true;
         p.clusters[1].jobpoll_failing_ms = NOW - 300000;
         p.clusters[1].jobpoll_error = "it exited with status 1");
    CASE(PROBLEM, "list-command", "has failed for 2 hours", p.clusters[0].jobpoll = true;
         p.clusters[0].jobpoll_failing_ms = NOW - 7200000;
         p.clusters[0].jobpoll_error = "no such file");
    /* Never whole since the start, ten days ago; that it is asked at all was reloaded later. */
    CASE(WARNING, "list-command", "has failed for 10 minutes", p.clusters[0].jobpoll = true;
         p.clusters[0].jobpoll_failing_ms = NOW - 600000;
         p.clusters[0].jobpoll_error = "no such file");
}

UNIT(diagnosis__of_the_broker_itself)
{
    CASE(WARNING, "role", "standby", p.counters.role = ROLE_STANDBY);
    struct leadership_facts several = {
        .phase = LEADER_STANDBY, .unreachable_ms = -1, .answered = 3};
    CASE(PROBLEM, "role", "this broker is standby; no broker leads", p.counters.role = ROLE_STANDBY;
         p.counters.leadership = &several);
    strcpy(several.leader, "https://m2:7470");
    CASE(OK, "role", "this broker is standby; https://m2:7470 leads",
         p.counters.role = ROLE_STANDBY;
         p.counters.leadership = &several);
    CASE(OK, "etcd", "3 of 3 questions", p.counters.leadership = &several);
    several.configuration = "00";
    several.looked = true;
    CASE(WARNING, "standby", "no standby", p.counters.leadership = &several);
    several.standbys = (struct etcd_standbys){
        .count = 1, .all = {{.url = "https://m3:7470", .version = "0.0", .configuration = "00"}}};
    CASE(WARNING, "standby", "https://m3:7470 has version 0.0", p.counters.leadership = &several);
    strcpy(several.standbys.all[0].version, MCAST_VERSION);
    several.configuration = "01";
    CASE(WARNING, "standby", "the configuration of the standby https://m3:7470 differs",
         p.counters.leadership = &several);
    several.standbys = (struct etcd_standbys){.malformed = 2};
    several.looked = false;
    CASE(WARNING, "standby", "2 brokers that wait", p.counters.leadership = &several);
    several.standbys.malformed = 0;
    several.unreachable_ms = 9000;
    strcpy(several.error, "refused");
    CASE(PROBLEM, "etcd", "no answer for 9 seconds", p.counters.leadership = &several);
    CASE(PROBLEM, "reload", "still is: mcastd.conf:3: bad", p.facts.reload_refused = true;
         p.facts.reload_refusal = "mcastd.conf:3: bad");
    CASE(PROBLEM, "munged", "has not answered the broker for 5 minutes",
         p.facts.munged_away_ms = NOW - 300000);
    CASE(PROBLEM, "storage", "disk full", p.counters.storage_failing = true;
         strcpy(p.counters.storage_error, "disk full"));
    CASE(WARNING, "storage", "3 commits failed", p.counters.commit_failures = 3);
    CASE(WARNING, "events", "30000 events", p.core.last_seq = 30000);
    CASE(WARNING, "loop", "2000 ms", p.counters.loop_stall_us_peak = 2000000);
    CASE(PROBLEM, "loop", "20000 ms", p.counters.loop_stall_us_peak = 20000000);
    CASE(PROBLEM, "descriptors", "60000 of 65536", p.facts.files_open = 60000);
    CASE(WARNING, "descriptors", "not enough for connections_max = 4096, which needs 6400",
         p.facts.files_max = 6399);
}

UNIT(diagnosis__of_the_certificate)
{
    CASE(WARNING, "certificate", "ends in 20 days", p.facts.certificate_ends_ms = NOW + 20 * DAY);
    CASE(PROBLEM, "certificate", "ends in 3 days", p.facts.certificate_ends_ms = NOW + 3 * DAY);
    CASE(PROBLEM, "certificate", "ended 2 days ago", p.facts.certificate_ends_ms = NOW - 2 * DAY);
    CASE(OK, "loop", "", p.facts.certificate_ends_ms = 0);
}

UNIT_RUN(NULL, NULL)
