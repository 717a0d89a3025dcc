/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/age.h"
#include "cli/columns.h"
#include "cli/user.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELD, STATE, UID, NODE, LIMIT, OUTPUT, SORT, NO_HEADER };

static const struct command_option options[] = {
    [HELD] = {"held", NULL},
    [STATE] = {"state", "active,releasing"},
    [UID] = {"uid", "USER"},
    [NODE] = {"node", "NODE"},
    [LIMIT] = {"limit", "N"},
    [OUTPUT] = {"output", "COLUMNS"},
    [SORT] = {"sort", "COLUMN"},
    [NO_HEADER] = {"no-header", NULL},
    {0},
};

/* ---- what can be shown of a reservation ---- */

enum { TEXT_SIZE = 256 };

#define CELL(name) static void name##_cell(struct table *table, const void *item)
#define TEXT_CELL(name)                                                                            \
    CELL(name)                                                                                     \
    {                                                                                              \
        const struct mcast_reservation *r = item;                                                  \
        table_cell(table, r->name ? r->name : "-");                                                \
    }

TEXT_CELL(cluster)
TEXT_CELL(job)
TEXT_CELL(state)
TEXT_CELL(nodes)
TEXT_CELL(created)
TEXT_CELL(released)
TEXT_CELL(hwcoll_reason)
TEXT_CELL(profile)
TEXT_CELL(interconnect)
TEXT_CELL(on_node)

CELL(number)
{
    const struct mcast_reservation *r = item;
    table_cellf(table, "%llu", (unsigned long long)r->number);
}

CELL(user)
{
    const struct mcast_reservation *r = item;
    table_cell(table, user_name(r->uid));
}

CELL(uid)
{
    char text[TEXT_SIZE];
    view_uid(item, text, sizeof text);
    table_cell(table, text);
}

CELL(node_count)
{
    const struct mcast_reservation *r = item;
    table_cellf(table, "%u", r->node_count);
}

CELL(vnis)
{
    const struct mcast_reservation *r = item;
    char text[TEXT_SIZE];
    view_numbers(r->vnis, r->vni_count, text, sizeof text);
    table_cell(table, text);
}

CELL(hwcoll)
{
    const struct mcast_reservation *r = item;
    const bool lacks = strcmp(r->hwcoll_state, "denied") == 0 ||
                       strcmp(r->hwcoll_state, "lost") == 0 ||
                       strcmp(r->hwcoll_state, "timeout") == 0;
    table_cell(table, r->hwcoll_state);
    table_colour(table, lacks ? PLAIN_BAD : PLAIN_NORMAL);
}

CELL(addresses)
{
    table_cellf(table, "%u", view_addresses(item));
}

static void add_age(struct table *table, const char *when)
{
    char age[AGE_SIZE];
    age_between(when, time(NULL), age);
    table_cell(table, age[0] ? age : "-");
}

CELL(age)
{
    const struct mcast_reservation *r = item;
    add_age(table, r->created);
}

CELL(held)
{
    const struct mcast_reservation *r = item;
    add_age(table, r->held ? r->released : NULL);
}

CELL(until)
{
    const struct mcast_reservation *r = item;
    const time_t now = time(NULL);
    char age[AGE_SIZE];
    const bool future = age_future(r->held_until, now);
    age_between(r->held_until, now, age);
    if (age[0])
        table_cellf(table, future ? "in %s" : "%s ago", age);
    else
        table_cell(table, r->held ? "all report" : "-");
}

CELL(held_until)
{
    const struct mcast_reservation *r = item;
    table_cell(table, r->held_until ? r->held_until : "-");
}

CELL(waiting)
{
    const struct mcast_reservation *r = item;
    char *waiting = r->held ? view_waiting(r) : NULL;
    table_cell(table, waiting ? waiting : "-");
    free(waiting);
}

