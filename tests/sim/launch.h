/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Launch documents: a resource manager asks for one with the reserve or later, and the prologs of
 * its nodes make services by it, without a request and without a report. Some run late, after the
 * job's end or its next start, some not at all. Others ask beside, as a het job's components do, at
 * any moment: while the reserve waits, while the job runs, after its release, in its next start;
 * and some of its nodes make services by what they get, at once. A node refuses a document of a
 * start that it remembers as ended; one that lost its memory in a boot refuses those issued before.
 */

struct sim;
struct host;
struct job;
struct request;
struct told;

struct document {
    uint64_t number;
    uint32_t epoch; /* of the ledger that issued it */
    uint32_t life;  /* the job's start that it is for */
    uint16_t vnis[VNI_PER_JOB_MAX];
    unsigned vni_count;
    uint32_t node_count; /* of the reservation */
    int64_t issued_ms;
    bool asker; /* asked for beside: the job may have another reservation by now */
};

struct launches {         /* of a job */
    struct rng rng, dice; /* dice: of those who ask beside, and of nodes that look */
    bool wanted, later;   /* in this life; asked for with another request than the reserve */
    struct document *documents;
    size_t count, room;
    int64_t arrives_ms; /* the last document that left, by then */
};

void launch_init(struct sim *sim, struct job *job, uint32_t serial);
void launch_release(struct job *job);

/* A life begins: whether it is to have a document. */
void launch_draw(struct sim *sim, struct job *job);

/* The core answers: whether the edge makes a document; and when the answer leaves. */
void launch_judge(struct sim *sim, const struct reservation *reservation, struct told *told);
void launch_leaves(struct sim *sim, struct request *request);

/* The job runs, and has been told so. False: its nodes have to ask the broker. */
bool launch_prologs(struct sim *sim, struct job *job, const struct told *told);
/* An answer to a request for a document arrives. */
void launch_answered(struct sim *sim, const struct request *request);

/* The job is starting, and nodes of it have documents of this reservation: no epilog of an earlier
 * start runs there any more. */
bool launch_begins(const struct job *job, uint64_t number);
/* The job ends: so do services of it, where there are any, but for those of one reservation. */
void launch_epilogs(struct sim *sim, struct job *job, uint64_t but);
