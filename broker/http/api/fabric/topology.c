/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/fabric/topology.h"

#include "broker/http/auth/tokenproof.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/http/shared.h"
#include "core/inventory/nodeaddresses.h"
#include "core/inventory/topology.h"

#include <stdlib.h>
#include <string.h>

/* GET /v1/clusters/{cluster}/jobs/{job}/topology, /v1/reservation/topology: which part of the
 * fabric a job spans (P1, P7). */

struct placing {
    struct topology *topology;
    const struct inventory *inventory;
};

static void place(void *arg, const char *node)
{
    struct placing *placing = arg;
    topology_add(placing->topology, placing->inventory, node);
}

static void write_names(struct writer *out, const char *key, struct nodeset *set)
{
    struct nodefold fold;
    nodeset_fold(set, &fold);
    writer_string(out, key, fold.text);
    if (fold.left_out == 0)
        return;
    writer_textf(out, ",\"%s_left_out\":%u", key, fold.left_out);
}

static void write_switch(struct writer *out, const struct fabricmap *map, struct topology_switch *s)
{
    char name[FABRIC_ADDRESS_SIZE];
    const struct fabric_switch *known = map ? fabricmap_switch(map, s->place) : NULL;
    fabric_switch_format(name, s->place);
    writer_begin_object(out, NULL);
    writer_string(out, "switch", name);
    writer_number(out, "group", s->place / FABRIC_SWITCHES);
    writer_string(out, "state", known ? fabric_state_word(known->state) : NULL);
    writer_number(out, "nics", s->nics);
    writer_number(out, "nics_down", s->nics_down);
    writer_number(out, "node_count", s->nodes);
    write_names(out, "nodes", &s->names);
    writer_end_object(out);
}

void topology_json_write(struct writer *out, const struct inventory *inventory,
                         const struct reservation *reservation, bool addresses)
{
    struct placing placing = {topology_create(), inventory};
    struct topology *topology = placing.topology;
    if (reservation->nodes)
        nodelist_each(reservation->nodes, place, &placing);
    topology_finish(topology);
    writer_begin_object(out, NULL);
    writer_string(out, "cluster", reservation->cluster);
    writer_string(out, "job", reservation->job);
    writer_number(out, "node_count", reservation->node_count);
    writer_number(out, "placed", topology->nodes - topology->unplaced_count);
    writer_number(out, "nics", topology->nics);
    writer_number(out, "nics_down", topology->nics_down);
    write_names(out, "nodes_with_nics_down", &topology->nodes_down);
    write_names(out, "nodes_without_address", &topology->unplaced);
    writer_number(out, "groups", topology->groups);
    writer_begin_array(out, "switches");
    for (size_t i = 0; i < topology->switch_count; i++)
        write_switch(out, inventory->map, &topology->switches[i]);
    writer_end_array(out);
    if (addresses) {
        enum nodeaddresses_lack lack;
        char *text = nodeaddresses_write(inventory, reservation->nodes, &lack);
        writer_string(out, "node_addresses", text);
        free(text);
    }
    writer_end_object(out);
    topology_destroy(topology);
}

enum { NODES_PER_MS = 16, AT_ONCE_MS = 2000 };

/* All nodes are looked up in the loop, some microseconds for each: a user, and who has his jobs'
 * tokens, gets 16,000 nodes a second in the long run, which is two hundredths of the loop. */
static int check_pace(struct call *call, const struct reservation *reservation, unsigned times)
{
    struct http *http = call->http;
    if (rights_manages(http->rights, &call->identity, reservation->cluster))
        return 0;
    const uint64_t cost_ms = 1 + times * (reservation->node_count / NODES_PER_MS);
    const uint64_t wait_ms = pace_take(&http->topologies, UINT64_C(1) + reservation->uid,
                                       reservation->uid, cost_ms, AT_ONCE_MS, uv_now(http->loop));
    if (wait_ms == 0)
        return 0;
    problem_set(&call->problem, 429, "asked-too-often", NULL,
                "the topologies of jobs of uid %u are asked for too often: ask again in %u s, or "
                "follow the job's events (job-fabric), which tell what of it changes",
                (unsigned)reservation->uid, (unsigned)((wait_ms + 999) / 1000));
    call->problem.retry_after = (unsigned)((wait_ms + 999) / 1000);
    return -1;
}

static int show(struct call *call, const struct reservation *reservation)
{
    const char *wish = target_query(&call->target, "addresses");
    const bool addresses = wish && strcmp(wish, "yes") == 0;
    if (wish && !addresses && strcmp(wish, "no") != 0)
        return problem_set(&call->problem, 422, "invalid", "addresses",
                           "addresses must be yes or no");
    if (check_pace(call, reservation, addresses ? 2 : 1) < 0) /* they are looked up again */
        return -1;
    struct inventory_facts facts;
    const struct inventory inventory = engine_inventory(call->http->engine, &facts);
    struct turn *turn = engine_turn(call->http->engine);
    const char *before = turn_enter(turn, "the topology of a job");
    topology_json_write(&call->out, &inventory, reservation, addresses);
    turn_leave(turn, before);
    call_show(call, reservation);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}

int topology_handle(struct call *call)
{
    enum job_sight sight;
    const struct reservation *found = job_path_find(call, JOB_WHOLE, &sight);
    return found ? show(call, found) : -1;
}

int owntopology_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    if (tokenproof_allows(proof, BEARER_SHOW, NULL, &call->problem) < 0)
        return -1;
    return show(call, tokencheck_reservation(call->http, proof));
}
