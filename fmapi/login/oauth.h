#ifndef MCAST_FMAPI_LOGIN_OAUTH_H
#define MCAST_FMAPI_LOGIN_OAUTH_H

#include "base/error.h"
#include "base/secret.h"
#include "fmapi/login/oauthclient.h"
#include "fmapi/wire/request.h"

#include <stddef.h>
#include <stdint.h>

/* What is said to an OAuth2 token endpoint and what its answers mean (RFC 6749, 4.4 and 5). Pure:
 * any bytes are allowed. */

enum {
    OAUTH_ANSWER_MAX = 65536, /* bytes */
    OAUTH_TOKEN_MAX =
        16384, /* bytes of an access token; JSON Web Tokens with many roles are long */
};

/* The request for an access token by client credentials. Its body is a secret. 0 or ERROR_NOMEM. */
int oauth_request(struct request *request, const struct oauthclient *client);

struct oauth_grant {
    struct secret token; /* owned */
    int64_t lifetime_ms; /* lifetime.h; may be LIFETIME_UNKNOWN */
};

/* An answer. 0, or an error code with a sentence that has the status, the endpoint's own words
 * ("error", "error_description": bounded, clean, without any secret) and, where there is one, the
 * next step. authdir is named in it.
 *
 * Strict: the token is what a header can carry, its type is bearer or not given. Generous: a
 * lifetime may be a number, a number in quotes, or anything else, which is unknown. */
int oauth_decode(struct oauth_grant *out, const struct oauthclient *client, const char *authdir,
                 int status, const char *body, size_t length, struct error *err);
void oauth_grant_wipe(struct oauth_grant *grant);

#endif
