/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/job_json.h"

#include "core/interconnect/interconnect.h"
#include "core/relay/relay.h"

#include <stdio.h>

/* Of a relayed job, as this broker knows it. Names of steps are not for all who may look. */
static void write_trees(struct writer *writer, const struct reservation *reservation, bool steps)
{
    struct relay_view view;
    relay_view(reservation, &view);
    writer_number(writer, "trees", view.trees);
    writer_string(writer, "trees_known", view.all ? "all" : "some");
    if (!steps || view.step_count == 0)
        return;
    writer_begin_array(writer, "tree_steps");
    for (uint32_t i = 0; i < view.step_count; i++)
        writer_string(writer, NULL, view.steps[i]);
    writer_end_array(writer);
}

static void write_hwcoll(struct writer *writer, const struct reservation *reservation, bool steps)
{
    int state = reservation->hwcoll;
    const char *reason = reservation->reason;
    if (state == HWCOLL_WANTED) {
        /* Looked at before its reserve is answered: nothing is promised yet. */
        state = reservation_relayed(reservation) ? HWCOLL_WANTED : HWCOLL_UNAVAILABLE;
        reason = "the fabric manager has not answered yet";
    }
    writer_begin_object(writer, "hwcoll");
    writer_string(writer, "state", hwcoll_state_word(state));
    if (reason)
        writer_string(writer, "reason", reason);
    if (reservation->addresses)
        writer_number(writer, "addresses", reservation->addresses);
    if (reservation->min_nodes)
        writer_number(writer, "min_nodes", reservation->min_nodes);
    if (state == HWCOLL_RESERVED && reservation_relayed(reservation))
        write_trees(writer, reservation, steps);
    writer_end_object(writer);
}

