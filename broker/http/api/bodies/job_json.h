/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/writer.h"
#include "core/core.h"
#include "core/reservation/reservation.h"
#include "broker/http/auth/tokenproof.h"

/* A reservation as clients read it. */

/* How many names of node lists are read for one answer, to list the nodes that have reported
 * nothing: so many take 20 ms, in which no other request is served. */
enum { JOB_JSON_NAMES = 1 << 16 };

/* What is written beside the reservation itself. */
struct job_parts {
    const char *warning;            /* NULL: none */
    const char *launch;             /* the launch document in its envelope; NULL: without */
    const char *node_addresses;     /* that travel beside it; NULL: without */
    const struct tokenproof *token; /* "token", which says what it is good for; NULL: without */
    bool env; /* "env", in which the job's token is: only for those who may have it. A token that
                 can do less must not bring the one that can do all */
    const char *node; /* "on_node": how it may concern this node, which it does; NULL: without */
    bool brief;       /* without its node list, and for whom it waits: of any length */
    uint32_t *names_left; /* of JOB_JSON_NAMES in one answer, goes down; NULL: this is all of it */
};

/* Returns whether the job's token is in it. */
bool job_json_write(struct writer *writer, const struct core *core,
                    const struct reservation *reservation, const struct job_parts *parts);

/* The variables for the tasks of a step (NULL: of any); one of them is the job's token. */
void env_json_write(struct writer *writer, const char *key, const struct core *core,
                    const struct reservation *reservation, const char *step);

/* What a token is good for, as its bearer reads it; never the token itself. */

/* "token": {"kind", "id", "steps", "operations", "expires"} */
void token_json_write(struct writer *writer, const struct tokenproof *proof);

/* "expires": null when no restriction says when, or in no year that has four digits. */
void token_json_write_expires(struct writer *writer, const struct bearer_scope *scope);
