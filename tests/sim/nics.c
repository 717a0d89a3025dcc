/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/nics.h"

#include "core/inventory/nodenics.h"
#include "tests/sim/sim.h"

#include <stdio.h>
#include <string.h>

enum { ANSWER_TIMEOUT_MS = 3000, REPLACED_WITHIN_MS = 240000, STREAM = 7700, FORGOTTEN = 300 };

void nics_init(struct sim *sim)
{
    for (uint32_t i = 0; i < NIC_NODES; i++) {
        struct nicnode *node = &sim->nics.nodes[i];
        snprintf(node->name, sizeof node->name, "nic-node%u", i);
        rng_init(&node->rng, sim->profile.seed, STREAM + i);
    }
    sim->nics.told = rng_chance(&sim->nics.nodes[0].rng, 250);
}

static void tell(struct sim *sim, struct nicnode *node);

static void no_answer(struct sim *sim, void *what, uint64_t attempt)
{
    struct nicnode *node = what;
    if (node->telling && node->attempt == attempt)
        tell(sim, node);
}

static void tell(struct sim *sim, struct nicnode *node)
{
    struct request *request = rm_request(sim, REQUEST_NICS, NULL);
    struct nics_wish *wish = &request->nics;
    *wish = (struct nics_wish){
        .node = node, .serial = node->serial, .order = ++node->order, .attempt = ++node->attempt};
    snprintf(wish->text, sizeof wish->text, "cxi0,1,200000,1,S%u,", node->serial);
    node->telling = true;
    bool late = fault_happens(&sim->faults, FAULT_WORD_LATE, &node->rng);
    rm_send(sim, request,
            late ? rng_between(&node->rng, ANSWER_TIMEOUT_MS, 30000)
                 : rng_between(&node->rng, 0, sim->profile.net_ms));
    sim_later(sim, ANSWER_TIMEOUT_MS, no_answer, node, node->attempt);
}

static void forget(struct sim *sim, struct nicnode *node)
{
    struct request *request = rm_request(sim, REQUEST_NICS, NULL);
    request->nics = (struct nics_wish){.node = node, .forget = true};
    node->forgotten = true;
    sim_trace(sim, "node %s: is to be forgotten", node->name);
    rm_send(sim, request, rng_between(&node->rng, 0, sim->profile.net_ms));
}

static void replace(struct sim *sim, void *what, uint64_t mark)
{
    struct nicnode *node = what;
    if (sim->phase != PHASE_STORM || mark != sim->calm)
        return;
    node->serial++;
    sim_trace(sim, "node %s: has NIC S%u now", node->name, node->serial);
    tell(sim, node);
    if (node == &sim->nics.nodes[NIC_NODES - 1] && rng_chance(&node->rng, FORGOTTEN))
        forget(sim, node);
    sim_later(sim, rng_between(&node->rng, 1000, REPLACED_WITHIN_MS), replace, node, mark);
}

void nics_storm(struct sim *sim)
{
    for (size_t i = 0; i < NIC_NODES && sim->nics.told; i++)
        sim_later(sim, rng_between(&sim->nics.nodes[i].rng, 0, REPLACED_WITHIN_MS / 4), replace,
                  &sim->nics.nodes[i], sim->calm);
}

void nics_event(const struct request *request, struct core_event *event)
{
    event->kind = request->nics.forget ? CORE_FORGET_NICS : CORE_NODE_NICS;
    event->ticket = request->ticket;
    event->u.nics.node = request->nics.node->name;
    event->u.nics.nics = request->nics.text;
    event->u.nics.order = request->nics.order;
}

/* ---- what must be so ---- */

static uint32_t serial_in(const char *text)
{
    const char *at = strchr(text, 'S');
    unsigned serial = 0;
    return at && sscanf(at, "S%u", &serial) == 1 ? serial : 0;
}

