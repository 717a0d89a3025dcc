/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/places.h"
#include "cli/plain.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mcastctl topology: groups, switches and the nodes at them, of a job or of all. */

enum { JOB, FORMAT };
enum { TEXT, SLURM, SLURM_YAML, GRAPHVIZ, JSON };

static const struct command_option options[] = {
    [JOB] = {"job", "JOB"}, [FORMAT] = {"format", "text,slurm,slurm-yaml,graphviz,json"}, {0}};

/* Where everything is gathered. */
struct gathering {
    struct places places;
    json_t *nodes;  /* all, for JSON */
    json_t *fabric; /* what GET /v1/fabric has, or a job's topology */
};

static int take_node(const char *name, const char *json, void *data)
{
    struct gathering *all = data;
    json_t *node = json_loads(json, 0, NULL);
    places_add_node(&all->places, name, node);
    return json_array_append_new(all->nodes, node) < 0 ? MCAST_NOMEM : 0;
}

static int gather_all(struct call *call, struct gathering *all)
{
    char *text = NULL;
    const json_t *down;
    size_t i;
    int rc = mcast_fabric(call->handle, &text, &call->error);
    if (rc == 0)
        rc = mcast_nodes(call->handle, call->cluster, take_node, all, &call->error);
    all->fabric = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    json_array_foreach(json_object_get(all->fabric, "down_switches"), i, down)
    {
        places_mark_down(&all->places, command_text(down, "switch"));
    }
    return rc;
}

/* "CLUSTER/JOB", or JOB of the cluster that is set. */
static int gather_job(struct call *call, struct gathering *all)
{
    const char *slash = strchr(call->given[JOB], '/');
    char *cluster = slash ? strndup(call->given[JOB], (size_t)(slash - call->given[JOB])) : NULL;
    char *text = NULL;
    if (!slash && !call->cluster)
        return command_misused(call, "--job: give CLUSTER/JOB, or --cluster too");
    const int rc = mcast_topology(call->handle, slash ? cluster : call->cluster,
                                  slash ? slash + 1 : call->given[JOB], &text, &call->error);
    free(cluster);
    all->fabric = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    places_read(&all->places, all->fabric);
    return rc;
}

static int print_text(const struct gathering *all)
{
    const struct places *places = &all->places;
    struct table *table = table_create("SWITCH,>GROUP,STATE,>NODES,>NICS,>DOWN,~NODES");
    const char *last = command_text(all->fabric, "checked");
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = &places->all[i];
        table_row(table);
        table_cell(table, place->name);
        table_cellf(table, "%u", place->group);
        table_cell(table, place->down ? "down" : "");
        table_colour(table, place->down ? PLAIN_BAD : PLAIN_NORMAL);
        table_cellf(table, "%u", place->node_count);
        table_cellf(table, "%u", place->nics);
        table_cellf(table, "%u", place->nics_down);
        table_cell(table, place->nodes.text);
    }
    const int printed = table_print(table);
    if (places->unplaced_count > 0)
        plain_printf("without an address (%u): %s\n", places->unplaced_count,
                     places->unplaced.text ? places->unplaced.text : "");
    const char *source = command_text(all->fabric, "source");
    const char *why = command_text(all->fabric, "error");
    if (source && strcmp(source, "none") == 0)
        fputs("mcastctl: the broker reads no inventory ([fm] url, [inventory] source and file): "
              "only what nodes report is known\n",
              stderr);
    if (places->count == 0 && places->unplaced_count == 0)
        fputs("mcastctl: no nodes are known: nodes in [cluster], or file in [inventory], names "
              "them\n",
              stderr);
    if (last)
        plain_printf("as of %s\n", last);
    if (why)
        plain_printf("not read since: %s\n", why);
    return printed;
}

static int print_json(struct gathering *all, bool of_job)
{
    json_t *whole = of_job ? json_incref(all->fabric)
                           : json_pack("{s:O,s:O}", "fabric", all->fabric, "nodes", all->nodes);
    return command_print_object(memory_must(whole));
}

static int print(struct call *call, struct gathering *all, unsigned format)
{
    places_sort(&all->places);
    if (format == JSON || (format == TEXT && call->json))
        return print_json(all, call->given[JOB]);
    if (format == TEXT)
        return print_text(all);
    if (format == SLURM)
        places_print_slurm(&all->places);
    else if (format == SLURM_YAML)
        places_print_slurm_yaml(&all->places);
    else
        places_print_graphviz(&all->places);
    return command_finish();
}

static int run_topology(struct call *call)
{
    unsigned format = TEXT;
    if (command_word(call, FORMAT, &format) < 0)
        return MCAST_USAGE;
    struct gathering all = {.nodes = json_array()};
    int rc = call->given[JOB] ? gather_job(call, &all) : gather_all(call, &all);
    if (rc == 0)
        rc = print(call, &all, format);
    places_release(&all.places);
    json_decref(all.nodes);
    json_decref(all.fabric);
    return rc;
}

const struct command command_topology = {"topology",
                                         "show groups, switches, and the nodes at them",
                                         COMMAND_NO_ARGUMENTS,
                                         COMMAND_CONNECTED,
                                         options,
                                         .run = run_topology};
