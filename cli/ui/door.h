/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which requests of a browser `mcastctl ui` answers. Other users of the machine and pages of other
 * sites can reach its port, too (docs/ui.md). Decides only: no I/O. */

#include "base/secret.h"

enum { DOOR_KEY_SIZE = 2 * 32 + 1 };

/* One request, as it came. Headers that it lacks are NULL. */
struct door_request {
    const char *method;
    const char *target; /* with the query, not decoded */
    const char *host, *origin, *site /* Sec-Fetch-Site */, *key;
    bool body; /* it announces one */
};

struct door_keys {
    struct secret address; /* stands in the address, and is good once: for the other one */
    struct secret session; /* the open page has it in its memory, and sends it with each request */
};

enum door_kind {
    DOOR_REFUSED,
    DOOR_PAGE,    /* a file of the page: the same for all, so it needs no key */
    DOOR_SESSION, /* the key of the session, for that of the address */
    DOOR_BROKER,  /* to be passed on */
    DOOR_RELEASE, /* of the reservation that the path names */
};

struct door_verdict {
    enum door_kind kind;
    const char *type; /* media type of the answer; NULL: refused */
    int status;       /* of a refusal: HTTP status, a stable word, and a sentence */
    const char *code, *detail;
};

/* write: reservations may be released. */
struct door_verdict door_judge(const struct door_request *request, const struct door_keys *keys,
                               bool write);
