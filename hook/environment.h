/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_HOOK_ENVIRONMENT_H
#define MCAST_HOOK_ENVIRONMENT_H

#include "base/error.h"
#include "base/names.h"
#include "base/secret.h"

#include <stdbool.h>

/* What the environment says: which step, which services to ask, and with which token (F19). */

struct environment {
    char step[STEP_ID_MAX + 1]; /* steppath_valid */

    bool broker;                /* there is one to ask */
    const char *broker_url;     /* NULL: where libmcast looks */
    struct secret broker_token; /* the broker's, or the job's session token */

    const char *trees_url; /* ends as baseurl_of_trees wants it; NULL: the fabric manager cannot be
                              asked */
    const char *job;
    const char *cacert; /* as exchange_ca wants it */
    bool verify;
    struct secret session_token;
    struct error no_fabric; /* why it cannot be asked, in words */
};

/* Reads the environment; step NULL: the environment's. Sends nothing, and needs no library but
 * libc: the caller of the hook waits for it. Borrows the strings. 0; ERROR_NOT_FOUND: there is no
 * job with hardware collectives, which is not a fault; ERROR_INVALID with what is missing or wrong,
 * and no secret. */
int environment_read(struct environment *environment, const char *step, struct error *err);

#endif
