/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/finding.h"

#include "core/fabric/reservewait.h"
#include "core/reservation/reservation.h"
#include "core/reservation/sizing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMING_UP_MS = MINUTE_MS, /* a login, and a list of some thousand pages */
    SKEW_WARNING_MS = 5 * SECOND_MS,
    SKEW_PROBLEM_MS = MINUTE_MS, /* tokens and MUNGE credentials begin to fail */
    LIST_PROBLEM_MS = HOUR_MS,
    PLUGIN_SILENT_MS = 5 * MINUTE_MS,
    RELEASES_MANY = 1000,
    RESERVES_FAILED = 3, /* in a row: it is not about one job */
};

/* ---- the fabric manager ---- */

static void check_link(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const int64_t lasts = facts->now_ms - core->link_since_ms;
    const char *state = link_state_word(core->link), *error = core->link_error;
    const bool told = strncmp(error, core->link_url, strlen(core->link_url)) == 0;
    if (!facts->config->fm_present)
        finding(facts, OK, "link", NULL,
                "no fabric manager is configured: jobs get VNIs, and no multicast addresses");
    else if (core->link == LINK_UP)
        finding(facts, OK, "link", NULL, "up for %s, with %s, which answered %s ago",
                DURATION(lasts), core->link_url, DURATION(facts->now_ms - core->link_heard_ms));
    else if (!error[0] && lasts < COMING_UP_MS)
        finding(facts, WARNING, "link", "wait a minute, then run this check again",
                "coming up (%s), with %s", state, core->link_url);
    else
        finding(facts, PROBLEM, "link",
                core->link_advice[0] ? core->link_advice : "see that it runs, at this URL",
                "%s for %s%s%s: %s; jobs run without hardware collectives until it is back", state,
                DURATION(lasts), told ? "" : ", with ", told ? "" : core->link_url,
                error[0] ? error : "it does not answer");
    if (core->link == LINK_UP && core->reserves_failed >= RESERVES_FAILED)
        finding(facts, PROBLEM, "reserve",
                "see the fabric manager's own log; 507: it has fewer addresses left than [hwcoll] "
                "total_addresses says",
                "it has reserved nothing for %s, %" PRIu32 " times in a row: %s; jobs run without "
                "hardware collectives",
                DURATION(facts->now_ms - core->reserves_failing_ms), core->reserves_failed,
                core->reserve_error);
    if (core->list_error[0])
        finding(facts, WARNING, "list", "see the fabric manager's own log; it is asked again",
                "its list of jobs cannot be used, so losses and leftovers are not found: %s",
                core->list_error);
}

static void check_reserve_wait(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    if (facts->config->reserve_timeout_ms == RESERVE_TIMEOUT_AUTO &&
        2 * core->reserve_took_ms > RESERVEWAIT_MAX_MS)
        finding(facts, WARNING, "reserve-wait",
                "see what slows it; with [hwcoll] through = relay jobs start at once, with a time "
                "as [fm] reserve_timeout they wait so long",
                "the fabric manager took up to %s to reserve; a job's start waits %s at most, then "
                "it has no hardware collectives",
                DURATION(core->reserve_took_ms), DURATION(RESERVEWAIT_MAX_MS));
}

static void check_login(const struct diagnosis_facts *facts)
{
    const struct fmapi_counters *fabric = &facts->counters->fabric;
    const int64_t left = fabric->login_expires_ms - facts->now_ms;
    if (fabric->login_since_ms == 0 ||
        (fabric->login_expires_ms == 0 && facts->core->link != LINK_UP))
        return; /* the link says it */
    if (fabric->login_expires_ms == 0)
        finding(facts, OK, "login", NULL, "in force, for as long as the password is good");
    else if (left > 0)
        finding(facts, OK, "login", NULL, "in force, renewed in time; it ends in %s",
                DURATION(left));
    else
        finding(facts, PROBLEM, "login",
                "see that the client secret in [fm] authdir is good and the token endpoint answers",
                "it ended %s ago and could not be renewed", DURATION(-left));
}

static void check_clock(const struct diagnosis_facts *facts)
{
    const int64_t skew = facts->counters->fabric.date_skew_ms;
    if (skew == INT64_MIN)
        return;
    if (llabs(skew) < SKEW_WARNING_MS)
        finding(facts, OK, "clock", NULL, "the fabric manager's clock and ours agree");
    else
        finding(facts, llabs(skew) < SKEW_PROBLEM_MS ? WARNING : PROBLEM, "clock",
                "set both by NTP: logins and certificates depend on it",
                "the fabric manager's clock is %s %s ours", DURATION(llabs(skew)),
                skew > 0 ? "ahead of" : "behind");
}

