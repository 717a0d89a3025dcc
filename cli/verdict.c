/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verdict.h"
#include "cli/command.h"
#include "cli/plain.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SOON_S = 7 * 86400 };

/* Each fault, with what it means for jobs. */

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

/* Each returns whether it has found a fault. */

static bool print_alarms(const json_t *root)
{
    size_t i;
    const json_t *alarm, *alarms = json_object_get(root, "alarms");
    json_array_foreach(alarms, i, alarm)
    {
        const char *cluster = text_of(alarm, NULL, "cluster");
        plain_printf("ALARM %s%s%s since %s: %s; what to do: %s\n", text_of(alarm, NULL, "kind"),
                     cluster[0] ? " of cluster " : "", cluster, text_of(alarm, NULL, "since"),
                     text_of(alarm, NULL, "detail"), text_of(alarm, NULL, "advice"));
    }
    return json_array_size(alarms) > 0;
}

static bool print_etcd(const json_t *root)
{
    const char *since = text_of(root, "leadership", "unreachable_since");
    if (since[0])
        plain_printf("ETCD DOES NOT ANSWER since %s: %s\n", since,
                     text_of(root, "leadership", "last_error"));
    return since[0];
}

static bool print_role(const json_t *root)
{
    const bool fault = print_etcd(root);
    const char *role = text_of(root, NULL, "role");
    const char *leader = text_of(root, "leadership", "leader");
    if (!role[0] || strcmp(role, "leader") == 0)
        return fault;
    if (leader[0] && strcmp(role, "standby") == 0) {
        plain_colour(PLAIN_NORMAL);
        plain_printf("This broker is a standby; %s leads.\n", leader);
        plain_colour(PLAIN_BAD);
        return fault;
    }
    plain_printf("NOT SERVING: this broker is %s%s\n", role,
                 json_object_get(root, "leadership") ? ", and no broker is known to lead" : "");
    return true;
}

/* Of a broker that leads (B7). */
static bool print_standbys(const json_t *root)
{
    const json_t *leadership = json_object_get(root, "leadership"), *standby;
    const json_t *standbys = json_object_get(leadership, "standbys");
    const char *version = text_of(root, NULL, "version");
    const char *configuration = text_of(leadership, NULL, "configuration");
    bool fault = standbys && json_array_size(standbys) == 0 &&
                 strcmp(text_of(root, NULL, "role"), "standby") != 0;
    size_t i;
    if (fault)
        puts("NO STANDBY: if this broker fails, none takes over");
    json_array_foreach(standbys, i, standby)
    {
        const char *url = text_of(standby, NULL, "url");
        const bool version_differs = strcmp(text_of(standby, NULL, "version"), version) != 0;
        const bool differs = strcmp(text_of(standby, NULL, "configuration"), configuration) != 0;
        if (version_differs)
            plain_printf("THE STANDBY %s HAS VERSION %s, this broker %s\n", url,
                         text_of(standby, NULL, "version"), version);
        if (differs)
            plain_printf("THE STANDBY %s HAS ANOTHER CONFIGURATION than this broker\n", url);
        fault = fault || version_differs || differs;
    }
    return fault;
}

static bool print_storage(const json_t *root)
{
    const char *error = text_of(root, "commits", "storage_error");
    if (error[0])
        plain_printf("NOTHING CAN BE SAVED, so nothing is granted: %s\n", error);
    return error[0];
}

static bool print_link(const json_t *root)
{
    static const char fm[] = "fabric_manager";
    const char *link = text_of(root, fm, "link"), *error = text_of(root, fm, "last_error");
    const char *role = text_of(root, NULL, "role");
    if (!text_of(root, fm, "url")[0] || strcmp(link, "up") == 0 || strcmp(role, "standby") == 0 ||
        strcmp(role, "starting") == 0) /* it does not ask it */
        return false;
    plain_printf("NO FABRIC MANAGER (%s since %s): jobs run without hardware collectives%s%s\n",
                 link, text_of(root, fm, "since"), error[0] ? "; " : "", error);
    return true;
}

static bool print_vnis(const json_t *root)
{
    const json_t *free = json_object_get(json_object_get(root, "vnis"), "free");
    if (!json_is_integer(free) || json_integer_value(free) != 0)
        return false;
    puts("NO VNI IS FREE: jobs that need one cannot start");
    return true;
}

