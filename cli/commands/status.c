/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/plain.h"
#include "cli/table.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "Usage: mcastctl status\n"
    "Shows how the broker is: in the first lines alarms and what to do about them, and what else\n"
    "is wrong, or that all is well; then its link to the fabric manager, VNIs, addresses, jobs,\n"
    "clusters, queues. 'mcastctl doctor' looks deeper.\n\n"
    "Example:\n"
    "  mcastctl status\n";

/* "fabric_manager" as people write it. */
static void write_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == '_' ? ' ' : *name, out);
}

static void write_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        fputs(json_string_value(value), out);
    else
        json_dumpf(value, out, JSON_ENCODE_ANY | JSON_COMPACT);
}

static bool worth_showing(const json_t *value)
{
    return !json_is_null(value) && !(json_is_string(value) && json_string_length(value) == 0);
}

/* The members of an object side by side: "free 64512, live 3". */
static void write_members(FILE *out, json_t *object)
{
    const char *name;
    json_t *value;
    const char *comma = "";
    json_object_foreach(object, name, value)
    {
        if (!worth_showing(value))
            continue;
        fputs(comma, out);
        write_name(out, name);
        fputc(' ', out);
        write_value(out, value);
        comma = ", ";
    }
}

/* One row for each member, known to this version or not. */
static bool add_row(struct table *table, const char *name, json_t *value)
{
    char *cells[2] = {NULL, NULL};
    size_t sizes[2];
    for (size_t i = 0; i < 2; i++) {
        FILE *out = open_memstream(&cells[i], &sizes[i]);
        if (!out)
            break;
        if (i == 0)
            write_name(out, name);
        else if (json_is_object(value))
            write_members(out, value);
        else
            write_value(out, value);
        fclose(out);
    }
    bool ok = cells[0] && cells[1];
    if (ok) {
        table_row(table);
        table_cell(table, cells[0]);
        table_cell(table, cells[1]);
    }
    free(cells[0]);
    free(cells[1]);
    return ok;
}

static const char *member(const json_t *root, const char *object, const char *name)
{
    const json_t *inner = object ? json_object_get(root, object) : root;
    const char *text = json_string_value(json_object_get(inner, name));
    return text ? text : "";
}

static bool ends_soon(const char *time_text)
{
    enum { SOON_S = 7 * 86400 };
    struct tm parts = {0};
    return strptime(time_text, "%Y-%m-%dT%H:%M:%S", &parts) && timegm(&parts) < time(NULL) + SOON_S;
}

/* True when every list_command there is works. */
static bool print_lists(const json_t *clusters)
{
    size_t i;
    const json_t *cluster;
    bool well = true;
    json_array_foreach(clusters, i, cluster)
    {
        const char *error = member(cluster, NULL, "list_error");
        if (!error[0])
            continue;
        printf("THE ACTIVE JOBS OF %s CANNOT BE LISTED, so missed ends are not found: ",
               member(cluster, NULL, "name"));
        plain_print(error);
        putchar('\n');
        well = false;
    }
    return well;
}

/* An older broker does not say whether it does. True when nothing is wrong. */
static bool print_fabric(const json_t *fabric)
{
    if (!json_is_false(json_object_get(fabric, "verify")))
        return true;
    puts("THE FABRIC MANAGER IS NOT VERIFIED ([fm] verify = no): anyone on the way can pose as it");
    return false;
}

/* F9: whose nodes are to be drained. */
static bool print_nodes(const json_t *nodes)
{
    json_int_t lingering = json_integer_value(json_object_get(nodes, "lingering"));
    const char *first = member(nodes, NULL, "lingering_first");
    if (lingering <= 0)
        return true;
    printf("SERVICES OF JOBS WILL NOT GO ON %" JSON_INTEGER_FORMAT " NODE%s", lingering,
           lingering == 1 ? "" : "S");
    if (first[0]) {
        fputs(lingering == 1 ? ": " : ", the first is ", stdout);
        plain_print(first);
    }
    puts("; their VNIs stay quarantined: drain, then see mcastctl list --held");
    return false;
}

/* Their traffic may mix with other jobs'. */
static bool print_adopted(const json_t *jobs)
{
    json_int_t adopted = json_integer_value(json_object_get(jobs, "adopted"));
    if (adopted <= 0)
        return true;
    printf("%" JSON_INTEGER_FORMAT " ACTIVE JOB%s FOUND WITHOUT %s VNIS: these may be given out "
           "again, see state.md\n",
           adopted, adopted == 1 ? " WAS" : "S WERE", adopted == 1 ? "ITS" : "THEIR");
    return false;
}

