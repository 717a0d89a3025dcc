/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/age.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/view.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELD, STATE, UID, NODE, LIMIT, FIELDS, SORT };

static const struct command_option options[] = {
    [HELD] = {"held", false},  [STATE] = {"state", true},
    [UID] = {"uid", true},     [NODE] = {"node", true},
    [LIMIT] = {"limit", true}, [FIELDS] = {"output", true},
    [SORT] = {"sort", true},   {0},
};

/* ---- what can be shown of a reservation ---- */

enum { TEXT_SIZE = 256, FIELDS_MAX = 20 };

static void number_text(const struct mcast_reservation *r, char *out)
{
    (void)snprintf(out, TEXT_SIZE, "%llu", (unsigned long long)r->number);
}

static void user_text(const struct mcast_reservation *r, char *out)
{
    const struct passwd *user;
    view_uid(r, out, TEXT_SIZE);
    if (out[0] != '-' && (user = getpwuid((uid_t)strtoul(out, NULL, 10))))
        (void)snprintf(out, TEXT_SIZE, "%s", user->pw_name);
}

static void uid_text(const struct mcast_reservation *r, char *out)
{
    view_uid(r, out, TEXT_SIZE);
}

static void nodes_text(const struct mcast_reservation *r, char *out)
{
    (void)snprintf(out, TEXT_SIZE, "%u", r->node_count);
}

static void vnis_text(const struct mcast_reservation *r, char *out)
{
    view_numbers(r->vnis, r->vni_count, out, TEXT_SIZE);
}

static void addresses_text(const struct mcast_reservation *r, char *out)
{
    (void)snprintf(out, TEXT_SIZE, "%u", view_addresses(r));
}

static void age_text(const struct mcast_reservation *r, char *out)
{
    age_between(r->created, time(NULL), out);
}

#define TEXT_FIELD(name)                                                                           \
    static void name##_text(const struct mcast_reservation *r, char *out)                          \
    {                                                                                              \
        (void)snprintf(out, TEXT_SIZE, "%s", r->name ? r->name : "-");                             \
    }
TEXT_FIELD(cluster)
TEXT_FIELD(job)
TEXT_FIELD(state)
TEXT_FIELD(hwcoll_state)
TEXT_FIELD(created)
TEXT_FIELD(released)
TEXT_FIELD(hwcoll_reason)
TEXT_FIELD(profile)

static const struct field {
    const char *name, *heading;
    void (*text)(const struct mcast_reservation *r, char *out);
    void (*key)(const struct mcast_reservation *r, char *out); /* NULL: sorted by its text */
    bool backwards;                                            /* the key is the other way round */
} all_fields[] = {
    {"number", ">NUMBER", number_text, NULL, false},
    {"cluster", "CLUSTER", cluster_text, NULL, false},
    {"job", "JOB", job_text, NULL, false},
    {"state", "STATE", state_text, NULL, false},
    {"user", "USER", user_text, NULL, false},
    {"uid", ">UID", uid_text, NULL, false},
    {"nodes", ">NODES", nodes_text, NULL, false},
    {"vnis", "VNIS", vnis_text, NULL, false},
    {"hwcoll", "HWCOLL", hwcoll_state_text, NULL, false},
    {"addresses", ">ADDRESSES", addresses_text, NULL, false},
    {"age", ">AGE", age_text, created_text, true},
    {"created", "CREATED", created_text, NULL, false},
    {"released", "RELEASED", released_text, NULL, false},
    {"reason", "~REASON", hwcoll_reason_text, NULL, false},
    {"profile", "PROFILE", profile_text, NULL, false},
};

static const char default_fields[] =
    "number,cluster,job,state,user,nodes,vnis,hwcoll,addresses,age";

enum { FIELD_COUNT = sizeof all_fields / sizeof *all_fields };

/* NULL: there is none, after a message. */
static const struct field *find_field(struct call *call, const char *option, const char *name)
{
    char names[TEXT_SIZE] = "";
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(all_fields[i].name, name) == 0)
            return &all_fields[i];
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                       i > 0 ? ", " : "", all_fields[i].name);
    }
    (void)command_misused(call, "--%s: '%s' is no field; there are %s", option, name, names);
    return NULL;
}

/* Not before the first answer: a broker that cannot be reached leaves standard output empty. */
static const char opening[] = "{\"jobs\":[";

/* What one reservation after the other is printed into. */
struct output {
    struct table *table;                           /* NULL: JSON */
    const struct field *fields[FIELDS_MAX], *sort; /* NULL: oldest first */
    size_t field_count;
    bool reversed;
    bool placed;       /* tells how each may be on the node that was asked for */
    bool held;         /* only those whose VNIs are quarantined, */
    uint64_t held_max; /* at most so many; 0: all */
    uint64_t count;    /* printed so far */
};

static void add_row(const struct output *output, const struct mcast_reservation *reservation)
{
    char text[TEXT_SIZE];
    table_row(output->table);
    for (size_t i = 0; i < output->field_count; i++) {
        output->fields[i]->text(reservation, text);
        table_cell(output->table, text);
    }
    if (output->sort) {
        (output->sort->key ? output->sort->key : output->sort->text)(reservation, text);
        table_key(output->table, text);
    }
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
        add_row(output, reservation);
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
    char columns[TEXT_SIZE * 2] = ">NUMBER,CLUSTER,JOB,>UID,VNIS,SINCE,UNTIL,~WAITS FOR";
    const struct field *sort = output->held ? NULL : output->sort;
    size_t length = 0;
    for (size_t i = 0; i < output->field_count && !output->held; i++)
        length += (size_t)snprintf(columns + length, sizeof columns - length, "%s%s",
                                   i > 0 ? "," : "", output->fields[i]->heading);
    if (output->placed && !output->held)
        (void)snprintf(columns + length, sizeof columns - length, ",ON NODE");
    output->table = table_create(columns);
    int rc = mcast_list(call->handle, filter, print_one, output, &call->error);
    /* What came before a failure is shown, but the exit code tells that it is not all. */
    if (sort)
        table_sort(output->table, sort->heading[0] == '>' && !sort->key,
                   output->reversed != sort->backwards);
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

/* "user,age"; "-age" sorts the other way round. */
static int read_fields(struct call *call, struct output *output)
{
    const char *sort = call->given[SORT], *names[FIELDS_MAX + 1];
    char *list = memory_text(call->given[FIELDS] ? call->given[FIELDS] : default_fields);
    int rc = 0;
    memset(names, 0, sizeof names);
    if (!command_split(list, names, FIELDS_MAX))
        rc = command_misused(call, "--output: give names of fields with commas between, at most %d",
                             FIELDS_MAX);
    for (; rc == 0 && names[output->field_count]; output->field_count++) {
        const struct field *field = find_field(call, "output", names[output->field_count]);
        output->fields[output->field_count] = field;
        rc = field ? 0 : MCAST_USAGE;
    }
    free(list);
    if (rc == 0 && sort) {
        output->reversed = sort[0] == '-';
        output->sort = find_field(call, "sort", sort + output->reversed);
        rc = output->sort ? 0 : MCAST_USAGE;
    }
    if (rc == 0 && output->held && (sort || call->given[FIELDS]))
        rc = command_misused(call, "--held has columns of its own, oldest first");
    return rc;
}

static int run_list(struct call *call)
{
    struct mcast_filter filter = MCAST_FILTER_INIT;
    struct output output = {.held = call->given[HELD], .placed = call->given[NODE]};
    uint64_t hidden = 0; /* on the node that was asked for, and not shown */
    if (read_filter(call, &filter) < 0 || read_fields(call, &output) < 0)
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
