/* The token endpoint of OAuth 2.0 (RFC 6749): client credentials in, an access token out. */
#ifndef MCAST_MOCK_FM_HTTP_OAUTH_H
#define MCAST_MOCK_FM_HTTP_OAUTH_H

#include <stdbool.h>

#include "mock-fm/http/answer.h"
#include "mock-fm/http/auth.h"
#include "mock-fm/http/request.h"

/* Is this path a token endpoint? /oauth/token, or as Keycloak has it:
 * /auth/realms/<realm>/protocol/openid-connect/token, with or without the /auth. */
bool oauth_owns(const char *path);

/* A token, or an error as in RFC 6749, 5.2; 404 when no login by tokens is configured. Always an
 * answer; the caller releases it. */
void oauth_answer(const struct auth *auth, const struct request *request, struct answer *answer);

#endif
