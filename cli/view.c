/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view.h"
#include "base/memory.h"
#include "cli/table.h"
#include "cli/user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void view_numbers(const uint16_t *numbers, size_t count, char *out, size_t size)
{
    size_t used = 0;
    snprintf(out, size, "-");
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%u", i > 0 ? "," : "", numbers[i]);
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

static void write_silent(FILE *out, const struct mcast_reservation *reservation)
{
    const char *list = reservation->waiting_silent;
    if (reservation->waiting_count > reservation->waiting_unheard)
        fputs(", ", out);
    if (list) {
        fprintf(out, "silent: %s", list);
        if (reservation->waiting_silent_more > 0)
            fprintf(out, " and %u more", reservation->waiting_silent_more);
        return;
    }
    fprintf(out, "%u that said nothing", reservation->waiting_unheard);
    if (!reservation->nodes)
        fprintf(out, " (which is not known: the job only gave the number of nodes%s",
                reservation->held_until ? "; only the time ends it)" : ")");
}

char *view_waiting(const struct mcast_reservation *reservation)
{
    char *text = NULL;
    size_t size;
    FILE *out = memory_must(open_memstream(&text, &size));
    if (reservation->waiting_count == 0)
        fputs(reservation->held_until ? "no node, only the time" : "no node", out);
    write_reports(out, reservation);
    if (reservation->waiting_unheard > 0)
        write_silent(out, reservation);
    fclose(out);
    return text;
}

static void add_nodes(struct table *table, const struct mcast_reservation *reservation)
{
    table_pair(table, "Nodes", "%u%s%s", reservation->node_count, reservation->nodes ? "  " : "",
               reservation->nodes ? reservation->nodes : "");
    if (reservation->cores_per_node > 0)
        table_pair(table, "Cores per node", "%u", reservation->cores_per_node);
    if (reservation->tasks_per_node > 0)
        table_pair(table, "Tasks per node", "%u", reservation->tasks_per_node);
    if (reservation->cpus_per_task > 0)
        table_pair(table, "CPUs per task", "%u", reservation->cpus_per_task);
    if (strcmp(reservation->interconnect, "slingshot") != 0)
        table_pair(table, "Interconnect", "%s", reservation->interconnect);
    if (reservation->partition_key)
        table_pair(table, "Partition key", "%s", reservation->partition_key);
}

static void add_shared(struct table *table, const char *const *names)
{
    char text[128] = "";
    size_t used = 0;
    for (; *names && used < sizeof text; names++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? "," : "", *names);
    table_pair(table, "Shared VNIs", "%s", text);
}

static void add_classes(struct table *table, const char *const *words)
{
    char text[256] = "-";
    size_t used = 0;
    for (; *words && used < sizeof text; words++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? "," : "", *words);
    table_pair(table, "Traffic classes", "%s", text);
}

/* "reserved, 23 addresses", "denied: the pool is empty" */
static void add_hwcoll(struct table *table, const struct mcast_reservation *reservation)
{
    static const char name[] = "Hardware collectives";
    const char *state = reservation->hwcoll_state, *reason = reservation->hwcoll_reason;
    if (view_addresses(reservation) > 0)
        table_pair(table, name, "%s, %u addresses", state, view_addresses(reservation));
    else
        table_pair(table, name, "%s%s%s", state, reason ? ": " : "", reason ? reason : "");
}

/* "3 of 64 addresses in use, by steps 0, /fA"; the broker's own knowledge. */
static void add_trees(struct table *table, const struct mcast_reservation *reservation)
{
    const char *const *steps = reservation->hwcoll_tree_steps;
    char names[512] = "";
    size_t used = 0;
    if (!reservation->hwcoll_trees_known)
        return;
    const bool all = strcmp(reservation->hwcoll_trees_known, "all") == 0;
    for (size_t i = 0; steps[i] && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i > 0 ? ", " : ", by steps ", steps[i]);
    table_pair(table, "Multicast trees", "%s%u of %u addresses in use%s%s", all ? "" : "at least ",
               reservation->hwcoll_trees, reservation->hwcoll_addresses, names,
               all ? "" : "; for all of them see --steps");
}

static void add_held(struct table *table, const struct mcast_reservation *reservation)
{
    const char *until = reservation->held_until;
    if (reservation->partition_key) {
        table_pair(table, "Quarantined until", "%s", until);
        return;
    }
    char *waiting = view_waiting(reservation);
    table_pair(table, "VNIs quarantined until", "%s",
               until ? until : "all its nodes have reported");
    table_pair(table, "Waiting for", "%s", waiting);
    free(waiting);
}

static void add_origin(struct table *table, const char *origin)
{
    const bool plugin = strcmp(origin, "plugin") == 0, claimed = strcmp(origin, "claimed") == 0;
    table_pair(table, "Made by", "%s",
               plugin    ? "Slurm's own plugin (owner, nodes and VNIs are not known)"
               : claimed ? "found at the fabric manager, a leftover of this cluster"
                         : "found at the fabric manager, perhaps another broker's");
}

int view_reservation(const struct mcast_reservation *reservation, const struct call *call,
                     unsigned flags)
{
    char text[64];
    if (call->json)
        return command_print_json(mcast_reservation_json(reservation, MCAST_JSON_INDENT | flags));
    struct table *table = table_create_pairs();
    table_pair(table, "Job", "%s/%s", reservation->cluster, reservation->job);
    table_pair(table, "Number", "%llu", (unsigned long long)reservation->number);
    table_pair(table, "State", "%s", reservation->state);
    if (reservation->origin)
        add_origin(table, reservation->origin);
    if (reservation->profile)
        table_pair(table, "Profile", "%s", reservation->profile);
    view_uid(reservation, text, sizeof text);
    if (strcmp(user_name(reservation->uid), text) == 0)
        table_pair(table, "Owner", "%s", text);
    else
        table_pair(table, "Owner", "%s (%s)", user_name(reservation->uid), text);
    add_nodes(table, reservation);
    view_numbers(reservation->vnis, reservation->vni_count, text, sizeof text);
    table_pair(table, "VNIs", "%s", text);
    if (reservation->shared_vnis[0])
        add_shared(table, reservation->shared_vnis);
    add_classes(table, reservation->traffic_classes);
    add_hwcoll(table, reservation);
    add_trees(table, reservation);
    table_pair(table, "Created", "%s", reservation->created);
    if (reservation->released)
        table_pair(table, "Released", "%s", reservation->released);
    if (reservation->held)
        add_held(table, reservation);
    if (reservation->warning)
        table_pair(table, "Warning", "%s", reservation->warning);
    for (size_t i = 0; i < reservation->env_count; i++)
        table_pair(table, i == 0 ? "Environment" : "", "%s=%s", reservation->env[i].name,
                   reservation->env[i].secret ? "***" : reservation->env[i].value);
    return table_print(table);
}
