/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the node's NICs count while a job has services here (P6): they are read when its services
 * have been made and when they are destroyed, and the difference is told with the report that they
 * are gone. The counters are the NIC's: what other jobs send meanwhile is in them, too, and it is
 * told that there were some. */

#include "node/services/counters.h"
#include "node/services/nic.h"

#include <jansson.h>

/* Of a job, in its note. */
struct traffic {
    bool begun;       /* the counters of `nics` are those of then */
    bool ended;       /* what is behind it is to be told */
    bool shared;      /* another job had services here meanwhile */
    int64_t begun_ms; /* by note_clock_ms */
    unsigned int count;
    struct {
        char device[NIC_NAME_SIZE];
        struct counters at;
    } nics[NIC_MAX];
    struct counters sum;  /* known: of all NICs */
    unsigned int unclear; /* NICs that are not in it: a counter went back */
    unsigned int seconds;
    char slowest[NIC_NAME_SIZE], congested[NIC_NAME_SIZE]; /* "": none */
    uint64_t slowest_octets, congested_paused;
};

struct node;
struct note;

/* Its services have been made. before: the note of an earlier run of this prolog, or of nothing. */
void traffic_begin(struct node *node, struct note *note, const struct note *before);

/* Its processes have ended; the first time counts. */
void traffic_end(struct node *node, struct note *note);

/* As JSON, and back: what cannot be read is as if nothing had been counted. */
json_t *traffic_format(const struct traffic *traffic);
void traffic_parse(struct traffic *traffic, const json_t *json);
