/* SPDX-License-Identifier: Apache-2.0 */
/* The token endpoint of OAuth 2.0 (RFC 6749): client credentials in, an access token out. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "mock-fm/http/auth.h"
#include "mock-fm/http/message.h"

/* The fields of a body of type application/x-www-form-urlencoded, decoded: an object of strings.
 * NULL when the body is no form: a bad or a zero percent-encoded byte, what is no UTF-8 then, a
 * field twice (RFC 6749, 3.2 forbids it). */
json_t *form_parse(const char *body, size_t length);

/* Is this path a token endpoint? /oauth/token, or as Keycloak has it:
 * /auth/realms/<realm>/protocol/openid-connect/token, with or without the /auth. */
bool oauth_owns(const char *path);

/* A token, or an error as in RFC 6749, 5.2; 404 when no login by tokens is configured. Always an
 * answer; the caller releases it. */
void oauth_answer(const struct auth *auth, const struct request *request, struct answer *answer);