static void check_trust(const struct diagnosis_facts *facts)
{
    if (facts->counters->fabric.unverified)
        finding(facts, WARNING, "fm-verify",
                "remove [fm] verify = no, and set [fm] ca to what signed its certificate",
                "the fabric manager is not verified: any host on the network path can impersonate "
                "it and read its login and the jobs' tokens");
    if (strncmp(facts->core->link_url, "https:", 6) == 0 && !strcmp(facts->config->job_ca, "no"))
        finding(facts, WARNING, "job-ca",
                "set [hwcoll] job_ca to yes, or to a file that is on every node",
                "jobs do not verify the fabric manager: their tokens can be read on the network");
}

/* Jobs do not depend on it, so nothing of it is a problem. */
static void check_inventory(const struct diagnosis_facts *facts)
{
    static const char advice[] = "see the log (\"inventory:\"), and docs/inventory.md; or set "
                                 "[inventory] source to file or off";
    const struct inventory_facts *inventory = &facts->counters->inventory;
    const int64_t age = facts->now_ms - inventory->checked_ms;
    if (!inventory->reads || facts->core->link != LINK_UP)
        return;
    if (inventory->checked_ms > 0 && age < inventory->old_after_ms)
        finding(facts, OK, "inventory", NULL,
                "as it is at the fabric manager: %" PRIu32 " switches, as of %s ago",
                facts->counters->fabric_parts.switches, DURATION(age));
    else if (inventory->checked_ms > 0)
        finding(facts, WARNING, "inventory", advice, "what is known of the fabric is %s old%s%s",
                DURATION(age), inventory->error[0] ? ": " : "", inventory->error);
    else if (inventory->error[0])
        finding(facts, WARNING, "inventory", advice, "the fabric could not be read: %s",
                inventory->error);
}

static void check_releases(const struct diagnosis_facts *facts)
{
    if (facts->core->use.releases >= RELEASES_MANY)
        finding(facts, WARNING, "releases",
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
        finding(facts, PROBLEM, "neighbours",
                "give one of the two another name, none of which begins with the other",
                "cluster \"%s\" and \"%s\", which is at the fabric manager but not ours, begin "
                "alike: slurmctld takes what begins like its own name for its own",
                cluster->name, cluster->name_conflict);
    }
    if (!any && facts->core->link_listed_ms > 0)
        finding(facts, OK, "neighbours", NULL,
                "no name at the fabric manager is dangerously like one of ours");
}

/* ---- pools and sizes ---- */

static void check_vnis(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    enum finding_level level = OK;
    char whose[80] = "";
    if (core->vnis_held_most > 0)
        (void)snprintf(whose, sizeof whose, ", %" PRIu32 " of them for jobs of uid %" PRIu32,
                       core->vnis_held_most, core->vnis_held_most_uid);
    if (core->vnis_free < facts->config->vni_per_job || core->vnis_free == 0)
        level = PROBLEM;
    else if (core->vnis_free < core->vnis_pool / 20 ||
             core->vnis_in_quarantine > core->vnis_pool / 2 ||
             core->vnis_held_most > core->vnis_free)
        level = WARNING;
    finding(
        facts, level, "vnis",
        core->vnis_in_quarantine > core->vnis_live
            ? "most are quarantined: mcastctl list --held shows for which nodes; have them report "
              "(mcast-node), or choose a duration as [vni] hold"
        : core->vnis_in_quarantine > 0
            ? "mcastctl list --held shows for which nodes some are quarantined; else enlarge [vni] "
              "pool, if the fabric's partitions allow it"
            : "enlarge [vni] pool, if the fabric's partitions allow it",
        "%" PRIu32 " of %" PRIu32 " free, %" PRIu32 " in use, %" PRIu32 " quarantined%s",
        core->vnis_free, core->vnis_pool, core->vnis_live, core->vnis_in_quarantine, whose);
}