static const struct column all_columns[] = {
    {"number", ">NUMBER", "the reservation's number, which only grows", number_cell, NULL, false},
    {"cluster", "CLUSTER", "the resource manager's", cluster_cell, NULL, false},
    {"job", "JOB", "the job's id", job_cell, NULL, false},
    {"state", "STATE", "active; releasing: it is over", state_cell, NULL, false},
    {"user", "<USER", "the owner, by name", user_cell, NULL, false},
    {"uid", ">UID", "the owner, by number", uid_cell, NULL, false},
    {"nodes", ">NODES", "how many", node_count_cell, NULL, false},
    {"nodelist", "2NODELIST", "which, if the job named them", nodes_cell, NULL, false},
    {"vnis", "<VNIS", "VNIs that it has, or that are quarantined for it", vnis_cell, NULL, false},
    {"hwcoll", "HWCOLL", "hardware collectives: reserved, denied, lost, …", hwcoll_cell, NULL,
     false},
    {"addresses", ">ADDRESSES", "multicast addresses that it has", addresses_cell, NULL, false},
    {"age", ">AGE", "since it was made", age_cell, created_cell, true},
    {"created", "CREATED", "when it was made", created_cell, NULL, false},
    {"released", "RELEASED", "when the job was over", released_cell, NULL, false},
    {"held", ">QUARANTINED", "for how long its VNIs have been quarantined", held_cell,
     released_cell, true},
    {"until", ">UNTIL", "how long nodes that say nothing are waited for", until_cell,
     held_until_cell, false},
    {"waiting", "2WAITING", "nodes for which the VNIs are quarantined", waiting_cell, NULL, false},
    {"reason", "1REASON", "why it has no addresses", hwcoll_reason_cell, NULL, false},
    {"profile", "<PROFILE", "the site's profile that it was made with", profile_cell, NULL, false},
    {"interconnect", "INTERCONNECT", "slingshot, omnipath or none", interconnect_cell, NULL, false},
    {"onnode", "ONNODE", "with --node: the job named it, or may run there; or it reported",
     on_node_cell, NULL, false},
    {0},
};

static const char usual[] = "number,cluster,job,state,user,nodes,vnis,hwcoll,addresses,age";
static const char usual_on_node[] =
    "number,cluster,job,state,user,nodes,vnis,hwcoll,addresses,age,onnode";
static const char usual_held[] = "number,cluster,job,user,vnis,held,until,waiting";

/* ---- the list ---- */

/* Not before the first answer: a broker that cannot be reached leaves standard output empty. */
static const char opening[] = "{\"jobs\":[";

/* What one reservation after the other is printed into. */
struct output {
    struct columns columns;
    struct table *table; /* NULL: JSON, as it comes */
    bool json;
    bool held;      /* only those whose VNIs are quarantined */
    uint64_t max;   /* at most so many of what is listed; 0: all */
    uint64_t count; /* so far */
};

static void print_json(const char *json, void *data)
{
    struct output *output = data;
    printf("%s\n  %s", output->count++ == 0 ? opening : ",", json);
}

static int take_one(const struct mcast_reservation *reservation, void *data)
{
    struct output *output = data;
    if (output->held && !reservation->held)
        return 0;
    char *json = output->json ? memory_must(mcast_reservation_json(reservation, 0)) : NULL;
    if (!output->table)
        print_json(json, output);
    else if (json)
        columns_text(&output->columns, output->table, json, reservation);
    else
        columns_row(&output->columns, output->table, reservation);
    if (output->table)
        output->count++;
    free(json);
    return output->count == output->max ? 1 : 0;
}

static int list_json(struct call *call, const struct mcast_filter *filter, struct output *output,
                     uint64_t limit)
{
    if (output->columns.sort)
        output->table = columns_texts();
    const int rc = mcast_list(call->handle, filter, take_one, output, &call->error);
    output->count = output->table ? 0 : output->count;
    if (output->table) {
        columns_sort(&output->columns, output->table);
        table_limit(output->table, limit);
        if (rc >= 0)
            table_each(output->table, print_json, output);
        table_destroy(output->table);
    }
    if (rc < 0)
        return rc;
    printf("%s]}\n", output->count == 0 ? opening : "");
    return command_finish();
}

