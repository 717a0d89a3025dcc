/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/diagnosis.h"

#include "core/reservation/sizing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    DAY_MS = 24 * HOUR_MS,
    COMING_UP_MS = MINUTE_MS, /* a login, and a list of some thousand pages */
    SKEW_WARNING_MS = 5 * SECOND_MS,
    SKEW_PROBLEM_MS = MINUTE_MS, /* tokens and MUNGE credentials begin to fail */
    CERTIFICATE_WARNING_DAYS = 30,
    CERTIFICATE_PROBLEM_DAYS = 7,
    LIST_PROBLEM_MS = HOUR_MS,
    LOOP_WARNING_US = 1000000,
    LOOP_PROBLEM_US = 10000000,
    RELEASES_MANY = 1000,
    ETCD_PROBLEM_MS = 3 * SECOND_MS,
    TEXT_SIZE = 640,
};

enum level { OK, WARNING, PROBLEM };

/* advice: unless all is well. */
__attribute__((format(printf, 5, 6))) static void report(const struct diagnosis_facts *facts,
                                                         enum level level, const char *check,
                                                         const char *advice, const char *format,
                                                         ...)
{
    static const char *const words[] = {[OK] = "ok", [WARNING] = "warning", [PROBLEM] = "problem"};
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    writer_begin_object(facts->out, NULL);
    writer_string(facts->out, "check", check);
    writer_string(facts->out, "level", words[level]);
    writer_string(facts->out, "finding", text);
    writer_string(facts->out, "advice", level == OK ? NULL : advice);
    writer_end_object(facts->out);
}

#define DURATION(ms) duration_text((ms), (char[32]){""})

/* "3 days", "5 minutes": whole units, the largest that fits. Negative times count as 0. */
static const char *duration_text(int64_t ms, char out[32])
{
    static const struct {
        int64_t ms;
        const char *one;
    } units[] = {{DAY_MS, "day"}, {HOUR_MS, "hour"}, {MINUTE_MS, "minute"}, {SECOND_MS, "second"}};
    size_t i = 0;
    while (i < sizeof units / sizeof units[0] - 1 && ms < 2 * units[i].ms)
        i++;
    const int64_t count = ms > 0 ? ms / units[i].ms : 0;
    snprintf(out, 32, "%" PRId64 " %s%s", count, units[i].one, count == 1 ? "" : "s");
    return out;
}

static void check_alarms(const struct diagnosis_facts *facts)
{
    for (const struct alarm *alarm = facts->alarms; alarm; alarm = alarm->next)
        report(facts, PROBLEM, "alarm", alarm_kind_advice(alarm->kind), "%s%s%s for %s: %s",
               alarm_kind_word(alarm->kind), alarm->cluster ? " of cluster " : "",
               alarm->cluster ? alarm->cluster : "", DURATION(facts->now_ms - alarm->since_ms),
               alarm->detail);
    if (!facts->alarms)
        report(facts, OK, "alarm", NULL, "no alarm is on");
}

/* ---- the fabric manager ---- */

#define UNTIL_BACK "jobs run without hardware collectives until it is back; "

static const char *link_advice(const struct fmapi_counters *fabric)
{
    if (fabric->tls_errors > 0)
        return UNTIL_BACK "TLS fails: [fm] ca must name what signed its certificate";
    if (fabric->login_failures > 0)
        return UNTIL_BACK "the login fails: see that the files in [fm] authdir are still good";
    return UNTIL_BACK "see that it answers at this URL from this machine";
}

static void check_link(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const int64_t lasts = facts->now_ms - core->link_since_ms;
    const char *state = link_state_word(core->link), *error = core->link_error;
    if (!facts->config->fm_present)
        report(facts, OK, "link", NULL,
               "no fabric manager is configured: jobs get VNIs, and no multicast addresses");
    else if (core->link == LINK_UP)
        report(facts, OK, "link", NULL, "up for %s, with %s", DURATION(lasts), core->link_url);
    else if (!error[0] && lasts < COMING_UP_MS)
        report(facts, WARNING, "link", "wait a minute, then run this check again",
               "coming up (%s), with %s", state, core->link_url);
    else
        report(facts, PROBLEM, "link", link_advice(&facts->counters->fabric),
               "%s for %s, with %s: %s", state, DURATION(lasts), core->link_url,
               error[0] ? error : "it does not answer");
}

