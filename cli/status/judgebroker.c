/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/judge.h"
#include "cli/plain.h"
#include "cli/status/brokers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Of the broker itself. */

enum {
    SOON_S = 7 * 86400,
    ABSENCE_MS = 10 * 1000, /* of the loop */
};

/* Of several brokers that were asked, the one at this address; NULL: it was not. */
static const json_t *find_listed(const json_t *root, const char *url)
{
    const json_t *broker;
    size_t i;
    json_array_foreach(json_object_get(root, "brokers"), i, broker)
    {
        if (strcmp(judge_text(broker, NULL, "url"), url) == 0)
            return broker;
    }
    return NULL;
}

/* No broker that was asked leads. leader: which one does, as this one knows it, or "". */
static void judge_no_leader(struct verdict *verdict, const char *leader)
{
    static const char etcd[] =
        "see that etcd runs (etcdctl endpoint health), and mcastd on each host of the brokers";
    const json_t *root = verdict->root, *listed = find_listed(root, leader);
    char step[640];
    if (listed && judge_text(listed, NULL, "error")[0])
        judge_fault(verdict,
                    "ask again in half a minute; if it still leads then: systemctl status mcastd "
                    "on its host",
                    "THE LEADER %s DOES NOT ANSWER: %s; a standby takes over when its lease ends",
                    leader, judge_text(listed, NULL, "error"));
    else if (leader[0] && json_object_get(root, "brokers") && !listed) {
        (void)snprintf(step, sizeof step,
                       "mcastctl --url %.512s status; add it to --url or MCAST_URL", leader);
        judge_fault(verdict, step,
                    "THE LEADER %s IS NOT AMONG THOSE THAT ANSWER, which know no jobs", leader);
    } else if (leader[0]) {
        plain_printf(
            "This broker is a standby, which knows no jobs; %s leads: ask that one (--url).\n",
            leader);
        verdict->lines++;
    } else
        judge_fault(verdict, etcd,
                    "NO BROKER LEADS, so nothing is reserved or released: this one is %s",
                    judge_text(root, NULL, "role"));
}

/* Of several that were asked. */
void judge_leaders(struct verdict *verdict)
{
    const char *rival = brokers_rival(verdict->root);
    if (rival)
        judge_fault(
            verdict,
            "list only those of one fabric in --url and MCAST_URL; if they are of one: stop "
            "the wrong one, and set [state] store = etcd on both",
            "TWO BROKERS LEAD, %s and %s: they share no ledger; below is the first one's "
            "status",
            judge_text(verdict->root, NULL, "url"), rival);
}

void judge_role(struct verdict *verdict)
{
    const json_t *root = verdict->root;
    const char *role = judge_text(root, NULL, "role");
    const char *since = judge_text(root, "leadership", "unreachable_since");
    if (since[0])
        judge_fault(verdict,
                    "etcdctl endpoint health; see that this host reaches [state] endpoints",
                    "ETCD DOES NOT ANSWER%s: %s", FOR(verdict, since),
                    judge_text(root, "leadership", "last_error"));
    if (!role[0] || strcmp(role, "leader") == 0)
        return;
    if (!json_object_get(root, "leadership"))
        judge_fault(verdict, "wait until it has loaded its ledger; journalctl -u mcastd",
                    "NOT SERVING: this broker is %s", role);
    else
        judge_no_leader(
            verdict, strcmp(role, "standby") == 0 ? judge_text(root, "leadership", "leader") : "");
}

/* Of several that were asked. */
void judge_listed(struct verdict *verdict)
{
    const json_t *root = verdict->root, *broker;
    const char *leader = strcmp(judge_text(root, NULL, "role"), "leader") == 0
                             ? ""
                             : judge_text(root, "leadership", "leader");
    size_t i;
    json_array_foreach(json_object_get(root, "brokers"), i, broker)
    {
        const char *url = judge_text(broker, NULL, "url"),
                   *error = judge_text(broker, NULL, "error");
        if (error[0] && strcmp(url, leader) != 0) /* of the leader it is told already */
            judge_fault(verdict,
                        "on its host: systemctl status mcastd; or take it out of --url and "
                        "MCAST_URL",
                        "THE BROKER %s DOES NOT ANSWER: %s", url, error);
    }
}

void judge_storage(struct verdict *verdict)
{
    const char *error = judge_text(verdict->root, "commits", "storage_error");
    if (error[0])
        judge_fault(
            verdict,
            json_object_get(verdict->root, "leadership")
                ? "etcdctl alarm list; NOSPACE: compact, defragment, disarm; do not restart mcastd"
                : "free space there, or repair the disk; do not restart mcastd, it goes on by "
                  "itself",
            "NOTHING CAN BE SAVED%s, so nothing is granted: %s",
            FOR(verdict, judge_text(verdict->root, "commits", "storage_failing_since")), error);
}

