/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELD, STATE, UID, NODE, LIMIT };

static const struct command_option options[] = {
    [HELD] = {"held", false}, [STATE] = {"state", true}, [UID] = {"uid", true},
    [NODE] = {"node", true},  [LIMIT] = {"limit", true}, {0},
};

/* Not before the first answer: a broker that cannot be reached leaves standard output empty. */
static const char opening[] = "{\"jobs\":[";

/* What one reservation after the other is printed into. */
struct output {
    struct table *table; /* NULL: JSON */
    bool placed;         /* tells how each may be on the node that was asked for */
    bool held;           /* only those whose VNIs are quarantined, */
    uint64_t held_max;   /* at most so many; 0: all */
    uint64_t count;      /* printed so far */
};

static void add_row(struct table *table, const struct mcast_reservation *reservation)
{
    char text[64];
    table_row(table);
    table_cellf(table, "%llu", (unsigned long long)reservation->number);
    table_cell(table, reservation->cluster);
    table_cell(table, reservation->job);
    table_cell(table, reservation->state);
    view_uid(reservation, text, sizeof text);
    table_cell(table, text);
    table_cellf(table, "%u", reservation->node_count);
    view_numbers(reservation->vnis, reservation->vni_count, text, sizeof text);
    table_cell(table, text);
    table_cell(table, reservation->hwcoll_state);
    table_cellf(table, "%u", view_addresses(reservation));
    table_cell(table, reservation->created);
}

static void add_held(struct table *table, const struct mcast_reservation *reservation)
{
    char text[64], *waiting = view_waiting(reservation);
    table_row(table);
    table_cellf(table, "%llu", (unsigned long long)reservation->number);
    table_cell(table, reservation->cluster);
    table_cell(table, reservation->job);
    view_uid(reservation, text, sizeof text);
    table_cell(table, text);
    view_numbers(reservation->vnis, reservation->vni_count, text, sizeof text);
    table_cell(table, text);
    table_cell(table, reservation->released);
    table_cell(table, reservation->held_until ? reservation->held_until : "all report");
    table_cell(table, waiting);
    free(waiting);
}

static void print_json(const struct output *output, const struct mcast_reservation *reservation)
{
    char *json = memory_must(mcast_reservation_json(reservation, 0));
    printf("%s\n  %s", output->count == 0 ? opening : ",", json);
    free(json);
}

static int print_one(const struct mcast_reservation *reservation, void *data)
{
    struct output *output = data;
    if (output->held && !reservation->held)
        return 0;
    if (!output->table) {
        print_json(output, reservation);
    } else if (output->held) {
        add_held(output->table, reservation);
    } else {
        add_row(output->table, reservation);
        if (output->placed)
            table_cell(output->table, reservation->on_node ? reservation->on_node : "-");
    }
    output->count++;
    return output->count == output->held_max ? 1 : 0;
}

static int list_json(struct call *call, const struct mcast_filter *filter, struct output *output)
{
    int rc = mcast_list(call->handle, filter, print_one, output, &call->error);
    if (rc < 0)
        return rc;
    printf("%s]}\n", output->count == 0 ? opening : "");
    return command_finish();
}

static int list_table(struct call *call, const struct mcast_filter *filter, struct output *output)
{
    const char *columns =
        output->held ? ">NUMBER,CLUSTER,JOB,>UID,VNIS,SINCE,UNTIL,~WAITS FOR"
        : output->placed
            ? ">NUMBER,CLUSTER,JOB,STATE,>UID,>NODES,VNIS,HWCOLL,>ADDRESSES,CREATED,ON NODE"
            : ">NUMBER,CLUSTER,JOB,STATE,>UID,>NODES,VNIS,HWCOLL,>ADDRESSES,CREATED";
    output->table = table_create(columns);
    int rc = mcast_list(call->handle, filter, print_one, output, &call->error);
    /* What came before a failure is shown, but the exit code tells that it is not all. */
    const int printed = table_print(output->table);
    return rc < 0 ? rc : printed;
}

static int read_filter(struct call *call, struct mcast_filter *filter)
{
    static const char *const states[] = {"active", "releasing", NULL};
    unsigned state = 1;
    uint64_t uid = filter->uid;
    if (command_word(call, STATE, states, &state) < 0 ||
        command_number(call, UID, 0, UINT32_MAX - 1, &uid) < 0 ||
        command_number(call, LIMIT, 1, INT64_MAX, &filter->limit) < 0)
        return MCAST_USAGE;
    if (call->given[HELD] && state == 0)
        return command_misused(call, "--held: active jobs have no quarantined VNIs");
    filter->cluster = call->cluster;
    filter->state = call->given[HELD] ? "releasing" : call->given[STATE];
    filter->uid = (uint32_t)uid;
    filter->node = call->given[NODE];
    return 0;
}

static int run_list(struct call *call)
{
    struct mcast_filter filter = MCAST_FILTER_INIT;
    struct output output = {.held = call->given[HELD], .placed = call->given[NODE]};
    uint64_t hidden = 0; /* on the node that was asked for, and not shown */
    if (read_filter(call, &filter) < 0)
        return MCAST_USAGE;
    if (filter.node)
        filter.hidden = &hidden;
    /* Those with quarantined VNIs are picked from the releasing ones here, so the limit is, too. */
    if (output.held) {
        output.held_max = filter.limit;
        filter.limit = 0;
    }
    int rc = call->json ? list_json(call, &filter, &output) : list_table(call, &filter, &output);
    if (hidden > 0)
        fprintf(stderr,
                "mcastctl: %llu more may have something on %s, of clusters whose reservations are "
                "not shown to you; ask as an admin\n",
                (unsigned long long)hidden, filter.node);
    return rc;
}

const struct command command_list = {
    "list", "list reservations", COMMAND_NO_ARGUMENTS, COMMAND_CONNECTED, options, run_list};
