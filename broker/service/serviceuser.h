/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "base/error.h"

#include <sys/types.h>

/* The user of the service, for what root does before it starts: --make-key makes the key for that
 * user, --check runs as that user, because root may read everything and owns other files.
 *
 * The user that was named (a name or a uid), else the owner of the folder of the ledger, which the
 * service must be able to write to; for who is not root: himself. */

struct serviceuser {
    uid_t uid;
    gid_t gid;
    char name[64]; /* or the uid, if it has none */
};

/* ERROR_NOT_FOUND: there is no such user, or none was named and there is no such folder. */
int serviceuser_find(struct serviceuser *user, const char *named, const struct config *config,
                     struct error *err);

/* This process is that user from now on, with its groups; for root only, others can only stay
 * themselves. ERROR_REFUSED. */
int serviceuser_become(const struct serviceuser *user, struct error *err);