static void check_login(const struct diagnosis_facts *facts)
{
    const struct fmapi_counters *fabric = &facts->counters->fabric;
    const int64_t left = fabric->login_expires_ms - facts->now_ms;
    if (fabric->login_since_ms == 0)
        return; /* the link says it */
    if (fabric->login_expires_ms == 0)
        report(facts, OK, "login", NULL, "in force, for as long as the password is good");
    else if (left > 0)
        report(facts, OK, "login", NULL, "in force, renewed in time; it ends in %s",
               DURATION(left));
    else
        report(facts, PROBLEM, "login",
               "see that the client secret in [fm] authdir is good and the token endpoint answers",
               "it ended %s ago and could not be renewed", DURATION(-left));
}

static void check_clock(const struct diagnosis_facts *facts)
{
    const int64_t skew = facts->counters->fabric.date_skew_ms;
    if (skew == INT64_MIN)
        return;
    if (llabs(skew) < SKEW_WARNING_MS)
        report(facts, OK, "clock", NULL, "the fabric manager's clock and ours agree");
    else
        report(facts, llabs(skew) < SKEW_PROBLEM_MS ? WARNING : PROBLEM, "clock",
               "set both by NTP: logins and certificates depend on it",
               "the fabric manager's clock is %s %s ours", DURATION(llabs(skew)),
               skew > 0 ? "ahead of" : "behind");
}

static void check_trust(const struct diagnosis_facts *facts)
{
    if (facts->counters->fabric.unverified)
        report(facts, WARNING, "fm-verify",
               "remove [fm] verify = no, and set [fm] ca to what signed its certificate",
               "the fabric manager is not verified: any host on the network path can impersonate "
               "it and read its login and the jobs' tokens");
    if (strncmp(facts->core->link_url, "https:", 6) == 0 && !strcmp(facts->config->job_ca, "no"))
        report(facts, WARNING, "job-ca",
               "set [hwcoll] job_ca to yes, or to a file that is on every node",
               "jobs do not verify the fabric manager: their tokens can be read on the network");
}

static void check_releases(const struct diagnosis_facts *facts)
{
    if (facts->core->use.releases >= RELEASES_MANY)
        report(facts, WARNING, "releases",
               "they are tried until they succeed; if the link is up, see how fast the fabric "
               "manager answers (mcastd_fabric_manager_call_duration_seconds in /metrics)",
               "%" PRIu64 " released reservations still exist at the fabric manager",
               facts->core->use.releases);
}

static void check_name_conflicts(const struct diagnosis_facts *facts)
{
    bool any = false;
    for (uint32_t i = 0; i < facts->config->cluster_count; i++) {
        const struct core_cluster_status *cluster = &facts->clusters[i];
        if (cluster->name_conflict[0] == '\0')
            continue;
        any = true;
        report(facts, PROBLEM, "neighbours",
               "give one of the two another name, none of which begins with the other",
               "cluster \"%s\" and \"%s\", which is at the fabric manager but not ours, begin "
               "alike: slurmctld takes what begins like its own name for its own",
               cluster->name, cluster->name_conflict);
    }
    if (!any && facts->core->link_listed_ms > 0)
        report(facts, OK, "neighbours", NULL,
               "no name at the fabric manager is dangerously like one of ours");
}

/* ---- pools and sizes ---- */

static void check_vnis(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    enum level level = OK;
    if (core->vnis_free < facts->config->vni_per_job || core->vnis_free == 0)
        level = PROBLEM;
    else if (core->vnis_free < core->vnis_pool / 20 ||
             core->vnis_in_quarantine > core->vnis_pool / 2 ||
             core->vnis_held_most > core->vnis_free)
        level = WARNING;
    report(facts, level, "vnis",
           core->vnis_in_quarantine > core->vnis_live
               ? "most are held: mcastctl list --held shows for which nodes; have them report "
                 "(mcast-node), or choose a duration as [vni] hold"
               : "enlarge [vni] pool, if the fabric's partitions allow it",
           "%" PRIu32 " of %" PRIu32 " free, %" PRIu32 " in use, %" PRIu32 " held", core->vnis_free,
           core->vnis_pool, core->vnis_live, core->vnis_in_quarantine);
}

/* What quarantines VNIs, and what was given back unconfirmed (F3, F9). */
static void check_nodes(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    if (core->nodes_lingering > 0)
        report(facts, WARNING, "nodes",
               "mcastctl list --held names them, and mcast-node tend there says who uses what: "
               "drain and reboot them, or run mcastctl fence for those that are off",
               "on %" PRIu64 " node%s CXI services of jobs cannot be destroyed; for these, %" PRIu64
               " VNI%s held longer than [vni] hold",
               core->nodes_lingering, core->nodes_lingering == 1 ? "" : "s", core->vnis_overdue,
               core->vnis_overdue == 1 ? " is" : "s are");
    if (core->vnis_unconfirmed > 0)
        report(facts, WARNING, "nodes",
               "see the log for the nodes, and that their epilogs reach the broker; [vni] hold "
               "= reports waits for them",
               "%" PRIu64 " VNI%s given back when [vni] hold was over, although not all nodes "
               "had reported that they are clean",
               core->vnis_unconfirmed, core->vnis_unconfirmed == 1 ? " was" : "s were");
    if (core->nodes_lingering == 0 && core->vnis_unconfirmed == 0)
        report(facts, OK, "nodes", NULL,
               "no node reports services of jobs that cannot be destroyed");
}

