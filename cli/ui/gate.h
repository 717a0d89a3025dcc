/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which requests of a browser `mcastctl ui` answers. Other users of the machine and pages of other
 * sites can reach its port, too (docs/ui.md). Decides only: no I/O. */

#include "base/secret.h"

enum { GATE_KEY_SIZE = 2 * 32 + 1 };

/* One request, as it came. Headers that it lacks are NULL. */
struct gate_request {
    const char *method;
    const char *target; /* with the query, not decoded */
    const char *host, *origin, *site /* Sec-Fetch-Site */, *key;
    bool body; /* it announces one */
};

struct gate_keys {
    struct secret address; /* stands in the address, and is good once: for the other one */
    struct secret session; /* the open page has it in its memory, and sends it with each request */
};

enum gate_kind {
    GATE_REFUSED,
    GATE_PAGE,    /* a file of the page: the same for all, so it needs no key */
    GATE_SESSION, /* the key of the session, for that of the address */
    GATE_BROKER,  /* to be passed on */
    GATE_RELEASE, /* of the job that the path names the reservation with the query's number */
};

struct gate_verdict {
    enum gate_kind kind;
    const char *type; /* media type of the answer; NULL: refused */
    int status;       /* of a refusal: HTTP status, a stable word, and a sentence */
    const char *code, *detail;
};

/* write: reservations may be released. */
struct gate_verdict gate_judge(const struct gate_request *request, const struct gate_keys *keys,
                               bool write);
