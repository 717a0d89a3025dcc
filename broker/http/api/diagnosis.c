/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/finding.h"

#include <inttypes.h>
#include <string.h>

enum {
    CERTIFICATE_WARNING_DAYS = 30,
    CERTIFICATE_PROBLEM_DAYS = 7,
    LOOP_WARNING_US = 1000000,
    LOOP_PROBLEM_US = 10000000,
    ETCD_PROBLEM_MS = 3 * SECOND_MS,
};

static void check_alarms(const struct diagnosis_facts *facts)
{
    for (const struct alarm *alarm = facts->alarms; alarm; alarm = alarm->next)
        finding(facts, PROBLEM, "alarm", alarm_kind_advice(alarm->kind), "%s%s%s for %s: %s",
                alarm_kind_word(alarm->kind), alarm->cluster ? " of cluster " : "",
                alarm->cluster ? alarm->cluster : "", DURATION(facts->now_ms - alarm->since_ms),
                alarm->detail);
    if (!facts->alarms)
        finding(facts, OK, "alarm", NULL, "no alarm is on");
}

/* Of one among several (B7). */
static void check_leadership(const struct diagnosis_facts *facts,
                             const struct leadership_facts *leadership)
{
    static const char advice[] = "see that etcd runs (etcdctl endpoint health) and that this host "
                                 "reaches [state] endpoints";
    const char *role = broker_role_word(facts->counters->role);
    if (leadership->unreachable_ms >= ETCD_PROBLEM_MS)
        finding(facts, PROBLEM, "etcd", advice, "no answer for %s, member %s: %s",
                DURATION(leadership->unreachable_ms), leadership->member, leadership->error);
    else
        finding(facts, OK, "etcd", NULL, "%" PRIu64 " of %" PRIu64 " questions were answered",
                leadership->answered, leadership->answered + leadership->unanswered);
    if (leadership->leader[0] != '\0')
        finding(facts, OK, "role", NULL, "this broker is %s; %s leads", role, leadership->leader);
    else
        finding(facts, PROBLEM, "role", advice, "this broker is %s; no broker leads", role);
}