/* After a start with an old ledger or none: a job that runs may share its VNI with the next. */
static void check_adopted(const struct diagnosis_facts *facts)
{
    const uint64_t adopted = facts->core->use.jobs_adopted;
    if (adopted > 0)
        report(facts, WARNING, "adopted",
               "until they have ended set [vni] pool to VNIs that none of them has: see "
               "\"Backups\" in state.md",
               "%" PRIu64 " active job%s found without %s VNIs: these may be given out again",
               adopted, adopted == 1 ? " was" : "s were", adopted == 1 ? "its" : "their");
}

/* F19: a step that died keeps switches busy with trees that are not needed. */
static void check_cleanups(const struct diagnosis_facts *facts)
{
    const uint64_t given_up = facts->core->cleanups.given_up;
    if (given_up > 0)
        report(facts, WARNING, "cleanups",
               "look in the log for \"are not removed\"; where the fabric manager refuses jobs' "
               "tokens, [hwcoll] cleanup_login = yes has the broker's login do it (see tokens.md)",
               "the trees of %" PRIu64 " step%s could not be removed since the start: they stay "
               "until the job ends, or until it is asked for again",
               given_up, given_up == 1 ? "" : "s");
}

static void check_sizing(const struct diagnosis_facts *facts)
{
    uint32_t addresses = 0;
    struct error err = {0};
    if (!facts->config->fm_present)
        return;
    if (sizing_addresses(facts->config, &addresses, &err) < 0)
        report(facts, facts->config->min_nodes > 0 ? PROBLEM : WARNING, "sizing",
               "set [hwcoll] total_addresses, system_nodes and min_nodes, or addresses_per_job",
               "no job can get multicast addresses: %s", err.text);
    else
        report(facts, OK, "sizing", NULL, "%" PRIu32 " multicast addresses for each job",
               addresses);
}

static void check_addresses(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const bool tight = core->use.addresses + core->addresses_per_job > core->addresses_total;
    if (!facts->config->fm_present || core->addresses_total == 0)
        return;
    report(facts, tight ? WARNING : OK, "addresses",
           "jobs to come run without; fewer addresses per job or a higher [hwcoll] min_nodes share "
           "them out differently",
           "%" PRIu64 " of %" PRIu32 " multicast addresses are reserved", core->use.addresses,
           core->addresses_total);
}

/* ---- clusters ---- */

static void check_budget(const struct diagnosis_facts *facts,
                         const struct core_cluster_status *cluster)
{
    const uint32_t each = facts->core->addresses_per_job;
    if (cluster->budget == 0 || each == 0)
        return;
    if (cluster->budget < each)
        report(facts, PROBLEM, "budgets", "raise the budget of [cluster] to that at least",
               "cluster \"%s\" may hold %" PRIu32 " multicast addresses, and one job gets %" PRIu32
               ": no job of it gets any",
               cluster->name, cluster->budget, each);
    else if (cluster->use.addresses + each > cluster->budget)
        report(facts, WARNING, "budgets", "its jobs to come run without",
               "cluster \"%s\" has used %" PRIu64 " of its %" PRIu32 " multicast addresses",
               cluster->name, cluster->use.addresses, cluster->budget);
}

static void check_sync(const struct diagnosis_facts *facts,
                       const struct core_cluster_status *cluster)
{
    const int64_t compared =
        cluster->synced_ms > cluster->jobpoll_ms ? cluster->synced_ms : cluster->jobpoll_ms;
    const int64_t ago = facts->now_ms - (compared > 0 ? compared : facts->counters->started_ms);
    if (ago > DAY_MS && cluster->use.jobs_active > 0)
        report(facts, WARNING, "sync",
               "set [cluster] list_command, or have the resource manager run mcastctl sync now "
               "and then: what is missed at its end is never released otherwise",
               "cluster \"%s\" has %" PRIu64
               " active jobs and has not reported for %s which of them still run",
               cluster->name, cluster->use.jobs_active, DURATION(ago));
    else if (compared > 0)
        report(facts, OK, "sync", NULL, "cluster \"%s\" was compared %s ago", cluster->name,
               DURATION(ago));
}