/* Nothing is listed: to whom only his own are shown, others' may be there. */
static void print_none(struct call *call, const char *what)
{
    char *answer = NULL;
    json_t *who =
        mcast_whoami(call->handle, &answer, NULL) == 0 ? json_loads(answer, 0, NULL) : NULL;
    const bool own = who && !json_is_true(json_object_get(who, "admin")) &&
                     json_array_size(json_object_get(who, "clusters")) == 0;
    fprintf(stderr, "mcastctl: there is no such %s%s\n", what,
            own ? " of yours; those of others are shown to admins and resource managers only" : "");
    json_decref(who);
    free(answer);
}

static int list_table(struct call *call, const struct mcast_filter *filter, struct output *output,
                      uint64_t limit)
{
    output->table = columns_table(&output->columns);
    if (call->given[NO_HEADER])
        table_hide_names(output->table);
    const int rc = mcast_list(call->handle, filter, take_one, output, &call->error);
    if (rc >= 0 && output->count == 0 && !call->given[NO_HEADER])
        print_none(call, output->held ? "reservation with quarantined VNIs" : "reservation");
    /* What came before a failure is shown, but the exit code tells that it is not all. */
    columns_sort(&output->columns, output->table);
    table_limit(output->table, limit);
    const int printed = table_print(output->table);
    return rc < 0 ? rc : printed;
}

static int read_filter(struct call *call, struct mcast_filter *filter)
{
    unsigned state = 1;
    if (command_word(call, STATE, &state) < 0 ||
        command_number(call, LIMIT, 1, INT64_MAX, &filter->limit) < 0 ||
        user_option(call, UID, &filter->uid) < 0)
        return MCAST_USAGE;
    if (call->given[HELD] && state == 0)
        return command_misused(call, "--held: active jobs have no quarantined VNIs");
    filter->cluster = call->cluster;
    filter->state = call->given[HELD] ? "releasing" : call->given[STATE];
    filter->node = call->given[NODE];
    return 0;
}

static int run_list(struct call *call)
{
    struct mcast_filter filter = MCAST_FILTER_INIT;
    struct output output = {.held = call->given[HELD], .json = call->json};
    uint64_t hidden = 0; /* on the node that was asked for, and not shown */
    if (read_filter(call, &filter) < 0)
        return MCAST_USAGE;
    int rc = columns_read(call, call->given[OUTPUT], call->given[SORT],
                          output.held   ? usual_held
                          : filter.node ? usual_on_node
                                        : usual,
                          &output.columns);
    if (rc != 0) {
        if (rc > 0 && !output.held)
            printf("With --held: %s\n", usual_held);
        return rc < 0 ? rc : command_finish();
    }
    const uint64_t limit = filter.limit > 0 ? filter.limit : UINT64_MAX;
    if (filter.node)
        filter.hidden = &hidden;
    /* Those with quarantined VNIs are picked from the releasing ones here, and what is sorted by
     * the whole of it: so the limit is, too. */
    if (output.held && !output.columns.sort)
        output.max = filter.limit;
    if (output.held || output.columns.sort)
        filter.limit = 0;
    rc = call->json ? list_json(call, &filter, &output, limit)
                    : list_table(call, &filter, &output, limit);
    if (hidden > 0)
        fprintf(stderr,
                "mcastctl: %llu more may have something on %s, of clusters whose reservations are "
                "not shown to you; ask as an admin\n",
                (unsigned long long)hidden, filter.node);
    return rc;
}

const struct command command_list = {
    "list",  "list reservations", COMMAND_NO_ARGUMENTS,  COMMAND_CONNECTED,
    options, .run = run_list,     .columns = all_columns};