static void judge_certificate(struct verdict *verdict, bool ended)
{
    static const char step[] = "renew [broker] tls_cert and tls_key, then: systemctl reload mcastd";
    const char *end = judge_text(verdict->root, NULL, "certificate_expires");
    const double left = judge_seconds_until(verdict, end);
    char age[AGE_SIZE];
    age_between(end, verdict->now, age);
    if (ended && left < 0)
        judge_fault(verdict, step,
                    "THE BROKER'S CERTIFICATE ENDED %s ago: no client can connect over TCP", age);
    else if (!ended && left > 0 && left < SOON_S)
        judge_fault(verdict, step, "THE BROKER'S CERTIFICATE ends in %s", age);
}

void judge_ended(struct verdict *verdict)
{
    judge_certificate(verdict, true);
}

void judge_munge(struct verdict *verdict)
{
    const char *since = judge_text(verdict->root, NULL, "munged_away_since");
    if (since[0])
        judge_fault(verdict, "on the broker's host: systemctl status munge",
                    "MUNGED DOES NOT ANSWER the broker%s: who proves himself by MUNGE is refused",
                    FOR(verdict, since));
}

void judge_service(struct verdict *verdict)
{
    const long long open = judge_count(verdict->root, "connections", "open");
    const long long max = judge_count(verdict->root, "connections", "max");
    const long long absence =
        json_integer_value(json_object_get(verdict->root, "loop_absence_max_ms"));
    if (max > 0 && open >= max)
        judge_fault(verdict, "see who holds them (ss -xp, ss -tp); raise [broker] connections_max",
                    "ALL %lld CONNECTIONS ARE TAKEN: others are refused", max);
    if (absence >= ABSENCE_MS)
        judge_fault(
            verdict, "see whether this machine swaps, or something else takes its processors",
            "THE BROKER ANSWERED NO REQUEST for %lld s, in the last five minutes", absence / 1000);
}

void judge_alarms(struct verdict *verdict)
{
    size_t i;
    const json_t *alarm;
    json_array_foreach(json_object_get(verdict->root, "alarms"), i, alarm)
    {
        const char *cluster = judge_text(alarm, NULL, "cluster");
        judge_fault(verdict, judge_text(alarm, NULL, "advice"), "ALARM %s%s%s%s: %s",
                    judge_text(alarm, NULL, "kind"), cluster[0] ? " of cluster " : "", cluster,
                    FOR(verdict, judge_text(alarm, NULL, "since")),
                    judge_text(alarm, NULL, "detail"));
    }
}

/* Of a broker that leads (B7). */
void judge_standbys(struct verdict *verdict)
{
    const json_t *root = verdict->root;
    const json_t *leadership = json_object_get(root, "leadership"), *standby;
    const json_t *standbys = json_object_get(leadership, "standbys");
    const char *version = judge_text(root, NULL, "version");
    const char *configuration = judge_text(leadership, NULL, "configuration");
    size_t i;
    if (standbys && json_array_size(standbys) == 0 &&
        strcmp(judge_text(root, NULL, "role"), "standby") != 0)
        judge_fault(verdict, "on the other hosts: systemctl status mcastd, and start it",
                    "NO STANDBY: if this broker fails, none takes over");
    json_array_foreach(standbys, i, standby)
    {
        const char *url = judge_text(standby, NULL, "url");
        if (strcmp(judge_text(standby, NULL, "version"), version) != 0)
            judge_fault(verdict, "install the same version on all brokers",
                        "THE STANDBY %s HAS VERSION %s, this broker %s", url,
                        judge_text(standby, NULL, "version"), version);
        if (strcmp(judge_text(standby, NULL, "configuration"), configuration) != 0)
            judge_fault(verdict, "compare mcastd.conf and conf.d of both hosts, then reload",
                        "THE STANDBY %s HAS ANOTHER CONFIGURATION than this broker", url);
    }
}

void judge_reload(struct verdict *verdict)
{
    char age[AGE_SIZE];
    const char *error = judge_text(verdict->root, NULL, "reload_error");
    age_between(judge_text(verdict->root, NULL, "reloaded"), verdict->now, age);
    if (json_is_true(json_object_get(verdict->root, "reload_refused")))
        judge_fault(verdict,
                    "mcastd --check, with the --config FILE that it was started with; correct what "
                    "it names, then: systemctl reload mcastd",
                    "THE LAST RELOAD WAS REFUSED%s%s%s, what was in force before still is%s%s",
                    age[0] ? " " : "", age, age[0] ? " ago" : "", error[0] ? ": " : "", error);
}

void judge_ending(struct verdict *verdict)
{
    judge_certificate(verdict, false);
}