static const struct nics_record *on_disk(const struct sim *sim, const struct nicnode *node)
{
    for (size_t i = 0; i < sim->disk.nics_count; i++)
        if (strcmp(sim->disk.nics[i]->u.nics.node, node->name) == 0)
            return &sim->disk.nics[i]->u.nics;
    return NULL;
}

/* Each change is one event, which follows the one before; older ones may have been dropped. */
static void check_events(struct sim *sim, const struct nicnode *node, uint32_t now)
{
    uint32_t last = 0;
    char name[16];
    for (size_t i = 0; i < sim->disk.event_count; i++) {
        const struct event_record *event = &sim->disk.events[i]->u.event;
        unsigned is, was;
        if (event->kind != EVENT_NIC_REPLACED ||
            sscanf(event->detail, "node %15[^:]: cxi0 was replaced (serial number S%u, before S%u)",
                   name, &is, &was) != 3 ||
            strcmp(name, node->name) != 0)
            continue;
        if (is <= was || (last > 0 && was != last && !node->forgotten))
            sim_fail(sim, "P5", "event %llu: %s had S%u before", (unsigned long long)event->seq,
                     event->detail, last);
        last = is;
    }
    if (last > 0 && last != now && !node->forgotten)
        sim_fail(sim, "P5", "node %s: the last event is of S%u, on disk is S%u", node->name, last,
                 now);
}

static void check(struct sim *sim, const struct nicnode *node)
{
    const struct nics_record *row = on_disk(sim, node);
    const uint32_t serial = row ? serial_in(row->nics) : 0;
    if ((serial < node->heard && !node->forgotten) || serial > node->serial)
        sim_fail(sim, "I2", "node %s: S%u was confirmed, S%u is on disk, S%u is there", node->name,
                 node->heard, serial, node->serial);
    check_events(sim, node, serial);
}

void nics_given(struct sim *sim, const struct request *request, const struct told *told)
{
    if (request->nics.forget) {
        if (told->kind != ANSWER_FORGOTTEN && told->kind != ANSWER_NOT_FOUND)
            sim_fail(sim, "answers", "that a node is forgotten was answered: %s",
                     answer_word(told->kind));
        return;
    }
    if (told->kind != ANSWER_REPORTED && told->kind != ANSWER_TOO_OFTEN)
        sim_fail(sim, "answers", "a report of NICs was answered: %s", answer_word(told->kind));
}

void nics_answered(struct sim *sim, const struct request *request)
{
    struct nicnode *node = request->nics.node;
    if (request->told.epoch != sim->model.epoch || request->nics.forget)
        return;
    if (request->told.kind == ANSWER_REPORTED && request->nics.serial > node->heard &&
        request->nics.attempt == node->attempt)
        node->heard = request->nics.serial;
    if (node->attempt == request->nics.attempt)
        node->telling = false; /* or too often: the next change tells it */
    if (sim->edge.core)
        check(sim, node);
}

void nics_rewound(struct sim *sim)
{
    for (size_t i = 0; i < NIC_NODES; i++) {
        const struct nics_record *row = on_disk(sim, &sim->nics.nodes[i]);
        sim->nics.nodes[i].heard = row ? serial_in(row->nics) : 0;
    }
}

/* P6: each node that told it counts once. Hosts tell one of everything. */
static void check_traffic(struct sim *sim)
{
    for (size_t i = 0; i < sim->disk.traffic_count; i++) {
        const struct traffic_record *sum = &sim->disk.traffic[i]->u.traffic;
        for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
            if (sum->amounts[kind] != sum->told || sum->told == 0 || !sum->slowest)
                sim_fail(sim, "P6", "traffic of number %llu: %u nodes told it, the sum is %llu",
                         (unsigned long long)sum->number, sum->told,
                         (unsigned long long)sum->amounts[kind]);
    }
}

void nics_check(struct sim *sim)
{
    check_traffic(sim);
    for (size_t i = 0; i < NIC_NODES; i++)
        check(sim, &sim->nics.nodes[i]);
}
