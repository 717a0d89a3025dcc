/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/judge.h"

#include <string.h>

/* Of the fabric manager and the resource managers. */

enum {
    PLUGIN_S = 300,       /* Slurm's own plugin asks every 30 s */
    CLOCK_MS = 60 * 1000, /* so far apart, logins and certificates begin to fail */
    FAILED_MIN = 3,       /* reserves in a row: it is not about one job */
};

void judge_link(struct verdict *verdict)
{
    static const char fm[] = "fabric_manager";
    const json_t *root = verdict->root;
    const char *link = judge_text(root, fm, "link"), *error = judge_text(root, fm, "last_error");
    const char *role = judge_text(root, NULL, "role"), *advice = judge_text(root, fm, "advice");
    const char *list_error = judge_text(root, fm, "list_error");
    const long long failed = judge_count(root, fm, "reserves_failed");
    if (!judge_text(root, fm, "url")[0] || strcmp(role, "standby") == 0 ||
        strcmp(role, "starting") == 0) /* it does not ask it */
        return;
    if (strcmp(link, "up") != 0)
        judge_fault(verdict, advice[0] ? advice : "wait a minute, then ask again; mcastctl doctor",
                    "NO FABRIC MANAGER%s: %s; jobs run without hardware collectives",
                    FOR(verdict, judge_text(root, fm, "since")), error[0] ? error : link);
    else if (failed >= FAILED_MIN)
        judge_fault(
            verdict,
            "see the fabric manager's own log; 507: it has fewer addresses left than [hwcoll] "
            "total_addresses says",
            "THE FABRIC MANAGER RESERVES NOTHING%s, %lld times in a row: %s; jobs run without "
            "hardware collectives",
            FOR(verdict, judge_text(root, fm, "reserves_failing_since")), failed,
            judge_text(root, fm, "reserve_error"));
    else if (list_error[0])
        judge_fault(
            verdict, "see the fabric manager's own log; it is asked again",
            "THE FABRIC MANAGER'S LIST OF JOBS CANNOT BE USED%s, so losses and leftovers are not "
            "found: %s",
            FOR(verdict, judge_text(root, fm, "listed")), list_error);
}

/* F19 */
void judge_cleanups(struct verdict *verdict)
{
    const long long given_up = judge_count(verdict->root, "cleanups", "given_up");
    if (given_up > 0)
        judge_fault(
            verdict,
            "journalctl -u mcastd, \"are not removed\"; [hwcoll] cleanup_login in tokens.md",
            "THE TREES OF %lld STEP%s COULD NOT BE REMOVED since the start", given_up,
            given_up == 1 ? "" : "S");
}

void judge_verify(struct verdict *verdict)
{
    const json_t *fm = json_object_get(verdict->root, "fabric_manager");
    const long long apart = json_integer_value(json_object_get(fm, "clock_apart_ms"));
    if (json_is_false(json_object_get(fm, "verify")))
        judge_fault(
            verdict, "remove verify = no, set [fm] ca to what signed its certificate, reload",
            "THE FABRIC MANAGER IS NOT VERIFIED ([fm] verify = no): anyone on the way can pose "
            "as it");
    if (apart >= CLOCK_MS)
        judge_fault(verdict, "set both by NTP: logins and certificates depend on it",
                    "THE FABRIC MANAGER'S CLOCK IS %lld s %s the broker's", apart / 1000,
                    json_is_true(json_object_get(fm, "clock_ahead")) ? "ahead of" : "behind");
}

void judge_lists(struct verdict *verdict)
{
    char names[JUDGE_NAMES_SIZE] = "";
    size_t i;
    const json_t *cluster, *first = NULL;
    long long count = 0;
    json_array_foreach(json_object_get(verdict->root, "clusters"), i, cluster)
    {
        if (!judge_text(cluster, NULL, "list_error")[0])
            continue;
        first = first ? first : cluster;
        judge_add_name(names, count++, judge_text(cluster, NULL, "name"));
    }
    if (count > 0)
        judge_fault(
            verdict,
            "run list_command as the service's user: runuser -u mcastd -- env -i LANG=C.UTF-8 "
            "COMMAND",
            "THE ACTIVE JOBS OF %s CANNOT BE LISTED%s, so missed ends are not found: %s", names,
            FOR(verdict, judge_text(first, NULL, "list_failing_since")),
            judge_text(first, NULL, "list_error"));
}

/* B9: slurmctld asks every 30 s. */
void judge_plugins(struct verdict *verdict)
{
    char names[JUDGE_NAMES_SIZE] = "";
    long long count = 0;
    size_t i;
    const json_t *cluster;
    json_array_foreach(json_object_get(verdict->root, "clusters"), i, cluster)
    {
        const char *asked = judge_text(cluster, "plugin", "asked");
        if (!json_object_get(cluster, "plugin"))
            continue;
        if (!asked[0])
            asked = judge_text(verdict->root, NULL, "started");
        if (judge_seconds_until(verdict, asked) < -PLUGIN_S)
            judge_add_name(names, count++, judge_text(cluster, NULL, "name"));
    }
    if (count > 0)
        judge_fault(
            verdict, "on slurmctld's host: mcastctl check slurm",
            "THE SLURM OF %s HAS NOT ASKED for more than %d min: its steps get no addresses", names,
            PLUGIN_S / 60);
}
