/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/verdict.h"
#include "tests/system/rig/wire.h"

/* The brokers of one fabric as clients reach them, one or several, of which one leads: requests go
 * to the one that answered last, or that a standby names, or to the next one when there is none.
 * Who answers is judged: one that another has followed answers nothing any more (I9, I10). */

enum { FLEET_MAX = 3, FLEET_CONNECTIONS = 24 /* to each */ };

struct fleet_options {
    struct verdict *verdict;
    const char *sockets[FLEET_MAX]; /* paths; borrowed */
    unsigned brokers;
    int64_t give_up_ms; /* with one request; 0: for ever */
};

/* done is called once for the tag, as wire_done_fn says. */
struct fleet_request {
    wire_done_fn *done;
    void *arg;
    uint64_t tag;
};

struct fleet;
struct fleet *fleet_create(const struct fleet_options *options); /* NULL: out of memory */
void fleet_destroy(struct fleet *fleet);                         /* NULL is allowed */

unsigned fleet_at(const struct fleet *fleet); /* the broker that requests go to now */
const char *fleet_socket(const struct fleet *fleet, unsigned broker);
/* This broker is about to be started: it is another one now. */
void fleet_starts(struct fleet *fleet, unsigned broker);

bool fleet_has_room(const struct fleet *fleet);
size_t fleet_under_way(const struct fleet *fleet);
/* As wire_send; -1 also when the broker has no room. */
int fleet_send(struct fleet *fleet, const struct fleet_request *request, const char *method,
               const char *path, const char *body);
int fleet_send_to(struct fleet *fleet, unsigned broker, const struct fleet_request *request,
                  const char *method, const char *path, const char *body);
void fleet_turn(struct fleet *fleet, int timeout_ms);
void fleet_hang_up(struct fleet *fleet);

struct fleet_counts {
    unsigned reigns;              /* brokers that answered as leader, one after the other */
    uint64_t misled;              /* answers "not-leader" */
    int64_t gap_ns, worst_gap_ns; /* without an answer though one was wanted: the last, the worst */
};
struct fleet_counts *fleet_counts(struct fleet *fleet);