/* B2: they are never given out; but a pool that has them is smaller than it looks. */
static void check_partitions(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const struct reservation *user = facts->foreign_user;
    if (user)
        finding(facts, WARNING, "partitions",
                "it keeps its VNI until it ends; if the partition is right, end the job",
                "job %s of cluster %s has a VNI that belongs to another partition of the fabric "
                "now; in all %" PRIu32 " such VNIs are in use or quarantined",
                user->job, user->cluster, core->vnis_foreign_used);
    if (core->vnis_foreign > 0)
        finding(facts, WARNING, "partitions",
                "take them out of [vni] pool; or, if they are this broker's, name its partition in "
                "[vni] partition",
                "%" PRIu32 " of the %" PRIu32 " VNIs of [vni] pool belong to other partitions of "
                "the fabric, %s among them, and are given to no job",
                core->vnis_foreign, core->vnis_pool,
                facts->foreign_partition ? facts->foreign_partition : "?");
    if (!user && core->vnis_foreign == 0)
        finding(facts, OK, "partitions", NULL,
                "no VNI of the pool is known to belong to another partition");
}

/* What quarantines VNIs, and what was given back unconfirmed (F3, F9). */
static void check_nodes(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const bool silent = core->nodes_waited_ms > 0 && facts->now_ms - core->nodes_waited_ms > DAY_MS;
    if (core->nodes_lingering > 0)
        finding(facts, WARNING, "nodes",
                "mcastctl list --held names them, and mcast-node tend there says who uses what: "
                "drain and reboot them, or run mcastctl fence for those that are off",
                "on %" PRIu64
                " node%s CXI services of jobs cannot be destroyed; for these, %" PRIu64
                " VNI%s quarantined longer than [vni] hold",
                core->nodes_lingering, core->nodes_lingering == 1 ? "" : "s", core->vnis_overdue,
                core->vnis_overdue == 1 ? " is" : "s are");
    if (core->vnis_unconfirmed > 0)
        finding(facts, WARNING, "nodes",
                "see the log for the nodes, and that their epilogs reach the broker; [vni] hold "
                "= reports waits for them",
                "%" PRIu64 " VNI%s given back when [vni] hold was over, although not all nodes "
                "had reported that they are clean",
                core->vnis_unconfirmed, core->vnis_unconfirmed == 1 ? " was" : "s were");
    if (silent)
        finding(facts, WARNING, "nodes",
                "mcastctl list --held names them; see that their epilogs reach the broker, or run "
                "mcastctl fence for those that are off",
                "a job was released %s ago, and not all its nodes have reported",
                DURATION(facts->now_ms - core->nodes_waited_ms));
    if (core->nodes_lingering == 0 && core->vnis_unconfirmed == 0 && !silent)
        finding(facts, OK, "nodes", NULL,
                "no node reports services of jobs that cannot be destroyed");
}

