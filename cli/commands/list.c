/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/table.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl list [--cluster NAME] [OPTIONS]\n"
    "Lists reservations, oldest first.\n\n"
    "  --state STATE    only active, or only releasing ones\n"
    "  --held           released jobs with quarantined VNIs: since when, until when nodes\n"
    "                   that say nothing are waited for ('all report': until they have), and\n"
    "                   for which nodes: lingering, some of its services will not\n"
    "                   go; created, it has not said that they went; silent, it has said\n"
    "                   nothing. 'mcastctl fence' ends the waiting for one node. Of a job that\n"
    "                   was reserved without a node list it cannot be said which nodes are silent\n"
    "  --uid N          only those of one user\n"
    "  --node NAME      only those that may have something on this node: it is in their node\n"
    "                   list, or they have none and may run anywhere\n"
    "  --limit N        at most N\n\n"
    "Without --cluster and MCAST_CLUSTER (or with --cluster ''), those of every cluster.\n\n"
    "Example:\n"
    "  mcastctl list --cluster elcap --state active\n"
    "  mcastctl list --held\n"
    "  mcastctl list --node elcap17\n";

/* Not before the first answer: a broker that cannot be reached leaves standard output empty. */
static const char opening[] = "{\"jobs\":[";

/* Which reservations, and what one after the other is printed into. */
struct output {
    struct table *table; /* NULL: JSON */
    bool placed;         /* tells how each may be on the node that was asked for */
    bool held;           /* only those whose VNIs are quarantined, */
    uint64_t held_max;   /* at most so many; 0: all */
    uint64_t count;      /* printed so far */
    bool failed;         /* memory was exhausted */
};

struct wanted {
    struct mcast_filter filter;
    bool held;
    uint64_t hidden; /* on the node that was asked for, and not shown */
};

static int store_list_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    struct mcast_filter *filter = &wanted->filter;
    uint64_t number = 0;
    switch (option) {
    case 'd':
        wanted->held = true;
        break;
    case 's':
        if (strcmp(value, "active") != 0 && strcmp(value, "releasing") != 0)
            return command_misused(&command_list, "--state %.80s: active or releasing", value);
        filter->state = value;
        break;
    case 'u':
        if (!command_number(value, UINT32_MAX - 1, &number))
            return command_misused(&command_list, "--uid %.80s: not a number", value);
        filter->uid = (uint32_t)number;
        break;
    case 'n':
        filter->node = value;
        filter->hidden = &wanted->hidden;
        break;
    case 'l':
        if (!command_number(value, INT64_MAX, &filter->limit) || filter->limit == 0)
            return command_misused(&command_list, "--limit %.80s: not a number from 1", value);
        break;
    }
    return COMMAND_GO_ON;
}

static void add_row(const struct output *output, const struct mcast_reservation *reservation)
{
    struct table *table = output->table;
    char text[512];
    table_row(table);
    table_cellf(table, "%llu", (unsigned long long)reservation->number);
    table_cell(table, reservation->cluster);
    table_cell(table, reservation->job);
    table_cell(table, reservation->state);
    view_uid(reservation, text, sizeof(text));
    table_cell(table, text);
    table_cellf(table, "%u", reservation->node_count);
    view_vnis(reservation, text, sizeof(text));
    table_cell(table, text);
    table_cell(table, reservation->hwcoll_state);
    table_cellf(table, "%u", view_addresses(reservation));
    table_cell(table, reservation->created);
    if (output->placed)
        table_cell(table, reservation->on_node ? reservation->on_node : "-");
}

static void add_held(struct table *table, const struct mcast_reservation *reservation)
{
    char text[512];
    table_row(table);
    table_cellf(table, "%llu", (unsigned long long)reservation->number);
    table_cell(table, reservation->cluster);
    table_cell(table, reservation->job);
    view_vnis(reservation, text, sizeof(text));
    table_cell(table, text);
    table_cell(table, reservation->released);
    table_cell(table, reservation->held_until ? reservation->held_until : "all report");
    char *waiting = view_waiting(reservation);
    table_cell(table, waiting);
    free(waiting);
}