/* What its standbys would lead with (B7). */
static void check_standbys(const struct diagnosis_facts *facts,
                           const struct leadership_facts *leadership)
{
    const struct etcd_standbys *standbys = &leadership->standbys;
    if (leadership->looked && standbys->count == 0)
        finding(facts, WARNING, "standby", "start mcastd on the other hosts, and see their logs",
                "no standby: if this broker fails, none takes over");
    for (size_t i = 0; i < standbys->count; i++) {
        const struct etcd_standby *standby = &standbys->all[i];
        if (strcmp(standby->version, MCAST_VERSION) != 0)
            finding(facts, WARNING, "standby", "install the same version on all brokers",
                    "the standby %s has version %s, this broker " MCAST_VERSION, standby->url,
                    standby->version);
        if (strcmp(standby->configuration, leadership->configuration) != 0)
            finding(facts, WARNING, "standby",
                    "compare mcastd.conf and conf.d of both hosts, then systemctl reload mcastd",
                    "the configuration of the standby %s differs", standby->url);
    }
    if (standbys->malformed > 0)
        finding(facts, WARNING, "standby",
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
        finding(facts, WARNING, "role", "if this is the only broker, wait, and see its log",
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
        finding(facts, PROBLEM, "reload",
                "see the log, or mcastd --check, correct what it names, then run systemctl reload "
                "mcastd",
                "the last reload was refused, and what was in force before still is: %s",
                facts->reload_refusal);
}

/* Of this host, which tells who shows a MUNGE credential. */
static void check_munged(const struct diagnosis_facts *facts)
{
    if (facts->munged_away_ms > 0)
        finding(facts, PROBLEM, "munged", "on the broker's host: systemctl status munge",
                "munged has not answered the broker for %s: who proves himself by MUNGE is refused",
                DURATION(facts->now_ms - facts->munged_away_ms));
}

static void check_storage(const struct diagnosis_facts *facts)
{
    const struct engine_counters *counters = facts->counters;
    if (counters->storage_failing)
        finding(
            facts, PROBLEM, "storage",
            counters->leadership
                ? "see etcdctl alarm list: NOSPACE ends when etcd is compacted and defragmented, "
                  "or its quota raised, and the alarm disarmed; the broker continues by itself, "
                  "do not restart it"
                : "repair the disk under [state] path, or free space on it; the broker continues "
                  "by itself, do not restart it",
            "the ledger cannot be saved, so changes are refused: %s", counters->storage_error);
    else if (counters->commit_failures > 0)
        finding(facts, WARNING, "storage", "see the log for when and why, and the disk's health",
                "all is saved, but %" PRIu64 " commits failed since the start and were repeated",
                counters->commit_failures);
    else
        finding(facts, OK, "storage", NULL, "all is saved, none of %" PRIu64 " commits failed",
                counters->commits);
}

static void check_events(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const uint64_t kept = core->last_seq >= core->first_seq && core->first_seq > 0
                              ? core->last_seq - core->first_seq + 1
                              : 0;
    const bool much = kept > 2 * (uint64_t)facts->config->events_keep;
    finding(facts, much ? WARNING : OK, "events",
            "see the log for what keeps the ledger from dropping old ones",
            "%" PRIu64 " events are kept for replay (events_keep = %" PRIu32 ")", kept,
            facts->config->events_keep);
}

static void check_loop(const struct diagnosis_facts *facts)
{
    const int64_t peak = facts->counters->loop_stall_us_peak;
    const enum finding_level level = peak >= LOOP_PROBLEM_US   ? PROBLEM
                                     : peak >= LOOP_WARNING_US ? WARNING
                                                               : OK;
    finding(facts, level, "loop",
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
    const enum finding_level level = days < CERTIFICATE_PROBLEM_DAYS   ? PROBLEM
                                     : days < CERTIFICATE_WARNING_DAYS ? WARNING
                                                                       : OK;
    if (facts->certificate_ends_ms == 0)
        return;
    if (left <= 0)
        finding(facts, level, "certificate", advice,
                "the broker's certificate ended %s ago: no client can connect over TCP",
                DURATION(-left));
    else
        finding(facts, level, "certificate", advice,
                "the broker's certificate, the one in use, ends in %s", DURATION(left));
}

static void check_files(const struct diagnosis_facts *facts)
{
    static const char advice[] = "raise LimitNOFILE of the unit, or lower [broker] connections_max";
    const uint64_t open = facts->files_open, max = facts->files_max;
    if (max == 0)
        return; /* the kernel does not tell */
    if (open > max - max / 10)
        finding(facts, PROBLEM, "descriptors", advice,
                "%" PRIu64 " of %" PRIu64 " descriptors are open", open, max);
    else if (facts->files_needed > max)
        finding(facts, WARNING, "descriptors", advice,
                "%" PRIu64 " descriptors are not enough for connections_max = %u, which needs "
                "%" PRIu64,
                max, facts->connections_max, facts->files_needed);
    else
        finding(facts, OK, "descriptors", NULL, "%" PRIu64 " of %" PRIu64 " are open", open, max);
}

void diagnosis_write(const struct diagnosis_facts *facts)
{
    static const struct {
        void (*check)(const struct diagnosis_facts *);
        bool always; /* of a standby, too */
    } checks[] = {
        {check_alarms, false}, {check_role, true},     {check_reload, true},
        {check_munged, true},  {check_storage, false}, {jobdiagnosis_write, false},
        {check_events, false}, {check_loop, true},     {check_certificate, true},
        {check_files, true},
    };
    writer_begin_array(facts->out, "findings");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].always || serves(facts))
            checks[i].check(facts);
    writer_end_array(facts->out);
}