/* After a start with an old ledger or none: a job that runs may share its VNI with the next. */
static void check_adopted(const struct diagnosis_facts *facts)
{
    const uint64_t adopted = facts->core->use.jobs_adopted;
    if (adopted > 0)
        finding(facts, WARNING, "adopted",
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
        finding(facts, WARNING, "cleanups",
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
        finding(facts, facts->config->min_nodes > 0 ? PROBLEM : WARNING, "sizing",
                "set [hwcoll] total_addresses, system_nodes and min_nodes, or addresses_per_job",
                "no job can get multicast addresses: %s", err.text);
    else
        finding(facts, OK, "sizing", NULL, "%" PRIu32 " multicast addresses for each job",
                addresses);
}

static void check_addresses(const struct diagnosis_facts *facts)
{
    const struct core_status *core = facts->core;
    const bool tight = core->use.addresses + core->addresses_per_job > core->addresses_total;
    if (!facts->config->fm_present || core->addresses_total == 0)
        return;
    finding(
        facts, tight ? WARNING : OK, "addresses",
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
        finding(facts, PROBLEM, "budgets", "raise the budget of [cluster] to that at least",
                "cluster \"%s\" may hold %" PRIu32 " multicast addresses, and one job gets %" PRIu32
                ": no job of it gets any",
                cluster->name, cluster->budget, each);
    else if (cluster->use.addresses + each > cluster->budget)
        finding(facts, WARNING, "budgets", "its jobs to come run without",
                "cluster \"%s\" has used %" PRIu64 " of its %" PRIu32 " multicast addresses",
                cluster->name, cluster->use.addresses, cluster->budget);
}

static void check_sync(const struct diagnosis_facts *facts,
                       const struct core_cluster_status *cluster)
{
    const int64_t compared =
        cluster->synced_ms > cluster->jobpoll_ms ? cluster->synced_ms : cluster->jobpoll_ms;
    const int64_t ago = facts->now_ms - (compared > 0 ? compared : facts->counters->started_ms);
    if (facts->plugins[cluster - facts->clusters])
        return; /* its slurmctld compares by itself */
    if (ago > DAY_MS && cluster->use.jobs_active > 0)
        finding(facts, WARNING, "sync",
                "set [cluster] list_command, or have the resource manager run mcastctl sync now "
                "and then: what is missed at its end is never released otherwise",
                "cluster \"%s\" has %" PRIu64
                " active jobs and has not reported for %s which of them still run",
                cluster->name, cluster->use.jobs_active, DURATION(ago));
    else if (compared > 0)
        finding(facts, OK, "sync", NULL, "cluster \"%s\" was compared %s ago", cluster->name,
                DURATION(ago));
}

static void check_list_command(const struct diagnosis_facts *facts,
                               const struct core_cluster_status *cluster)
{
    const int64_t failing = facts->now_ms - cluster->jobpoll_failing_ms;
    if (!cluster->jobpoll)
        return;
    if (cluster->jobpoll_error[0] != '\0')
        finding(facts, failing > LIST_PROBLEM_MS ? PROBLEM : WARNING, "list-command",
                "run it as the service's user (runuser -u mcastd -- env -i LANG=C.UTF-8 COMMAND) "
                "and correct what it reports; until it works, jobs whose end was missed keep what "
                "they have",
                "the list_command of cluster \"%s\" has failed for %s: %s", cluster->name,
                DURATION(failing), cluster->jobpoll_error);
    else if (cluster->jobpoll_ms > 0)
        finding(facts, OK, "list-command", NULL, "cluster \"%s\" named its active jobs %s ago",
                cluster->name, DURATION(facts->now_ms - cluster->jobpoll_ms));
}

/* Slurm's own plugin asks every 30 s, for the list (B9). */
static void check_plugin(const struct diagnosis_facts *facts, uint32_t index)
{
    const struct plugin_use *use = facts->plugins[index];
    const char *name = facts->clusters[index].name;
    const int64_t since = use && use->asked_ms > 0 ? use->asked_ms : facts->counters->started_ms;
    const int64_t ago = facts->now_ms - since;
    if (!use)
        return;
    if (ago > PLUGIN_SILENT_MS)
        finding(facts, WARNING, "plugin",
                "on slurmctld's host: mcastctl check slurm; its log, with DebugFlags=Switch",
                "the Slurm of cluster \"%s\" has %s for %s: slurmctld asks every 30 s, when fm_url "
                "is this broker's address",
                name, use->asked_ms == 0 ? "never asked, and the broker was there" : "not asked",
                DURATION(ago));
    else if (use->asked_ms == 0)
        finding(facts, OK, "plugin", NULL, "the Slurm of cluster \"%s\" has not asked yet", name);
    else
        finding(facts, OK, "plugin", NULL, "the Slurm of cluster \"%s\" asked %s ago", name,
                DURATION(ago));
    if (use->former_count > 0)
        finding(facts, WARNING, "former-login",
                "leave the file *.old in plugin_login until jobs that began before the change are "
                "over; if slurmctld shows it, its fm_authdir has not been changed",
                "the Slurm of cluster \"%s\" has shown its former login %" PRIu64
                " times since the last reload, the last time %s ago",
                name, use->former_count, DURATION(facts->now_ms - use->former_ms));
    else if (use->former_accepted)
        finding(facts, WARNING, "former-login",
                "when jobs that began before the change are over, remove the file *.old from "
                "plugin_login, and reload",
                "the former login of cluster \"%s\" is taken, and was not shown since the last "
                "reload",
                name);
}

static void check_plugins(const struct diagnosis_facts *facts)
{
    for (uint32_t i = 0; i < facts->config->cluster_count; i++)
        check_plugin(facts, i);
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

void jobdiagnosis_write(const struct diagnosis_facts *facts)
{
    static void (*const checks[])(const struct diagnosis_facts *) = {
        check_link,      check_reserve_wait, check_login,          check_clock,  check_trust,
        check_inventory, check_releases,     check_name_conflicts, check_vnis,   check_partitions,
        check_nodes,     check_adopted,      check_cleanups,       check_sizing, check_addresses,
        check_clusters,  check_plugins};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        checks[i](facts);
}
