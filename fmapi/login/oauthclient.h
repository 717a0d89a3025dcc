#ifndef MCAST_FMAPI_LOGIN_OAUTHCLIENT_H
#define MCAST_FMAPI_LOGIN_OAUTHCLIENT_H

#include "base/error.h"
#include "base/secret.h"

#include <stdbool.h>

/* Who we are at the OAuth2 token endpoint and where that is: the files of <authdir>, one line each,
 * as Slurm's sites have them (fabric-manager.md, "Login"). */

struct oauthclient {
    struct secret endpoint; /* http or https URL; may carry a query, which is not shown */
    struct secret id;
    struct secret secret;
};

/* 0, or an error code with a sentence that names the file and what to do. client-secret is refused
 * when others can read it, all three when others can change them (F13). */
int oauthclient_read(const char *authdir, struct oauthclient *out, struct error *err);

bool oauthclient_equal(const struct oauthclient *a, const struct oauthclient *b);

void oauthclient_wipe(struct oauthclient *client);

#endif
