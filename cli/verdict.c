/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verdict.h"
#include "base/memory.h"
#include "cli/age.h"
#include "cli/command.h"
#include "cli/plain.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SOON_S = 7 * 86400,
    ABSENCE_MS = 10 * 1000, /* of the loop */
    PLUGIN_S = 300,         /* Slurm's own plugin asks every 30 s */
    SILENT_S = 86400,       /* nodes that have not reported for so long are not just slow */
    CLOCK_MS = 60 * 1000,   /* so far apart, logins and certificates begin to fail */
    WIDTH = 80,             /* where there is no terminal */
    CAUSE_MAX = 3 * WIDTH,  /* of one fault, in bytes */
    FAILED_MIN = 3,         /* reserves in a row: it is not about one job */
    NAMES_MAX = 3,          /* that a line names; of the others it has the number */
};

/* Each fault: cause, since when, what it means for jobs, and below it what to do. */
struct verdict {
    const json_t *root;
    time_t now;
    size_t width, lines, lines_max, faults, hidden;
};

/* step: what to do. */
__attribute__((format(printf, 3, 4))) static void fault(struct verdict *verdict, const char *step,
                                                        const char *format, ...)
{
    char *cause = NULL, *plain = memory_text(step);
    va_list args;
    va_start(args, format);
    memory_must(vasprintf(&cause, format, args) >= 0 ? cause : NULL);
    va_end(args);
    verdict->faults++;
    if (verdict->lines >= verdict->lines_max) {
        verdict->hidden++;
    } else {
        plain_make(cause);
        plain_make(plain);
        if (strlen(cause) > CAUSE_MAX)
            strcpy(cause + plain_cut(cause, CAUSE_MAX - 3), "...");
        plain_colour(PLAIN_BAD);
        verdict->lines += plain_wrapped(verdict->width, 0, "", cause);
        plain_colour(PLAIN_NORMAL);
        verdict->lines += plain_wrapped(verdict->width, 2, "→ ", plain);
    }
    free(cause);
    free(plain);
}

/* ---- what there is ---- */

/* Of root, or of an object in it; "" for none. */
static const char *text_of(const json_t *root, const char *object, const char *name)
{
    const char *text = command_text(object ? json_object_get(root, object) : root, name);
    return text ? text : "";
}

/* 0 for none. */
static long long count_of(const json_t *root, const char *object, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(root, object), name));
}

/* " for 3 min"; "" where it is not known. */
#define FOR(verdict, when) for_age((verdict), (when), (char[AGE_SIZE + 8]){""})
static const char *for_age(const struct verdict *verdict, const char *when, char *out)
{
    char age[AGE_SIZE];
    age_between(when, verdict->now, age);
    if (age[0])
        (void)snprintf(out, AGE_SIZE + 8, " for %s", age);
    return out;
}

/* Seconds until then, below 0 since then; 0: it is no time. */
static double seconds_until(const struct verdict *verdict, const char *when)
{
    struct tm parts = {0};
    return strptime(when, "%Y-%m-%dT%H:%M:%S", &parts) ? difftime(timegm(&parts), verdict->now) : 0;
}

/* ---- nothing starts ---- */

static void judge_role(struct verdict *verdict)
{
    const json_t *root = verdict->root;
    const char *role = text_of(root, NULL, "role");
    const char *leader = text_of(root, "leadership", "leader");
    const char *since = text_of(root, "leadership", "unreachable_since");
    if (since[0])
        fault(verdict, "etcdctl endpoint health; see that this host reaches [state] endpoints",
              "ETCD DOES NOT ANSWER%s: %s", FOR(verdict, since),
              text_of(root, "leadership", "last_error"));
    if (!role[0] || strcmp(role, "leader") == 0)
        return;
    if (leader[0] && strcmp(role, "standby") == 0) {
        plain_printf("This broker is a standby, which knows no jobs; %s leads.\n", leader);
        verdict->lines++;
    } else
        fault(verdict,
              json_object_get(root, "leadership")
                  ? "see that etcd runs (etcdctl endpoint health), and mcastd on the other hosts"
                  : "wait until it has loaded its ledger; journalctl -u mcastd",
              "NOT SERVING: this broker is %s%s", role,
              json_object_get(root, "leadership") ? ", and no broker is known to lead" : "");
}

