/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fmapi/fmapi.h"
#include "fmapi/wire/credential.h"
#include "fmapi/login/oauth.h"

/* All that a login reads from files (docs/fabric-manager.md, "Login"). */

struct loginfiles_found {
    struct credential *credential; /* to send with; with OAuth to the token endpoint */
    struct oauthclient client;     /* OAuth */
};

/* In <authdir>, one line each, as Slurm's sites have them: passwd; or endpoint, client-id and
 * client-secret. Refused when others can read a secret or change any of them (F13). 0, or an error
 * code with a sentence that names the file and the next step. Thread-safe. */
int loginfiles_read(const struct fmapi_options *options, struct loginfiles_found *out,
                    struct error *err);

void loginfiles_wipe(struct loginfiles_found *found);
