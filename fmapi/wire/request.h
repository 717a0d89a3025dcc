/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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

struct request request_call(const char *base, enum fmcall_kind kind,
                            const struct fmcall_about *about);

/* One page of the list. Takes url (from malloc), which may be NULL: the first page of base. */
struct request request_page(const char *base, char *url);

void request_release(struct request *request);
