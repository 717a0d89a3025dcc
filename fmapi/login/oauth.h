/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "fmapi/wire/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The OAuth2 login: requests to a token endpoint and what its answers mean
 * (RFC 6749, 4.4 and 5), lifetimes. Any bytes of an answer are allowed. */

enum {
    OAUTH_ANSWER_MAX = 65536, /* bytes */
    OAUTH_TOKEN_MAX = 16384,  /* bytes; JSON Web Tokens with many roles are long */
};

/* What an OAuth2 client knows, from files (loginfiles.h). */
struct oauthclient {
    struct secret endpoint; /* http or https URL; may carry a query, which is not shown */
    struct secret id;
    struct secret secret;
};

bool oauthclient_equal(const struct oauthclient *a, const struct oauthclient *b);
void oauthclient_wipe(struct oauthclient *client);

/* The request for an access token by client credentials. Its body is a secret. */
struct request oauth_request(const struct oauthclient *client);

struct oauth_grant {
    struct secret token; /* owned */
    int64_t lifetime_ms; /* may be LIFETIME_UNKNOWN */
};

/* An answer. 0, or an error code with a sentence that has the status, the endpoint's text ("error",
 * "error_description": bounded, printable, without secrets) and, where there is one, the next step,
 * which names authdir. The token must fit a header, its type be bearer or missing. A lifetime that
 * is neither a number nor a number in quotes is unknown. */
int oauth_decode(struct oauth_grant *out, const struct oauthclient *client, const char *authdir,
                 int status, const char *body, size_t length, struct error *err);

/* How long an access token is valid, in milliseconds. 300 s to a year occur; 5 s must work. */
enum { LIFETIME_UNKNOWN = -1, LIFETIME_MIN_MS = 1000 };
#define LIFETIME_MAX_MS (INT64_C(10) * 366 * 24 * 3600 * 1000)

/* Of "expires_in". Not positive, or no number: unknown, for some servers send 0 or -1 for a token
 * without end; one that does end is refused once and then renewed. Limited to 1 s to ten years. */
int64_t lifetime_of_seconds(double seconds);

/* The time from a token's start to its renewal: three quarters of its lifetime, and of a long one
 * all but an hour. lifetime is not unknown. */
int64_t lifetime_renew_ms(int64_t lifetime);

/* The pause after a renewal that failed while left_ms of the lifetime remain. -1: no retry. */
int64_t lifetime_retry_ms(int64_t left_ms);