static void judge_storage(struct verdict *verdict)
{
    const char *error = text_of(verdict->root, "commits", "storage_error");
    if (error[0])
        fault(
            verdict,
            json_object_get(verdict->root, "leadership")
                ? "etcdctl alarm list; NOSPACE: compact, defragment, disarm; do not restart mcastd"
                : "free space there, or repair the disk; do not restart mcastd, it goes on by "
                  "itself",
            "NOTHING CAN BE SAVED%s, so nothing is granted: %s",
            FOR(verdict, text_of(verdict->root, "commits", "storage_failing_since")), error);
}

static void judge_certificate(struct verdict *verdict, bool ended)
{
    static const char step[] = "renew [broker] tls_cert and tls_key, then: systemctl reload mcastd";
    const char *end = text_of(verdict->root, NULL, "certificate_expires");
    const double left = seconds_until(verdict, end);
    char age[AGE_SIZE];
    age_between(end, verdict->now, age);
    if (ended && left < 0)
        fault(verdict, step,
              "THE BROKER'S CERTIFICATE ENDED %s ago: nobody can connect to it over TCP", age);
    else if (!ended && left > 0 && left < SOON_S)
        fault(verdict, step, "THE BROKER'S CERTIFICATE ends in %s", age);
}

static void judge_ended(struct verdict *verdict)
{
    judge_certificate(verdict, true);
}

static void judge_munge(struct verdict *verdict)
{
    const char *since = text_of(verdict->root, NULL, "munged_away_since");
    if (since[0])
        fault(verdict, "on the broker's host: systemctl status munge",
              "MUNGED DOES NOT ANSWER the broker%s: who proves himself by MUNGE is refused",
              FOR(verdict, since));
}

static const char *user_name(long long uid, char out[static 32])
{
    const struct passwd *user = getpwuid((uid_t)uid);
    if (user)
        (void)snprintf(out, 32, "%.31s", user->pw_name);
    else
        (void)snprintf(out, 32, "uid %lld", uid);
    return out;
}

/* ", 4711 of them for jobs of USER"; only admins are told. */
static const char *most_of(const struct verdict *verdict, char out[static 96])
{
    char name[32];
    const long long most = count_of(verdict->root, "vnis", "held_most");
    const json_t *uid = json_object_get(json_object_get(verdict->root, "vnis"), "held_most_uid");
    out[0] = '\0';
    if (json_is_integer(uid) && most > 0)
        (void)snprintf(out, 96, ", %lld of them for jobs of %s", most,
                       user_name(json_integer_value(uid), name));
    return out;
}

static void judge_vnis(struct verdict *verdict)
{
    char most[96];
    const json_t *root = verdict->root, *vnis = json_object_get(root, "vnis");
    const long long held = count_of(root, "vnis", "held"), pool = count_of(root, "vnis", "pool");
    const long long free = count_of(root, "vnis", "free"), live = count_of(root, "vnis", "live");
    const char *oldest = text_of(root, "nodes", "waited_since");
    const bool none = json_is_integer(json_object_get(vnis, "free")) && free == 0;
    static const char report[] =
        "mcastctl list --held says for which nodes; have them report, or mcastctl fence those that "
        "are off";
    static const char list[] =
        "mcastctl list --held says for which nodes; for jobs that are over but active: set "
        "list_command of the cluster, or mcastctl sync; else give [vni] pool more";
    const char *active = strchr(list, ';') + 2; /* none is held */
    const long long suspect = count_of(root, "vnis", "quarantined");
    if (none && suspect > 0)
        fault(verdict, "see the alarm old-ledger, and what ends it",
              "NO VNI IS FREE: %lld may be in use by jobs that this ledger does not know", suspect);
    else if (none)
        fault(verdict,
              held > live ? report
              : held > 0  ? list
                          : active,
              "NO VNI IS FREE%s: jobs that need one cannot start; %lld in use, %lld held after "
              "their jobs%s",
              FOR(verdict, text_of(root, "vnis", "none_since")), live, held,
              most_of(verdict, most));
    else if (held > pool / 2)
        fault(verdict, report,
              "%lld OF %lld VNIS ARE HELD after their jobs, the longest%s%s: %lld are free", held,
              pool, oldest[0] ? FOR(verdict, oldest) : " for a time that is not known",
              most_of(verdict, most), free);
    else if (oldest[0] && seconds_until(verdict, oldest) < -SILENT_S)
        fault(verdict, report, "NODES HAVE NOT REPORTED%s: %lld VNIs are held after their jobs",
              FOR(verdict, oldest), held);
}

