/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/ownjob.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

/* What a job may ask for (P3). */

/* A word of the broker, or several with commas between them; a number as it is. */
static void write_value(char *text, size_t size, const json_t *value)
{
    const json_t *word;
    size_t used = 0, i;
    text[0] = '\0';
    if (json_is_integer(value))
        snprintf(text, size, "%lld", (long long)json_integer_value(value));
    if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    json_array_foreach(value, i, word)
    {
        const char *one = json_string_value(word);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "," : "",
                                     one ? one : "?");
    }
}

static void print_words(struct table *table, const char *name, const json_t *of)
{
    char allowed[256], initial[256];
    write_value(allowed, sizeof allowed, json_object_get(of, "allowed"));
    write_value(initial, sizeof initial, json_object_get(of, "default"));
    table_pair(table, name, "%s; default %s", allowed, initial);
}

static long long number_of(const json_t *of, const char *name)
{
    return json_integer_value(json_object_get(of, name));
}

static void print_vnis(struct table *table, const json_t *vnis)
{
    const long long most = number_of(vnis, "max"), own = number_of(vnis, "default");
    const long long single = number_of(vnis, "default_single_node");
    if (own == single)
        table_pair(table, "VNIs (--vnis)", "0 to %lld; default %lld", most, own);
    else
        table_pair(table, "VNIs (--vnis)", "0 to %lld; default %lld, on one node %lld", most, own,
                   single);
}

static void print_hwcoll(struct table *table, const json_t *hwcoll)
{
    const long long min_nodes = number_of(hwcoll, "min_nodes");
    const char *reason = command_text(hwcoll, "reason");
    print_words(table, "Collectives (--hwcoll)", hwcoll);
    if (!json_is_true(json_object_get(hwcoll, "available"))) {
        table_pair(table, "", "no job gets addresses: %s", reason ? reason : "it is not told why");
        return;
    }
    table_pair(table, "", "%lld addresses for each job", number_of(hwcoll, "addresses_per_job"));
    if (min_nodes > 0)
        table_pair(table, "", "for jobs of %lld nodes or more", min_nodes);
    else
        table_pair(table, "", "for jobs that ask");
}

/* "vni_count=2 hwcoll=on": what it says. */
static void print_profile(struct table *table, const char *name, const json_t *profile)
{
    static const char *const names[] = {"vni_count", "traffic_classes", "hwcoll", "addresses",
                                        "interconnect"};
    const char *own = command_text(profile, "name");
    const char *words = command_text(profile, "description");
    char text[512] = "", value[128];
    size_t used = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_value(value, sizeof value, json_object_get(profile, names[i]));
        if (value[0] && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s", names[i], value);
    }
    table_pair(table, name, "%s:%s%s%s", own ? own : "-", text, words ? "  " : "",
               words ? words : "");
}

static int print_options(const struct call *call, json_t *options)
{
    struct table *table = table_create_pairs();
    const json_t *profile;
    const char *cluster = command_text(options, "cluster");
    size_t i;
    (void)call;
    table_pair(table, "Cluster", "%s", cluster ? cluster : "-");
    print_words(table, "Interconnect (--interconnect)", json_object_get(options, "interconnect"));
    print_vnis(table, json_object_get(options, "vnis"));
    print_words(table, "Traffic classes (--tc)", json_object_get(options, "traffic_classes"));
    print_hwcoll(table, json_object_get(options, "hwcoll"));
    json_array_foreach(json_object_get(options, "profiles"), i, profile)
    {
        print_profile(table, i == 0 ? "Profiles (--profile)" : "", profile);
    }
    return table_print(table);
}

/* In a job, where nothing else proves who asks, its token does: for its own cluster. */
static int run_options(struct call *call)
{
    char *json = NULL, url[OWNJOB_URL_SIZE];
    bool has_token = false;
    ownjob_find_broker(call, url);
    const bool relayed = call->url == url;
    int rc = command_open(call);
    if (rc == 0)
        rc = ownjob_find_token(call, &has_token);
    if (rc == 0 && !relayed)
        rc = mcast_options(call->handle, call->cluster, &json, &call->error);
    if (has_token && (relayed || (rc < 0 && strcmp(call->error.word, "no-identity") == 0)))
        rc = mcast_own_options(call->handle, &json, &call->error);
    return rc < 0 ? rc : command_print_answer(call, json, print_options);
}

const struct command command_options = {
    "options",         "show what a job may ask for", COMMAND_NO_ARGUMENTS, COMMAND_ALONE, NULL,
    .run = run_options};