/* F19 */
static bool print_cleanups(const json_t *cleanups)
{
    json_int_t given_up = json_integer_value(json_object_get(cleanups, "given_up"));
    if (given_up <= 0)
        return true;
    printf("THE TREES OF %" JSON_INTEGER_FORMAT
           " STEP%s COULD NOT BE REMOVED since the start: look "
           "in the log for \"are not removed\", at [hwcoll] cleanup_login in tokens.md\n",
           given_up, given_up == 1 ? "" : "S");
    return false;
}

/* True when none is on. */
static bool print_alarms(const json_t *alarms)
{
    size_t i;
    const json_t *alarm;
    json_array_foreach(alarms, i, alarm)
    {
        const char *cluster = member(alarm, NULL, "cluster");
        printf("ALARM %s%s%s since %s: ", member(alarm, NULL, "kind"),
               cluster[0] ? " of cluster " : "", cluster, member(alarm, NULL, "since"));
        plain_print(member(alarm, NULL, "detail"));
        fputs("; what to do: ", stdout);
        plain_print(member(alarm, NULL, "advice"));
        putchar('\n');
    }
    return json_array_size(alarms) == 0;
}

/* The most important first: a line for each fault, with what it means for jobs. */
static void print_verdict(const json_t *root)
{
    const char *link = member(root, "fabric_manager", "link");
    const char *error = member(root, "fabric_manager", "last_error");
    const char *storage = member(root, "commits", "storage_error");
    const json_t *vnis = json_object_get(root, "vnis");
    const char *role = member(root, NULL, "role");
    bool well = print_alarms(json_object_get(root, "alarms"));
    if (role[0] && strcmp(role, "leader") != 0) {
        printf("NOT SERVING: this broker is %s\n", role);
        well = false;
    }
    if (storage[0]) {
        fputs("NOTHING CAN BE SAVED, so nothing is granted: ", stdout);
        plain_print(storage);
        putchar('\n');
        well = false;
    }
    if (member(root, "fabric_manager", "url")[0] && strcmp(link, "up") != 0) {
        printf("NO FABRIC MANAGER (%s since %s): jobs run without hardware collectives%s", link,
               member(root, "fabric_manager", "since"), error[0] ? "; " : "");
        plain_print(error);
        putchar('\n');
        well = false;
    }
    if (json_is_integer(json_object_get(vnis, "free")) &&
        json_integer_value(json_object_get(vnis, "free")) == 0) {
        puts("NO VNI IS FREE: jobs that need one cannot start");
        well = false;
    }
    well = print_nodes(json_object_get(root, "nodes")) && well;
    well = print_adopted(json_object_get(root, "jobs")) && well;
    well = print_cleanups(json_object_get(root, "cleanups")) && well;
    well = print_fabric(json_object_get(root, "fabric_manager")) && well;
    if (json_is_true(json_object_get(root, "reload_refused"))) {
        puts("THE LAST RELOAD WAS REFUSED: the configuration before it is still in force");
        well = false;
    }
    well = print_lists(json_object_get(root, "clusters")) && well;
    if (ends_soon(member(root, NULL, "certificate_expires"))) {
        printf("THE BROKER'S CERTIFICATE ends, or ended, at %s\n",
               member(root, NULL, "certificate_expires"));
        well = false;
    }
    puts(well ? "All is well." : "What to do: mcastctl doctor");
}

/* One row for each cluster. */
static void add_clusters(struct table *table, json_t *clusters)
{
    size_t i;
    json_t *cluster;
    json_array_foreach(clusters, i, cluster)
    {
        char *label = NULL;
        if (asprintf(&label, "cluster %s", member(cluster, NULL, "name")) < 0)
            continue;
        json_object_del(cluster, "name");
        add_row(table, label, cluster);
        free(label);
    }
}

static int print_table(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    struct table *table = table_create(false);
    const char *name;
    json_t *value;
    print_verdict(root);
    if (table) {
        table_column(table, "NAME", 0);
        table_column(table, "VALUE", TABLE_WRAP);
    }
    json_object_foreach(root, name, value)
    {
        if (table && strcmp(name, "clusters") == 0)
            add_clusters(table, value);
        else if (table && strcmp(name, "alarms") != 0 && worth_showing(value))
            add_row(table, name, value);
    }
    json_decref(root);
    return table_print(table);
}

static int print_indented(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    char *indented = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    return command_print_json(indented);
}

static int run_status(const struct command *command, struct common *common, int argc, char **argv)
{
    struct mcast *handle = NULL;
    struct mcast_error error;
    char *json = NULL;
    int rc = command_options(command, common, argc, argv, NULL, NULL, NULL);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (mcast_status(handle, &json, &error) < 0)
        rc = command_failed(&error);
    else
        rc = common->json ? print_indented(json) : print_table(json);
    free(json);
    mcast_close(handle);
    return rc;
}

const struct command command_status = {"status", "show broker status", usage, run_status};