/* The reports of nodes that still have services of it, as far as they are named. */
static void write_reports(struct writer *writer, const struct core_waiting *waiting)
{
    writer_begin_array(writer, "nodes");
    for (uint32_t i = 0; i < waiting->named; i++)
        writer_string(writer, NULL, waiting->names[i]);
    writer_end_array(writer);
    writer_begin_array(writer, "reports");
    for (uint32_t i = 0; i < waiting->named; i++) {
        writer_begin_object(writer, NULL);
        writer_string(writer, "node", waiting->names[i]);
        writer_string(
            writer, "state",
            node_state_word(i < waiting->named_lingering ? NODE_LINGERING : NODE_CREATED));
        if (waiting->services[i])
            writer_string(writer, "services", waiting->services[i]);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

/* Each name of the job's node list is looked at: a list of many reservations stops at some point,
 * and shows only their number. */
static void write_silent(struct writer *writer, const struct reservation *reservation,
                         uint32_t *names_left)
{
    struct nodefold silent;
    if (!reservation->nodes || reservation->node_count > *names_left)
        return;
    *names_left -= reservation->node_count;
    core_silent_nodes(reservation, &silent);
    writer_string(writer, "silent", silent.text);
    if (silent.left_out > 0)
        writer_number(writer, "silent_more", silent.left_out);
}

/* Which nodes its VNIs are still held for (F3): to be repaired, or fenced. */
static void write_waiting(struct writer *writer, const struct core *core,
                          const struct reservation *reservation, uint32_t *names_left)
{
    struct core_waiting waiting;
    const int64_t until_ms = core_quarantine_end(core, reservation);
    core_waiting(reservation, &waiting);
    if (until_ms != INT64_MAX)
        writer_time(writer, "held_until", until_ms);
    writer_begin_object(writer, "waiting_for");
    writer_number(writer, "count", waiting.count);
    writer_number(writer, "unheard", waiting.unheard);
    writer_number(writer, "lingering", waiting.lingering);
    writer_number(writer, "created", waiting.created);
    write_reports(writer, &waiting);
    if (waiting.unheard > 0)
        write_silent(writer, reservation, names_left);
    writer_end_object(writer);
}

/* Of the VNIs, the last ones (B1). Their names are for those who may see all of the job. */
static void write_shared_names(struct writer *writer, const struct core *core,
                               const struct reservation *reservation)
{
    if (reservation->shared_count == 0)
        return;
    writer_begin_array(writer, "shared_vnis");
    for (unsigned i = reservation_own_vnis(reservation); i < reservation->vni_count; i++) {
        const struct shared_vni *one = core_shared(core);
        while (one && one->record.vni != reservation->vnis[i])
            one = one->next;
        writer_string(writer, NULL, one ? one->record.name : "");
    }
    writer_end_array(writer);
}

static void write_layout(struct writer *writer, const struct core *core,
                         const struct reservation *reservation)
{
    char text[16];
    writer_string(writer, "interconnect", interconnect_word(reservation->interconnect));
    if (reservation->tasks_per_node)
        writer_number(writer, "tasks_per_node", reservation->tasks_per_node);
    if (reservation->cpus_per_task)
        writer_number(writer, "cpus_per_task", reservation->cpus_per_task);
    if (!reservation->pkey)
        return;
    (void)snprintf(text, sizeof text, "0x%04x", (unsigned)reservation->pkey | PKEY_FULL_MEMBER);
    writer_string(writer, "partition_key", text);
    if (reservation->state == JOB_RELEASING)
        writer_time(writer, "held_until", core_pkey_end(core, reservation));
}

static void write_members(struct writer *writer, const struct core *core,
                          const struct reservation *reservation, const struct job_parts *parts)
{
    uint32_t all_names = JOB_JSON_NAMES;
    writer_string(writer, "cluster", reservation->cluster);
    writer_string(writer, "job", reservation->job);
    writer_number(writer, "number", reservation->number);
    writer_string(writer, "state", job_state_word(reservation->state));
    if (reservation->uid != UID_UNKNOWN)
        writer_number(writer, "uid", reservation->uid);
    if (reservation->nodes && !parts->brief)
        writer_string(writer, "nodes", reservation->nodes);
    if (reservation->node_count)
        writer_number(writer, "node_count", reservation->node_count);
    if (reservation->cores_per_node)
        writer_number(writer, "cores_per_node", reservation->cores_per_node);
    write_layout(writer, core, reservation);
    if (reservation->profiled)
        writer_string(writer, "profile", reservation_profile(reservation));
    if (reservation->origin != ORIGIN_JOB)
        writer_string(writer, "origin", reservation_origin_word(reservation->origin));
    /* Those of a reserve that may yet be refused are not shown (F4). */
    bool shown = reservation->hwcoll != HWCOLL_WANTED || reservation->wish != WISH_REQUIRED;
    writer_begin_array(writer, "vnis");
    for (unsigned i = 0; shown && i < reservation->vni_count; i++)
        writer_number(writer, NULL, reservation->vnis[i]);
    writer_end_array(writer);
    if (shown && reservation->shared_count > 0)
        writer_number(writer, "vnis_shared", reservation->shared_count);
    if (shown && parts->env)
        write_shared_names(writer, core, reservation);
    writer_begin_array(writer, "traffic_classes");
    for (int bit = 1; bit <= 0x80; bit <<= 1)
        if (reservation->traffic_classes & bit)
            writer_string(writer, NULL, traffic_class_word(bit));
    writer_end_array(writer);
    writer_time(writer, "created", reservation->created_ms);
    if (reservation->released_ms)
        writer_time(writer, "released", reservation->released_ms);
    if (reservation->state == JOB_RELEASING && reservation->vni_count > 0 && !parts->brief)
        write_waiting(writer, core, reservation,
                      parts->names_left ? parts->names_left : &all_names);
    write_hwcoll(writer, reservation, parts->env);
}

static const char *presence_word(const struct reservation *reservation, const char *node)
{
    static const char *const words[] = {[PRESENCE_NONE] = NULL,
                                        [PRESENCE_NAMED] = "named",
                                        [PRESENCE_REPORTED] = "reported",
                                        [PRESENCE_POSSIBLE] = "possible"};
    return words[core_presence(reservation, node)];
}

static void write_variable(void *arg, const char *name, const char *value)
{
    writer_string(arg, name, value);
}

void env_json_write(struct writer *writer, const char *key, const struct core *core,
                    const struct reservation *reservation, const char *step)
{
    writer_begin_object(writer, key);
    environment_each(core_config_of(core), core_fm_url(core), reservation, step, write_variable,
                     writer);
    writer_end_object(writer);
}

bool job_json_write(struct writer *writer, const struct core *core,
                    const struct reservation *reservation, const struct job_parts *parts)
{
    writer_begin_object(writer, NULL);
    write_members(writer, core, reservation, parts);
    if (parts->node)
        writer_string(writer, "on_node", presence_word(reservation, parts->node));
    if (parts->warning)
        writer_string(writer, "warning", parts->warning);
    if (parts->token)
        token_json_write(writer, parts->token);
    if (parts->launch)
        writer_string(writer, "launch", parts->launch);
    if (parts->node_addresses)
        writer_string(writer, "node_addresses", parts->node_addresses);
    if (parts->env)
        env_json_write(writer, "env", core, reservation, NULL);
    writer_end_object(writer);
    return parts->env && !(secret_none(reservation->token) && secret_none(reservation->key));
}

void token_json_write_expires(struct writer *writer, const struct bearer_scope *scope)
{
    const bool countable = scope->expires <= INT64_MAX / 1000;
    writer_time(writer, "expires", countable ? scope->expires * 1000 : INT64_MAX);
}

void token_json_write(struct writer *writer, const struct tokenproof *proof)
{
    const struct bearer_scope *scope = &proof->scope;
    writer_begin_object(writer, "token");
    writer_string(writer, "kind", proof->session ? "session" : "broker");
    writer_string(writer, "id", proof->id[0] ? proof->id : NULL);
    writer_string(writer, "steps", scope->steps[0] ? scope->steps : NULL);
    writer_begin_array(writer, "operations");
    for (unsigned bit = 1; bit < BEARER_EVERYTHING; bit <<= 1)
        if (scope->operations & bit)
            writer_string(writer, NULL, bearer_operation_word((enum bearer_operation)bit));
    writer_end_array(writer);
    token_json_write_expires(writer, scope);
    writer_end_object(writer);
}