static void check_list_command(const struct diagnosis_facts *facts,
                               const struct core_cluster_status *cluster)
{
    const int64_t ago = facts->now_ms - (cluster->jobpoll_ms > 0 ? cluster->jobpoll_ms
                                                                 : facts->counters->started_ms);
    if (!cluster->jobpoll)
        return;
    if (cluster->jobpoll_error[0] != '\0')
        report(facts, ago > LIST_PROBLEM_MS ? PROBLEM : WARNING, "list-command",
               "run it as the service's user (runuser -u mcastd -- COMMAND) and correct what it "
               "reports; until it works, jobs whose end was missed keep what they have",
               "the list_command of cluster \"%s\" has failed for %s: %s", cluster->name,
               DURATION(ago), cluster->jobpoll_error);
    else if (cluster->jobpoll_ms > 0)
        report(facts, OK, "list-command", NULL, "cluster \"%s\" named its active jobs %s ago",
               cluster->name, DURATION(ago));
}

static void check_clusters(const struct diagnosis_facts *facts)
{
    static void (*const checks[])(const struct diagnosis_facts *,
                                  const struct core_cluster_status *) = {check_budget, check_sync,
                                                                         check_list_command};
    for (size_t check = 0; check < sizeof checks / sizeof checks[0]; check++)
        for (uint32_t i = 0; i < facts->config->cluster_count; i++)
            checks[check](facts, &facts->clusters[i]);
}

/* ---- the broker itself ---- */

/* Of one among several (B7). */
static void check_leadership(const struct diagnosis_facts *facts,
                             const struct leadership_facts *leadership)
{
    static const char advice[] = "see that etcd runs (etcdctl endpoint health) and that this host "
                                 "reaches [state] endpoints";
    const char *role = broker_role_word(facts->counters->role);
    if (leadership->unreachable_ms >= ETCD_PROBLEM_MS)
        report(facts, PROBLEM, "etcd", advice, "no answer for %s, member %s: %s",
               DURATION(leadership->unreachable_ms), leadership->member, leadership->error);
    else
        report(facts, OK, "etcd", NULL, "%" PRIu64 " of %" PRIu64 " questions were answered",
               leadership->answered, leadership->answered + leadership->unanswered);
    if (leadership->leader[0] != '\0')
        report(facts, OK, "role", NULL, "this broker is %s; %s leads", role, leadership->leader);
    else
        report(facts, PROBLEM, "role", advice, "this broker is %s; no broker leads", role);
}

/* What its standbys would lead with (B7). */
static void check_standbys(const struct diagnosis_facts *facts,
                           const struct leadership_facts *leadership)
{
    const struct etcd_standbys *standbys = &leadership->standbys;
    if (leadership->looked && standbys->count == 0)
        report(facts, WARNING, "standby", "start mcastd on the other hosts, and see their logs",
               "no standby: if this broker fails, none takes over");
    for (size_t i = 0; i < standbys->count; i++) {
        const struct etcd_standby *standby = &standbys->all[i];
        if (strcmp(standby->version, MCAST_VERSION) != 0)
            report(facts, WARNING, "standby", "install the same version on all brokers",
                   "the standby %s has version %s, this broker " MCAST_VERSION, standby->url,
                   standby->version);
        if (strcmp(standby->configuration, leadership->configuration) != 0)
            report(facts, WARNING, "standby",
                   "compare mcastd.conf and conf.d of both hosts, then systemctl reload mcastd",
                   "the configuration of the standby %s differs", standby->url);
    }
    if (standbys->malformed > 0)
        report(facts, WARNING, "standby",
               "etcdctl get --prefix PREFIX/broker/ shows them; an mcastd of another version?",
               "%zu brokers that wait to lead cannot be read, or are too many",
               standbys->malformed);
}

static void check_role(const struct diagnosis_facts *facts)
{
    if (facts->counters->leadership) {
        check_leadership(facts, facts->counters->leadership);
        check_standbys(facts, facts->counters->leadership);
    } else if (facts->counters->role != ROLE_LEADER)
        report(facts, WARNING, "role", "if this is the only broker, wait, and see its log",
               "this broker is %s and does not serve", broker_role_word(facts->counters->role));
}

/* A standby knows no jobs, and asks no fabric manager. */
static bool serves(const struct diagnosis_facts *facts)
{
    return !facts->counters->leadership || facts->counters->role == ROLE_LEADER;
}

static void check_reload(const struct diagnosis_facts *facts)
{
    if (facts->reload_refused)
        report(facts, PROBLEM, "reload",
               "see the log, or mcastd --check, correct what it names, then run systemctl reload "
               "mcastd",
               "the last reload was refused: the files differ from the configuration in force");
}

