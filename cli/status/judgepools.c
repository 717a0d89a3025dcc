/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/judge.h"
#include "cli/user.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Of what jobs are given: VNIs, partition keys, addresses. */

enum { SILENT_S = 86400 }; /* nodes that have not reported for so long are not just slow */

/* ", 4711 of them for jobs of USER"; only admins are told. */
static const char *most_of(const struct verdict *verdict, char out[static 96])
{
    const long long most = judge_count(verdict->root, "vnis", "held_most");
    const json_t *uid = json_object_get(json_object_get(verdict->root, "vnis"), "held_most_uid");
    out[0] = '\0';
    if (json_is_integer(uid) && most > 0)
        (void)snprintf(out, 96, ", %lld of them for jobs of %s", most,
                       user_name((uint32_t)json_integer_value(uid)));
    return out;
}

void judge_vnis(struct verdict *verdict)
{
    char most[96];
    const json_t *root = verdict->root, *vnis = json_object_get(root, "vnis");
    const long long held = judge_count(root, "vnis", "held"),
                    pool = judge_count(root, "vnis", "pool");
    const long long free = judge_count(root, "vnis", "free"),
                    live = judge_count(root, "vnis", "live");
    const char *oldest = judge_text(root, "nodes", "waited_since");
    const bool none = json_is_integer(json_object_get(vnis, "free")) && free == 0;
    static const char report[] =
        "mcastctl list --held says for which nodes; have them report, or mcastctl fence those that "
        "are off";
    static const char list[] =
        "mcastctl list --held says for which nodes; for jobs that are over but active: set "
        "list_command of the cluster, or mcastctl sync; else give [vni] pool more";
    const char *active = strchr(list, ';') + 2; /* none is quarantined */
    const long long suspect = judge_count(root, "vnis", "quarantined");
    if (none && suspect > 0)
        judge_fault(verdict, "see the alarm old-ledger, and what ends it",
                    "NO VNI IS FREE: %lld may be in use by jobs that this ledger does not know",
                    suspect);
    else if (none)
        judge_fault(verdict,
                    held > live ? report
                    : held > 0  ? list
                                : active,
                    "NO VNI IS FREE%s: jobs that need one cannot start; %lld in use, %lld "
                    "quarantined after "
                    "their jobs%s",
                    FOR(verdict, judge_text(root, "vnis", "none_since")), live, held,
                    most_of(verdict, most));
    else if (held > pool / 2)
        judge_fault(
            verdict, report,
            "%lld OF %lld VNIS ARE QUARANTINED after their jobs, the longest%s%s: %lld are free",
            held, pool, oldest[0] ? FOR(verdict, oldest) : " for a time that is not known",
            most_of(verdict, most), free);
    else if (oldest[0] && judge_seconds_until(verdict, oldest) < -SILENT_S)
        judge_fault(verdict, report,
                    "NODES HAVE NOT REPORTED%s: %lld VNIs are quarantined after their jobs",
                    FOR(verdict, oldest), held);
}

void judge_partition_keys(struct verdict *verdict)
{
    const long long pool = judge_count(verdict->root, "partition_keys", "pool");
    if (pool > 0 && judge_count(verdict->root, "partition_keys", "free") == 0)
        judge_fault(verdict, "wait for jobs to end; for good: more [omnipath] partition_keys",
                    "NO PARTITION KEY IS FREE of %lld: jobs that need one cannot start", pool);
}

void judge_addresses(struct verdict *verdict)
{
    const json_t *root = verdict->root;
    const long long total = judge_count(root, "addresses", "total");
    const long long reserved = judge_count(root, "addresses", "reserved");
    const long long each = judge_count(root, "addresses", "per_job");
    if (total > 0 && reserved + (each > 0 ? each : 1) > total)
        judge_fault(
            verdict,
            "wait for jobs to end; for good: fewer [hwcoll] addresses_per_job, or a higher "
            "min_nodes (mcastctl plan)",
            "ALL ADDRESSES ARE RESERVED%s (%lld of %lld, %lld a job): jobs that start now run "
            "without hardware collectives",
            FOR(verdict, judge_text(root, "addresses", "full_since")), reserved, total, each);
}

void judge_budgets(struct verdict *verdict)
{
    const long long each = judge_count(verdict->root, "addresses", "per_job");
    char names[JUDGE_NAMES_SIZE] = "", name[64];
    long long count = 0;
    size_t i;
    const json_t *cluster;
    json_array_foreach(json_object_get(verdict->root, "clusters"), i, cluster)
    {
        const long long budget = json_integer_value(json_object_get(cluster, "budget"));
        const long long used = json_integer_value(json_object_get(cluster, "addresses"));
        if (budget <= 0 || used + each <= budget)
            continue;
        (void)snprintf(name, sizeof name, "%.20s (%lld of %lld)", judge_text(cluster, NULL, "name"),
                       used, budget);
        judge_add_name(names, count++, name);
    }
    if (count > 0)
        judge_fault(verdict,
                    "wait for jobs to end, or raise budget in [cluster \"NAME\"] and reload",
                    "THE BUDGET%s OF %s %s USED UP: jobs that start there now run without hardware "
                    "collectives",
                    count > 1 ? "S" : "", names, count > 1 ? "ARE" : "IS");
}

/* F9: whose nodes are to be drained. */
void judge_nodes(struct verdict *verdict)
{
    const long long lingering = judge_count(verdict->root, "nodes", "lingering");
    const char *first = judge_text(verdict->root, "nodes", "lingering_first");
    if (lingering > 0)
        judge_fault(verdict,
                    "drain them; mcastctl list --held names them; reboot, or mcastctl fence",
                    "SERVICES OF JOBS WILL NOT GO ON %lld NODE%s%s%s; their VNIs stay quarantined",
                    lingering, lingering == 1 ? "" : "S",
                    !first[0]        ? ""
                    : lingering == 1 ? ": "
                                     : ", the first is ",
                    first);
}

/* Their traffic may mix with other jobs'. */
void judge_adopted(struct verdict *verdict)
{
    const long long adopted = judge_count(verdict->root, "jobs", "adopted");
    if (adopted > 0)
        judge_fault(verdict,
                    "until they have ended set [vni] pool to others: \"Backups\" in state.md",
                    "%lld ACTIVE JOB%s FOUND WITHOUT %s VNIS: these may be given out again",
                    adopted, adopted == 1 ? " WAS" : "S WERE", adopted == 1 ? "ITS" : "THEIR");
}

/* B2 */
void judge_partitions(struct verdict *verdict)
{
    const long long used = judge_count(verdict->root, "vnis", "other_partitions_used");
    if (used > 0)
        judge_fault(verdict, "mcastctl doctor names the job; if the partition is right, end it",
                    "%lld VNI%s OF JOBS NOW BELONG%s TO OTHER PARTITIONS of the fabric", used,
                    used == 1 ? "" : "S", used == 1 ? "S" : "");
}