static int print_json(struct output *output, const struct mcast_reservation *reservation)
{
    char *json = mcast_reservation_json(reservation, 0);
    output->failed = !json;
    if (json)
        printf("%s\n  %s", output->count == 0 ? opening : ",", json);
    free(json);
    return output->failed ? 1 : 0;
}

static int print(const struct mcast_reservation *reservation, void *data)
{
    struct output *output = data;
    int rc = 0;
    if (output->held && !reservation->held)
        return 0;
    if (!output->table)
        rc = print_json(output, reservation);
    else if (output->held)
        add_held(output->table, reservation);
    else
        add_row(output, reservation);
    output->count++;
    return output->count == output->held_max ? 1 : rc;
}

static int list_json(struct mcast *handle, const struct mcast_filter *filter, struct output *output)
{
    struct mcast_error error;
    int rc = mcast_list(handle, filter, print, output, &error);
    if (rc < 0)
        return command_failed(&error);
    if (output->failed)
        return command_print_json(NULL);
    printf("%s]}\n", output->count == 0 ? opening : "");
    return command_finish();
}

struct column {
    const char *name;
    unsigned flags;
};

static int list_table(struct mcast *handle, const struct mcast_filter *filter,
                      struct output *output)
{
    static const struct column all[] = {
        {"NUMBER", TABLE_RIGHT},    {"CLUSTER", 0},         {"JOB", 0},  {"STATE", 0},
        {"UID", TABLE_RIGHT},       {"NODES", TABLE_RIGHT}, {"VNIS", 0}, {"HWCOLL", 0},
        {"ADDRESSES", TABLE_RIGHT}, {"CREATED", 0},         {0},
    };
    static const struct column held[] = {
        {"NUMBER", TABLE_RIGHT},
        {"CLUSTER", 0},
        {"JOB", 0},
        {"VNIS", 0},
        {"SINCE", 0},
        {"UNTIL", 0},
        {"WAITS FOR", TABLE_WRAP},
        {0},
    };
    struct mcast_error error;
    output->table = table_create(true);
    if (!output->table)
        return table_print(NULL);
    for (const struct column *column = output->held ? held : all; column->name; column++)
        table_column(output->table, column->name, column->flags);
    if (output->placed && !output->held)
        table_column(output->table, "ON NODE", 0);
    int rc = mcast_list(handle, filter, print, output, &error);
    /* What came before a failure is shown, but the exit code tells that it is not all. */
    int printed = table_print(output->table);
    return rc < 0 ? command_failed(&error) : printed;
}

/* Those with quarantined VNIs are picked from the releasing ones here, so the limit is, too. */
static int list(struct mcast *handle, struct wanted *wanted, bool json)
{
    struct mcast_filter *filter = &wanted->filter;
    struct output output = {.held = wanted->held, .placed = filter->node != NULL};
    if (wanted->held) {
        filter->state = "releasing";
        output.held_max = filter->limit;
        filter->limit = 0;
    }
    int rc = json ? list_json(handle, filter, &output) : list_table(handle, filter, &output);
    if (wanted->hidden > 0)
        fprintf(stderr,
                "mcastctl: %llu more may have something on %s, of clusters whose reservations are "
                "not shown to you; ask as an admin\n",
                (unsigned long long)wanted->hidden, filter->node);
    return rc;
}

static int run_list(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"held", no_argument, NULL, 'd'},        {"state", required_argument, NULL, 's'},
        {"uid", required_argument, NULL, 'u'},   {"node", required_argument, NULL, 'n'},
        {"limit", required_argument, NULL, 'l'}, {0},
    };
    struct wanted wanted = {.filter = MCAST_FILTER_INIT};
    struct mcast *handle = NULL;
    int rc = command_options(command, common, argc, argv, options, store_list_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc == COMMAND_GO_ON && wanted.held && wanted.filter.state &&
        strcmp(wanted.filter.state, "releasing") != 0)
        rc = command_misused(command, "--held: active jobs have no quarantined VNIs");
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    wanted.filter.cluster = common->cluster;
    rc = list(handle, &wanted, common->json);
    mcast_close(handle);
    return rc;
}

const struct command command_list = {"list", "all reservations", usage, run_list};
