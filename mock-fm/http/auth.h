/* SPDX-License-Identifier: Apache-2.0 */
/* The login of the fabric manager: who may see and change jobs.
 *
 * Basic authentication with user `cxi` and the password of `<authdir>/passwd`; or OAuth 2.0, whose
 * client id and secret are the one line of `<authdir>/client-id` and `client-secret`: where Slurm's
 * plugin keeps them too. Or none at all. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/secret.h"
#include "mock-fm/http/tokens.h"
#include "mock-fm/http/message.h"

enum auth_mode { AUTH_NONE, AUTH_BASIC, AUTH_OAUTH };

enum auth_login {
    AUTH_ADMITTED, /* logged in, or no login is needed */
    AUTH_BEARER,   /* shows a bearer token that is no login: perhaps a job's session token */
    AUTH_MISSING,  /* shows nothing */
    AUTH_WRONG,    /* shows a login that is not valid */
};

struct auth {
    enum auth_mode mode;
    struct secret credentials; /* base64 of "cxi:<password>" */
    struct secret client_id, client_secret;
    struct accesstokens *tokens; /* NULL unless one logs in by OAuth */
    /* What is said to those who are not logged in. */
    const struct auth_words {
        const char *missing, *wrong;
        const char *challenge; /* of WWW-Authenticate */
    } * words;
};

/* Reads the secrets that the mode needs. `tokens` (borrowed; NULL unless OAuth) outlive the
 * configuration: it can be opened anew with the same ones. NULL with a problem that names the file.
 */
struct auth *auth_open(enum auth_mode mode, const char *authdir, struct accesstokens *tokens,
                       struct problem *problem);
void auth_close(struct auth *auth);

/* Judges the Authorization header of a request (NULL: it has none). A session token is never judged
 * here, also where no login is needed. With OAuth, any other bearer token is an access token. */
enum auth_login auth_judge(const struct auth *auth, const char *header, int64_t now_us);

/* The bearer token within such a header, or NULL. */
const char *auth_bearer(const char *header);

/* Does such a header show what looks like a job's session token? */
bool auth_shows_session(const char *header);

/* Are these the client's id and secret? */
bool auth_is_client(const struct auth *auth, const char *id, const char *secret);
