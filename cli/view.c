/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void view_vnis(const struct mcast_reservation *reservation, char *out, size_t size)
{
    size_t used = 0;
    snprintf(out, size, "-");
    for (size_t i = 0; i < reservation->vni_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%u", i > 0 ? "," : "",
                                 reservation->vnis[i]);
}

void view_uid(const struct mcast_reservation *reservation, char *out, size_t size)
{
    if (reservation->uid == UINT32_MAX)
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%u", reservation->uid);
}

uint32_t view_addresses(const struct mcast_reservation *reservation)
{
    bool reserved = strcmp(reservation->hwcoll_state, "reserved") == 0;
    return reserved ? reservation->hwcoll_addresses : 0;
}

/* "reserved, 23 addresses", "denied: the pool is empty" */
static void describe_hwcoll(const struct mcast_reservation *reservation, char *out, size_t size)
{
    if (view_addresses(reservation) > 0)
        snprintf(out, size, "%s, %u addresses", reservation->hwcoll_state,
                 view_addresses(reservation));
    else if (reservation->hwcoll_reason)
        snprintf(out, size, "%s: %s", reservation->hwcoll_state, reservation->hwcoll_reason);
    else
        snprintf(out, size, "%s", reservation->hwcoll_state);
}

/* "elcap1 (lingering: cxi2:2), elcap2 (created)", and how many more. */
static void write_reports(FILE *out, const struct mcast_reservation *reservation)
{
    const uint32_t said = reservation->waiting_count - reservation->waiting_unheard;
    uint32_t named = 0;
    for (; named < reservation->waiting_report_count; named++) {
        const struct mcast_waiting *report = &reservation->waiting_reports[named];
        fprintf(out, "%s%s (%s%s%s)", named > 0 ? ", " : "", report->node, report->state,
                report->services ? ": " : "", report->services ? report->services : "");
    }
    if (named > 0 && named < said)
        fprintf(out, ", %u more (%u lingering and %u created in all)", said - named,
                reservation->waiting_lingering, reservation->waiting_created);
}

/* What an older broker tells: "elcap1,elcap2, 3 more". */
static void write_names(FILE *out, const struct mcast_reservation *reservation)
{
    const uint32_t said = reservation->waiting_count - reservation->waiting_unheard;
    uint32_t named = 0;
    for (; reservation->waiting_nodes[named]; named++)
        fprintf(out, "%s%s", named > 0 ? "," : "", reservation->waiting_nodes[named]);
    if (named < said)
        fprintf(out, "%s%u more", named > 0 ? ", " : "", said - named);
}

static void write_silent(FILE *out, const struct mcast_reservation *reservation)
{
    const char *comma = reservation->waiting_count > reservation->waiting_unheard ? ", " : "";
    const char *list = reservation->waiting_silent;
    if (list && reservation->waiting_silent_more > 0)
        fprintf(out, "%ssilent: %s and %u more", comma, list, reservation->waiting_silent_more);
    else if (list)
        fprintf(out, "%ssilent: %s", comma, list);
    else
        fprintf(out, "%s%u that said nothing%s%s", comma, reservation->waiting_unheard,
                reservation->nodes ? ""
                                   : " (which is not known: the job only gave the number of nodes",
                reservation->nodes        ? ""
                : reservation->held_until ? "; only the time ends it)"
                                          : ")");
}

char *view_waiting(const struct mcast_reservation *reservation)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (reservation->waiting_count == 0)
        fputs(reservation->held_until ? "no node, only the time" : "no node", out);
    if (reservation->waiting_report_count > 0)
        write_reports(out, reservation);
    else
        write_names(out, reservation);
    if (reservation->waiting_unheard > 0)
        write_silent(out, reservation);
    fclose(out);
    return text;
}

static void row(struct table *table, const char *name, const char *value)
{
    table_row(table);
    table_cell(table, name);
    table_cell(table, value);
}

static void add_words(struct table *table, const char *const *words)
{
    char text[256] = "-";
    size_t used = 0;
    for (; *words && used < sizeof(text); words++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "," : "", *words);
    row(table, "Traffic classes", text);
}

static void add_nodes(struct table *table, const struct mcast_reservation *reservation)
{
    table_row(table);
    table_cell(table, "Nodes");
    table_cellf(table, "%u%s%s", reservation->node_count, reservation->nodes ? "  " : "",
                reservation->nodes ? reservation->nodes : "");
    if (reservation->cores_per_node > 0) {
        table_row(table);
        table_cell(table, "Cores per node");
        table_cellf(table, "%u", reservation->cores_per_node);
    }
}

static void add_env(struct table *table, const struct mcast_reservation *reservation)
{
    for (size_t i = 0; i < reservation->env_count; i++) {
        const struct mcast_variable *variable = &reservation->env[i];
        table_row(table);
        table_cell(table, i == 0 ? "Environment" : "");
        table_cellf(table, "%s=%s", variable->name, variable->secret ? "***" : variable->value);
    }
}

int view_reservation(const struct mcast_reservation *reservation)
{
    char text[512];
    struct table *table = table_create(false);
    if (!table)
        return table_print(NULL);
    table_column(table, "NAME", 0);
    table_column(table, "VALUE", TABLE_WRAP);
    table_row(table);
    table_cell(table, "Job");
    table_cellf(table, "%s/%s", reservation->cluster, reservation->job);
    table_row(table);
    table_cell(table, "Number");
    table_cellf(table, "%llu", (unsigned long long)reservation->number);
    row(table, "State", reservation->state);
    view_uid(reservation, text, sizeof(text));
    row(table, "Owner (uid)", text);
    add_nodes(table, reservation);
    view_vnis(reservation, text, sizeof(text));
    row(table, "VNIs", text);
    add_words(table, reservation->traffic_classes);
    describe_hwcoll(reservation, text, sizeof(text));
    row(table, "Hardware collectives", text);
    row(table, "Created", reservation->created);
    if (reservation->released)
        row(table, "Released", reservation->released);
    if (reservation->held) {
        row(table, "VNIs held until",
            reservation->held_until ? reservation->held_until : "all its nodes have reported");
        char *waiting = view_waiting(reservation);
        row(table, "Waiting for", waiting);
        free(waiting);
    }
    if (reservation->warning)
        row(table, "Warning", reservation->warning);
    add_env(table, reservation);
    return table_print(table);
}