static bool print_addresses(const json_t *root)
{
    const long long total = count_of(root, "addresses", "total");
    if (total <= 0 || count_of(root, "addresses", "reserved") < total)
        return false;
    printf("ALL %lld ADDRESSES ARE RESERVED: jobs that start now run without hardware collectives, "
           "until others end\n",
           total);
    return true;
}

/* F9: whose nodes are to be drained. */
static bool print_nodes(const json_t *root)
{
    const long long lingering = count_of(root, "nodes", "lingering");
    const char *first = text_of(root, "nodes", "lingering_first");
    if (lingering <= 0)
        return false;
    plain_printf("SERVICES OF JOBS WILL NOT GO ON %lld NODE%s%s%s; their VNIs stay quarantined: "
                 "drain, then see mcastctl list --held\n",
                 lingering, lingering == 1 ? "" : "S",
                 !first[0]        ? ""
                 : lingering == 1 ? ": "
                                  : ", the first is ",
                 first);
    return true;
}

/* Their traffic may mix with other jobs'. */
static bool print_adopted(const json_t *root)
{
    const long long adopted = count_of(root, "jobs", "adopted");
    if (adopted > 0)
        printf("%lld ACTIVE JOB%s FOUND WITHOUT %s VNIS: these may be given out again, see "
               "state.md\n",
               adopted, adopted == 1 ? " WAS" : "S WERE", adopted == 1 ? "ITS" : "THEIR");
    return adopted > 0;
}

/* F19 */
static bool print_cleanups(const json_t *root)
{
    const long long given_up = count_of(root, "cleanups", "given_up");
    if (given_up > 0)
        printf("THE TREES OF %lld STEP%s COULD NOT BE REMOVED since the start: look in the log for "
               "\"are not removed\", at [hwcoll] cleanup_login in tokens.md\n",
               given_up, given_up == 1 ? "" : "S");
    return given_up > 0;
}

/* An older broker does not say whether it verifies the fabric manager. */
static bool print_verify(const json_t *root)
{
    if (!json_is_false(json_object_get(json_object_get(root, "fabric_manager"), "verify")))
        return false;
    puts("THE FABRIC MANAGER IS NOT VERIFIED ([fm] verify = no): anyone on the way can pose as it");
    return true;
}

static bool print_reload(const json_t *root)
{
    if (!json_is_true(json_object_get(root, "reload_refused")))
        return false;
    puts("THE LAST RELOAD WAS REFUSED: the configuration before it is still in force");
    return true;
}

static bool print_lists(const json_t *root)
{
    size_t i;
    const json_t *cluster;
    bool fault = false;
    json_array_foreach(json_object_get(root, "clusters"), i, cluster)
    {
        const char *error = text_of(cluster, NULL, "list_error");
        if (!error[0])
            continue;
        plain_printf("THE ACTIVE JOBS OF %s CANNOT BE LISTED, so missed ends are not found: %s\n",
                     text_of(cluster, NULL, "name"), error);
        fault = true;
    }
    return fault;
}

static bool print_certificate(const json_t *root)
{
    const char *end = text_of(root, NULL, "certificate_expires");
    struct tm parts = {0};
    if (!strptime(end, "%Y-%m-%dT%H:%M:%S", &parts) || timegm(&parts) >= time(NULL) + SOON_S)
        return false;
    plain_printf("THE BROKER'S CERTIFICATE ends, or ended, at %s\n", end);
    return true;
}

bool verdict_print(const json_t *root)
{
    static bool (*const faults[])(const json_t *root) = {
        print_alarms,    print_role,   print_storage, print_link,        print_vnis,
        print_addresses, print_nodes,  print_adopted, print_standbys,    print_cleanups,
        print_verify,    print_reload, print_lists,   print_certificate,
    };
    bool any = false;
    plain_colour(PLAIN_BAD);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        any = faults[i](root) || any;
    plain_colour(any ? PLAIN_NORMAL : PLAIN_GOOD);
    puts(any ? "What to do: mcastctl doctor" : "All is well.");
    plain_colour(PLAIN_NORMAL);
    return any;
}
