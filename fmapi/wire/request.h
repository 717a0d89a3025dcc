/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_WIRE_REQUEST_H
#define MCAST_FMAPI_WIRE_REQUEST_H

#include "core/fabric/fmcall.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One request to the fabric manager (docs/fabric-manager.md, "Jobs"). */

enum {
    REQUEST_ANSWER_MAX = 1 << 20,     /* bytes of an answer to a call */
    REQUEST_PAGE_MAX = 8 * (1 << 20), /* bytes of one page of the list */
};

struct request {
    const char *method;    /* static */
    char *url;             /* owned */
    char *body;            /* owned; NULL: none; wiped, for a form may hold a secret */
    const char *body_type; /* static; of body */
    bool repeatable;       /* sent twice, it does no harm */
    size_t answer_max;     /* a longer answer is an error */
};

/* RESERVE, CHECK or RELEASE of the job called name. */
struct request request_call(const char *base, enum fmcall_kind kind, const char *name,
                            uint32_t addresses);

/* STEPS or END_STEP of the job called name, or END_TREE. step is for END_STEP, step_id_valid; tree
 * for END_TREE. */
struct request request_step(const char *base, enum fmcall_kind kind, const char *name,
                            const char *step, unsigned tree);

/* One page of the list. Takes url (from malloc), which may be NULL: the first page of base. */
struct request request_page(const char *base, char *url);

void request_release(struct request *request);

#endif
