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
    "  --uid N          only those of one user\n"
    "  --limit N        at most N\n\n"
    "Without --cluster and MCAST_CLUSTER (or with --cluster ''), those of every cluster.\n\n"
    "Example:\n"
    "  mcastctl list --cluster elcap --state active\n";

/* Not before the first answer: a broker that cannot be reached leaves standard output empty. */
static const char opening[] = "{\"jobs\":[";

/* What one reservation after the other is printed into. */
struct output {
    struct table *table; /* NULL: JSON */
    bool first;
    bool failed; /* memory was exhausted */
};

static int take(int option, const char *value, void *data)
{
    struct mcast_filter *filter = data;
    uint64_t number = 0;
    switch (option) {
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
    case 'l':
        if (!command_number(value, INT64_MAX, &filter->limit) || filter->limit == 0)
            return command_misused(&command_list, "--limit %.80s: not a number from 1", value);
        break;
    }
    return COMMAND_GO_ON;
}

static int add_row(const struct mcast_reservation *reservation, void *data)
{
    struct table *table = ((struct output *)data)->table;
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
    return 0;
}

static int print_json(const struct mcast_reservation *reservation, void *data)
{
    struct output *output = data;
    char *json = mcast_reservation_json(reservation, 0);
    output->failed = !json;
    if (json)
        printf("%s\n  %s", output->first ? opening : ",", json);
    output->first = false;
    free(json);
    return output->failed ? 1 : 0;
}

static int list_json(struct mcast *handle, const struct mcast_filter *filter)
{
    struct mcast_error error;
    struct output output = {.first = true};
    int rc = mcast_list(handle, filter, print_json, &output, &error);
    if (rc < 0)
        return command_failed(&error);
    if (output.failed)
        return command_print_json(NULL);
    printf("%s]}\n", output.first ? opening : "");
    return command_finish();
}

static int list_table(struct mcast *handle, const struct mcast_filter *filter)
{
    static const struct {
        const char *name;
        unsigned flags;
    } columns[] = {
        {"NUMBER", TABLE_RIGHT},    {"CLUSTER", 0},         {"JOB", 0},  {"STATE", 0},
        {"UID", TABLE_RIGHT},       {"NODES", TABLE_RIGHT}, {"VNIS", 0}, {"HWCOLL", 0},
        {"ADDRESSES", TABLE_RIGHT}, {"CREATED", 0},
    };
    struct mcast_error error;
    struct output output = {.table = table_create(true)};
    if (!output.table)
        return table_print(NULL);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        table_column(output.table, columns[i].name, columns[i].flags);
    int rc = mcast_list(handle, filter, add_row, &output, &error);
    /* What came before a failure is shown, but the exit code tells that it is not all. */
    int printed = table_print(output.table);
    return rc < 0 ? command_failed(&error) : printed;
}

static int run(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"state", required_argument, NULL, 's'},
        {"uid", required_argument, NULL, 'u'},
        {"limit", required_argument, NULL, 'l'},
        {0},
    };
    struct mcast_filter filter = MCAST_FILTER_INIT;
    struct mcast *handle = NULL;
    int rc = command_options(command, common, argc, argv, options, take, &filter);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    filter.cluster = common->cluster;
    rc = common->json ? list_json(handle, &filter) : list_table(handle, &filter);
    mcast_close(handle);
    return rc;
}

const struct command command_list = {"list", "all reservations", usage, run};
