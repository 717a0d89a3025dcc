/* SPDX-License-Identifier: Apache-2.0 */
/* The token endpoint of OAuth 2.0 (RFC 6749): client credentials in, an access token out. */
#pragma once

#include <stdbool.h>

#include "mock-fm/http/auth.h"
#include "mock-fm/http/message.h"

#define FORM_FIELDS_MAX 16

/* The fields of a body of type application/x-www-form-urlencoded. They may hold secrets. */
struct form {
    char *text; /* owned: the decoded names and values, each terminated */
    size_t size;
    struct {
        const char *name, *value;
    } fields[FORM_FIELDS_MAX];
    size_t count;
};

/* Decodes. 0; or -1 when the body is no form: a bad or a zero percent-encoded byte, a field twice
 * (RFC 6749, 3.2 forbids it), too many of them; or without memory. Release it either way. */
int form_parse(struct form *form, const char *body, size_t length);

/* Wipes and frees. */
void form_release(struct form *form);

/* NULL when it is not there or empty, which is the same (RFC 6749, 3.2). */
const char *form_value(const struct form *form, const char *name);

/* Is this path a token endpoint? /oauth/token, or as Keycloak has it:
 * /auth/realms/<realm>/protocol/openid-connect/token, with or without the /auth. */
bool oauth_owns(const char *path);

/* A token, or an error as in RFC 6749, 5.2; 404 when no login by tokens is configured. Always an
 * answer; the caller releases it. */
void oauth_answer(const struct auth *auth, const struct request *request, struct answer *answer);
