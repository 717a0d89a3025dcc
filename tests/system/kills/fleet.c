/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/fleet.h"

#include "tests/system/rig/await.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = FLEET_MAX * FLEET_CONNECTIONS };

/* A request under way, and what was known when it was sent. */
struct slot {
    struct fleet_request request;
    bool taken;
    unsigned broker, life, reign;
};

struct ship {
    struct wire *wire;
    unsigned life;  /* how often it was started */
    unsigned reign; /* of this life, as its first answer says; 0: none came */
};

struct fleet {
    struct fleet_options options;
    struct ship ships[FLEET_MAX];
    unsigned at;
    struct slot slots[SLOTS];
    int64_t wanted_ns; /* since when no answer came; 0: none is wanted */
    struct fleet_counts counts;
};

static void next_one(struct fleet *fleet, unsigned broker)
{
    if (fleet->at == broker)
        fleet->at = (broker + 1) % fleet->options.brokers;
}

/* A standby's answer names the leader, or none. */
static bool is_misled(struct fleet *fleet, unsigned broker, const struct wire_reply *reply)
{
    json_t *answer = reply->status == 503 ? json_loadb(reply->body, reply->length, 0, NULL) : NULL;
    const char *code = json_string_value(json_object_get(answer, "code"));
    const char *leader = json_string_value(json_object_get(answer, "leader"));
    const bool misled = code && strcmp(code, "not-leader") == 0;

    if (misled && fleet->at == broker) {
        next_one(fleet, broker);
        for (unsigned i = 0; leader && i < fleet->options.brokers; i++)
            if (strncmp(leader, "unix:", 5) == 0 &&
                strcmp(leader + 5, fleet->options.sockets[i]) == 0)
                fleet->at = i;
    }
    fleet->counts.misled += misled;
    json_decref(answer);
    return misled;
}

/* A life of a broker leads once. So the order of their first answers is that of their reigns, and
 * none answers what was asked when a later one had answered. */
static void judge(struct fleet *fleet, const struct slot *slot, const struct wire_reply *reply)
{
    struct ship *ship = &fleet->ships[slot->broker];

    if (ship->life != slot->life) {
        verdict_fault(fleet->options.verdict, "I9: broker %u answers after its end: %d %.200s",
                      slot->broker, reply->status, reply->body);
        return;
    }
    if (ship->reign == 0)
        ship->reign = ++fleet->counts.reigns;
    if (ship->reign < slot->reign)
        verdict_fault(fleet->options.verdict,
                      "I10: broker %u led as number %u, and answers after number %u: %d %.200s",
                      slot->broker, ship->reign, slot->reign, reply->status, reply->body);
    fleet->counts.gap_ns = fleet->wanted_ns ? await_now_ns() - fleet->wanted_ns : 0;
    if (fleet->counts.gap_ns > fleet->counts.worst_gap_ns)
        fleet->counts.worst_gap_ns = fleet->counts.gap_ns;
    fleet->wanted_ns = 0;
}

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct fleet *fleet = arg;
    const struct slot slot = fleet->slots[tag];

    fleet->slots[tag].taken = false;
    if (reply->status == 0)
        next_one(fleet, slot.broker);
    else if (!is_misled(fleet, slot.broker, reply))
        judge(fleet, &slot, reply);
    slot.request.done(slot.request.arg, slot.request.tag, reply);
}

struct fleet *fleet_create(const struct fleet_options *options)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);

    if (!fleet)
        return NULL;
    fleet->options = *options;
    for (unsigned i = 0; i < options->brokers; i++) {
        const struct wire_options wire = {.socket = options->sockets[i],
                                          .connections = FLEET_CONNECTIONS,
                                          .depth = 1,
                                          .done = on_reply,
                                          .arg = fleet};
        if (!(fleet->ships[i].wire = wire_create(&wire))) {
            fleet_destroy(fleet);
            return NULL;
        }
    }
    return fleet;
}

void fleet_destroy(struct fleet *fleet)
{
    if (!fleet)
        return;
    for (unsigned i = 0; i < fleet->options.brokers; i++)
        wire_destroy(fleet->ships[i].wire);
    free(fleet);
}

unsigned fleet_at(const struct fleet *fleet)
{
    return fleet->at;
}

const char *fleet_socket(const struct fleet *fleet, unsigned broker)
{
    return fleet->options.sockets[broker];
}

void fleet_starts(struct fleet *fleet, unsigned broker)
{
    struct ship *ship = &fleet->ships[broker];

    /* What it had said before its end is heard first. */
    while (wire_turn(ship->wire, 0) > 0)
        ;
    ship->life++;
    ship->reign = 0;
}

bool fleet_has_room(const struct fleet *fleet)
{
    return wire_has_room(fleet->ships[fleet->at].wire);
}

size_t fleet_under_way(const struct fleet *fleet)
{
    size_t count = 0;

    for (unsigned i = 0; i < fleet->options.brokers; i++)
        count += wire_under_way(fleet->ships[i].wire);
    return count;
}

int fleet_send_to(struct fleet *fleet, unsigned broker, const struct fleet_request *request,
                  const char *method, const char *path, const char *body)
{
    const struct ship *ship = &fleet->ships[broker];
    size_t tag = 0;

    while (tag < SLOTS && fleet->slots[tag].taken)
        tag++;
    if (tag == SLOTS || !wire_has_room(ship->wire))
        return -1;
    fleet->slots[tag] = (struct slot){*request, true, broker, ship->life, fleet->counts.reigns};
    if (wire_send(ship->wire, tag, method, path, body) == 0)
        return 0;
    fleet->slots[tag].taken = false;
    return -1;
}

int fleet_send(struct fleet *fleet, const struct fleet_request *request, const char *method,
               const char *path, const char *body)
{
    const unsigned broker = fleet->at;

    if (!fleet->wanted_ns)
        fleet->wanted_ns = await_now_ns();
    if (fleet_send_to(fleet, broker, request, method, path, body) == 0)
        return 0;
    next_one(fleet, broker);
    return -1;
}

void fleet_turn(struct fleet *fleet, int timeout_ms)
{
    for (unsigned i = 0; i < fleet->options.brokers; i++) {
        if (fleet->options.give_up_ms > 0)
            wire_give_up(fleet->ships[i].wire, fleet->options.give_up_ms);
        if (i != fleet->at)
            (void)wire_turn(fleet->ships[i].wire, 0);
    }
    (void)wire_turn(fleet->ships[fleet->at].wire, timeout_ms);
}

void fleet_hang_up(struct fleet *fleet)
{
    for (unsigned i = 0; i < fleet->options.brokers; i++)
        wire_hang_up(fleet->ships[i].wire);
}

struct fleet_counts *fleet_counts(struct fleet *fleet)
{
    return &fleet->counts;
}