static void judge_partition_keys(struct verdict *verdict)
{
    const long long pool = count_of(verdict->root, "partition_keys", "pool");
    if (pool > 0 && count_of(verdict->root, "partition_keys", "free") == 0)
        fault(verdict, "wait for jobs to end; for good: more [omnipath] partition_keys",
              "NO PARTITION KEY IS FREE of %lld: jobs that need one cannot start", pool);
}

static void judge_service(struct verdict *verdict)
{
    const long long open = count_of(verdict->root, "connections", "open");
    const long long max = count_of(verdict->root, "connections", "max");
    const long long absence =
        json_integer_value(json_object_get(verdict->root, "loop_absence_max_ms"));
    if (max > 0 && open >= max)
        fault(verdict, "see who holds them (ss -xp, ss -tp); raise [broker] connections_max",
              "ALL %lld CONNECTIONS ARE TAKEN: others are refused", max);
    if (absence >= ABSENCE_MS)
        fault(verdict, "see whether this machine swaps, or something else takes its processors",
              "THE BROKER ANSWERED NOBODY for %lld s, in the last five minutes", absence / 1000);
}

/* ---- the broker holds back ---- */

static void judge_alarms(struct verdict *verdict)
{
    size_t i;
    const json_t *alarm;
    json_array_foreach(json_object_get(verdict->root, "alarms"), i, alarm)
    {
        const char *cluster = text_of(alarm, NULL, "cluster");
        fault(verdict, text_of(alarm, NULL, "advice"), "ALARM %s%s%s%s: %s",
              text_of(alarm, NULL, "kind"), cluster[0] ? " of cluster " : "", cluster,
              FOR(verdict, text_of(alarm, NULL, "since")), text_of(alarm, NULL, "detail"));
    }
}

/* ---- jobs run without ---- */

static void judge_link(struct verdict *verdict)
{
    static const char fm[] = "fabric_manager";
    const json_t *root = verdict->root;
    const char *link = text_of(root, fm, "link"), *error = text_of(root, fm, "last_error");
    const char *role = text_of(root, NULL, "role"), *advice = text_of(root, fm, "advice");
    const char *list_error = text_of(root, fm, "list_error");
    const long long failed = count_of(root, fm, "reserves_failed");
    if (!text_of(root, fm, "url")[0] || strcmp(role, "standby") == 0 ||
        strcmp(role, "starting") == 0) /* it does not ask it */
        return;
    if (strcmp(link, "up") != 0)
        fault(verdict, advice[0] ? advice : "wait a minute, then ask again; mcastctl doctor",
              "NO FABRIC MANAGER%s: %s; jobs run without hardware collectives",
              FOR(verdict, text_of(root, fm, "since")), error[0] ? error : link);
    else if (failed >= FAILED_MIN)
        fault(verdict,
              "see the fabric manager's own log; 507: it has fewer addresses left than [hwcoll] "
              "total_addresses says",
              "THE FABRIC MANAGER RESERVES NOTHING%s, %lld times in a row: %s; jobs run without "
              "hardware collectives",
              FOR(verdict, text_of(root, fm, "reserves_failing_since")), failed,
              text_of(root, fm, "reserve_error"));
    else if (list_error[0])
        fault(verdict, "see the fabric manager's own log; it is asked again",
              "THE FABRIC MANAGER'S LIST OF JOBS CANNOT BE USED%s, so losses and leftovers are not "
              "found: %s",
              FOR(verdict, text_of(root, fm, "listed")), list_error);
}

static void judge_addresses(struct verdict *verdict)
{
    const json_t *root = verdict->root;
    const long long total = count_of(root, "addresses", "total");
    const long long reserved = count_of(root, "addresses", "reserved");
    const long long each = count_of(root, "addresses", "per_job");
    if (total > 0 && reserved + (each > 0 ? each : 1) > total)
        fault(verdict,
              "wait for jobs to end; for good: fewer [hwcoll] addresses_per_job, or a higher "
              "min_nodes (mcastctl plan)",
              "ALL ADDRESSES ARE RESERVED%s (%lld of %lld, %lld a job): jobs that start now run "
              "without hardware collectives",
              FOR(verdict, text_of(root, "addresses", "full_since")), reserved, total, each);
}

/* Of the first, and how many more there are. */
static void add_name(char *names, size_t size, long long index, const char *name)
{
    const char *rest = strstr(names, " and ");
    const size_t length = rest ? (size_t)(rest - names) : strlen(names);
    if (index < NAMES_MAX)
        (void)snprintf(names + length, size - length, "%s%.40s", index > 0 ? ", " : "", name);
    else
        (void)snprintf(names + length, size - length, " and %lld more", index + 1 - NAMES_MAX);
}

