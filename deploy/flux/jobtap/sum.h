/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the nodes of a job say at its end, told to the broker at once (F3, G20). Each node whose
 * services are gone says so to the plugin, from its epilog (tell.c), and waits for the answer. The
 * broker gets one request with all of them; a node that it could not be told of reports itself. So
 * a sum has the word of each node that it names, whatever becomes of the others. */

#include "deploy/flux/jobtap/jobtap.h"

struct sum;

struct sum_word {
    const char *job;
    uint64_t number; /* of the reservation, as the node has it */
    const char *node;
    const char *traffic; /* what it has counted, as JSON; "": nothing */
    uint32_t node_count; /* of the job: so many words are all; 0: not known */
};

/* *place: the job's words that are not sent yet, NULL at first; it must stay where it is until
 * that is NULL again. word: is answered by and by. False: nothing is known of it, and the caller
 * answers it. */
bool sum_add(struct jobtap *jobtap, struct sum **place, const struct sum_word *said,
             const flux_msg_t *word);

/* The job is no more: refuses what is not sent. NULL is allowed. */
void sum_give_up(struct sum *sum);