static void check_storage(const struct diagnosis_facts *facts)
{
    const struct engine_counters *counters = facts->counters;
    if (counters->storage_failing)
        report(
            facts, PROBLEM, "storage",
            counters->leadership
                ? "see etcdctl alarm list: NOSPACE ends when etcd is compacted and defragmented, "
                  "or its quota raised, and the alarm disarmed; the broker continues by itself, "
                  "do not restart it"
                : "repair the disk under [state] path, or free space on it; the broker continues "
                  "by itself, do not restart it",
            "the ledger cannot be saved, so changes are refused: %s", counters->storage_error);
    else if (counters->commit_failures > 0)
        report(facts, WARNING, "storage", "see the log for when and why, and the disk's health",
               "all is saved, but %" PRIu64 " commits failed since the start and were repeated",
               counters->commit_failures);
    else
        report(facts, OK, "storage", NULL, "all is saved, none of %" PRIu64 " commits failed",
               counters->commits);
}

static void check_events(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const uint64_t kept = core->last_seq >= core->first_seq && core->first_seq > 0
                              ? core->last_seq - core->first_seq + 1
                              : 0;
    const bool much = kept > 2 * (uint64_t)facts->config->events_keep;
    report(facts, much ? WARNING : OK, "events",
           "see the log for what keeps the ledger from dropping old ones",
           "%" PRIu64 " events are kept for replay (events_keep = %" PRIu32 ")", kept,
           facts->config->events_keep);
}

static void check_loop(const struct diagnosis_facts *facts)
{
    const int64_t peak = facts->counters->loop_stall_us_peak;
    const enum level level = peak >= LOOP_PROBLEM_US   ? PROBLEM
                             : peak >= LOOP_WARNING_US ? WARNING
                                                       : OK;
    report(facts, level, "loop",
           "no request was served meanwhile; see whether this machine swaps, or something else "
           "takes its processors",
           "the longest turn of the event loop in the last five minutes took %" PRId64 " ms",
           peak / 1000);
}

static void check_certificate(const struct diagnosis_facts *facts)
{
    static const char advice[] =
        "have it renewed, then systemctl reload mcastd; connections that are open go on";
    const int64_t left = facts->certificate_ends_ms - facts->now_ms, days = left / DAY_MS;
    const enum level level = days < CERTIFICATE_PROBLEM_DAYS   ? PROBLEM
                             : days < CERTIFICATE_WARNING_DAYS ? WARNING
                                                               : OK;
    if (facts->certificate_ends_ms == 0)
        return;
    if (left <= 0)
        report(facts, level, "certificate", advice,
               "the broker's certificate ended %s ago: no client can connect over TCP",
               DURATION(-left));
    else
        report(facts, level, "certificate", advice,
               "the broker's certificate, the one in use, ends in %s", DURATION(left));
}

static void check_files(const struct diagnosis_facts *facts)
{
    static const char advice[] = "raise LimitNOFILE of the unit, or lower [broker] connections_max";
    const uint64_t open = facts->files_open, max = facts->files_max;
    if (max == 0)
        return; /* the kernel does not tell */
    if (open > max - max / 10)
        report(facts, PROBLEM, "descriptors", advice,
               "%" PRIu64 " of %" PRIu64 " descriptors are open", open, max);
    else if (facts->files_needed > max)
        report(facts, WARNING, "descriptors", advice,
               "%" PRIu64 " descriptors are not enough for connections_max = %u, which needs "
               "%" PRIu64,
               max, facts->connections_max, facts->files_needed);
    else
        report(facts, OK, "descriptors", NULL, "%" PRIu64 " of %" PRIu64 " are open", open, max);
}

void diagnosis_write(const struct diagnosis_facts *facts)
{
    static const struct {
        void (*check)(const struct diagnosis_facts *);
        bool always; /* of a standby, too */
    } checks[] = {
        {check_alarms, false},   {check_role, true},
        {check_reload, true},    {check_storage, false},
        {check_link, false},     {check_login, false},
        {check_clock, false},    {check_trust, false},
        {check_releases, false}, {check_name_conflicts, false},
        {check_vnis, false},     {check_nodes, false},
        {check_adopted, false},  {check_cleanups, false},
        {check_sizing, false},   {check_addresses, false},
        {check_clusters, false}, {check_events, false},
        {check_loop, true},      {check_certificate, true},
        {check_files, true},
    };
    writer_begin_array(facts->out, "findings");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].always || serves(facts))
            checks[i].check(facts);
    writer_end_array(facts->out);
}