static void judge_budgets(struct verdict *verdict)
{
    const long long each = count_of(verdict->root, "addresses", "per_job");
    char names[256] = "", name[64];
    long long count = 0;
    size_t i;
    const json_t *cluster;
    json_array_foreach(json_object_get(verdict->root, "clusters"), i, cluster)
    {
        const long long budget = json_integer_value(json_object_get(cluster, "budget"));
        const long long used = json_integer_value(json_object_get(cluster, "addresses"));
        if (budget <= 0 || used + each <= budget)
            continue;
        (void)snprintf(name, sizeof name, "%.20s (%lld of %lld)", text_of(cluster, NULL, "name"),
                       used, budget);
        add_name(names, sizeof names, count++, name);
    }
    if (count > 0)
        fault(verdict, "wait for jobs to end, or raise budget in [cluster \"NAME\"] and reload",
              "THE BUDGET%s OF %s %s USED UP: jobs that start there now run without hardware "
              "collectives",
              count > 1 ? "S" : "", names, count > 1 ? "ARE" : "IS");
}

/* ---- what else is to be done ---- */

/* F9: whose nodes are to be drained. */
static void judge_nodes(struct verdict *verdict)
{
    const long long lingering = count_of(verdict->root, "nodes", "lingering");
    const char *first = text_of(verdict->root, "nodes", "lingering_first");
    if (lingering > 0)
        fault(verdict, "drain them; mcastctl list --held names them; reboot, or mcastctl fence",
              "SERVICES OF JOBS WILL NOT GO ON %lld NODE%s%s%s; their VNIs stay quarantined",
              lingering, lingering == 1 ? "" : "S",
              !first[0]        ? ""
              : lingering == 1 ? ": "
                               : ", the first is ",
              first);
}

/* Their traffic may mix with other jobs'. */
static void judge_adopted(struct verdict *verdict)
{
    const long long adopted = count_of(verdict->root, "jobs", "adopted");
    if (adopted > 0)
        fault(verdict, "until they have ended set [vni] pool to others: \"Backups\" in state.md",
              "%lld ACTIVE JOB%s FOUND WITHOUT %s VNIS: these may be given out again", adopted,
              adopted == 1 ? " WAS" : "S WERE", adopted == 1 ? "ITS" : "THEIR");
}

/* Of a broker that leads (B7). */
static void judge_standbys(struct verdict *verdict)
{
    const json_t *root = verdict->root;
    const json_t *leadership = json_object_get(root, "leadership"), *standby;
    const json_t *standbys = json_object_get(leadership, "standbys");
    const char *version = text_of(root, NULL, "version");
    const char *configuration = text_of(leadership, NULL, "configuration");
    size_t i;
    if (standbys && json_array_size(standbys) == 0 &&
        strcmp(text_of(root, NULL, "role"), "standby") != 0)
        fault(verdict, "on the other hosts: systemctl status mcastd, and start it",
              "NO STANDBY: if this broker fails, none takes over");
    json_array_foreach(standbys, i, standby)
    {
        const char *url = text_of(standby, NULL, "url");
        if (strcmp(text_of(standby, NULL, "version"), version) != 0)
            fault(verdict, "install the same version on all brokers",
                  "THE STANDBY %s HAS VERSION %s, this broker %s", url,
                  text_of(standby, NULL, "version"), version);
        if (strcmp(text_of(standby, NULL, "configuration"), configuration) != 0)
            fault(verdict, "compare mcastd.conf and conf.d of both hosts, then reload",
                  "THE STANDBY %s HAS ANOTHER CONFIGURATION than this broker", url);
    }
}

/* F19 */
static void judge_cleanups(struct verdict *verdict)
{
    const long long given_up = count_of(verdict->root, "cleanups", "given_up");
    if (given_up > 0)
        fault(verdict,
              "journalctl -u mcastd, \"are not removed\"; [hwcoll] cleanup_login in tokens.md",
              "THE TREES OF %lld STEP%s COULD NOT BE REMOVED since the start", given_up,
              given_up == 1 ? "" : "S");
}

static void judge_verify(struct verdict *verdict)
{
    const json_t *fm = json_object_get(verdict->root, "fabric_manager");
    const long long apart = json_integer_value(json_object_get(fm, "clock_apart_ms"));
    if (json_is_false(json_object_get(fm, "verify")))
        fault(verdict, "remove verify = no, set [fm] ca to what signed its certificate, reload",
              "THE FABRIC MANAGER IS NOT VERIFIED ([fm] verify = no): anyone on the way can pose "
              "as it");
    if (apart >= CLOCK_MS)
        fault(verdict, "set both by NTP: logins and certificates depend on it",
              "THE FABRIC MANAGER'S CLOCK IS %lld s %s the broker's", apart / 1000,
              json_is_true(json_object_get(fm, "clock_ahead")) ? "ahead of" : "behind");
}

static void judge_reload(struct verdict *verdict)
{
    char age[AGE_SIZE];
    const char *error = text_of(verdict->root, NULL, "reload_error");
    age_between(text_of(verdict->root, NULL, "reloaded"), verdict->now, age);
    if (json_is_true(json_object_get(verdict->root, "reload_refused")))
        fault(verdict, "mcastd --check; correct what it names, then: systemctl reload mcastd",
              "THE LAST RELOAD WAS REFUSED%s%s%s, what was in force before still is%s%s",
              age[0] ? " " : "", age, age[0] ? " ago" : "", error[0] ? ": " : "", error);
}

static void judge_lists(struct verdict *verdict)
{
    char names[256] = "";
    size_t i;
    const json_t *cluster, *first = NULL;
    long long count = 0;
    json_array_foreach(json_object_get(verdict->root, "clusters"), i, cluster)
    {
        if (!text_of(cluster, NULL, "list_error")[0])
            continue;
        first = first ? first : cluster;
        add_name(names, sizeof names, count++, text_of(cluster, NULL, "name"));
    }
    if (count > 0)
        fault(verdict,
              "run list_command as the service's user: runuser -u mcastd -- env -i LANG=C.UTF-8 "
              "COMMAND",
              "THE ACTIVE JOBS OF %s CANNOT BE LISTED%s, so missed ends are not found: %s", names,
              FOR(verdict, text_of(first, NULL, "list_failing_since")),
              text_of(first, NULL, "list_error"));
}

/* B9: slurmctld asks every 30 s. */
static void judge_plugins(struct verdict *verdict)
{
    char names[256] = "";
    long long count = 0;
    size_t i;
    const json_t *cluster;
    json_array_foreach(json_object_get(verdict->root, "clusters"), i, cluster)
    {
        const char *asked = text_of(cluster, "plugin", "asked");
        if (!json_object_get(cluster, "plugin"))
            continue;
        if (!asked[0])
            asked = text_of(verdict->root, NULL, "started");
        if (seconds_until(verdict, asked) < -PLUGIN_S)
            add_name(names, sizeof names, count++, text_of(cluster, NULL, "name"));
    }
    if (count > 0)
        fault(verdict, "on slurmctld's host: mcastctl check slurm",
              "THE SLURM OF %s HAS NOT ASKED for more than %d min: its steps get no addresses",
              names, PLUGIN_S / 60);
}

/* B2 */
static void judge_partitions(struct verdict *verdict)
{
    const long long used = count_of(verdict->root, "vnis", "other_partitions_used");
    if (used > 0)
        fault(verdict, "mcastctl doctor names the job; if the partition is right, end it",
              "%lld VNI%s OF JOBS NOW BELONG%s TO OTHER PARTITIONS of the fabric", used,
              used == 1 ? "" : "S", used == 1 ? "S" : "");
}

static void judge_ending(struct verdict *verdict)
{
    judge_certificate(verdict, false);
}

size_t verdict_print(const json_t *root, size_t height)
{
    static void (*const judges[])(struct verdict *) = {
        judge_role,     judge_storage,        judge_ended,   judge_munge,   judge_service,
        judge_vnis,     judge_partition_keys, judge_alarms,  judge_link,    judge_addresses,
        judge_budgets,  judge_nodes,          judge_adopted, judge_plugins, judge_partitions,
        judge_standbys, judge_cleanups,       judge_verify,  judge_reload,  judge_lists,
        judge_ending,
    };
    struct verdict verdict = {
        .root = root, .now = time(NULL), .width = plain_width(WIDTH), .lines_max = height / 3};
    for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++)
        judges[i](&verdict);
    plain_colour(verdict.faults > 0 ? PLAIN_NORMAL : PLAIN_GOOD);
    if (verdict.hidden > 0)
        printf("And %zu more fault%s: mcastctl doctor\n", verdict.hidden,
               verdict.hidden == 1 ? "" : "s");
    else
        puts(verdict.faults > 0 ? "What else is wrong, and why: mcastctl doctor" : "All is well.");
    plain_colour(PLAIN_NORMAL);
    return verdict.lines + 1;
}
