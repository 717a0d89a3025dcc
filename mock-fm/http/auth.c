/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/auth.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64url.h"
#include "base/memory.h"

#define USER "cxi"
#define SECRET_LINE_MAX 512

static const struct auth_words words[] = {
    [AUTH_NONE] = {.missing = "log in",
                   .wrong = "wrong login",
                   .challenge = "Bearer realm=\"fabric manager\""},
    [AUTH_BASIC] = {.missing = "log in: this path needs the credentials of user " USER,
                    .wrong = "wrong user or password",
                    .challenge = "Basic realm=\"fabric manager\""},
    [AUTH_OAUTH] = {.missing = "log in: this path needs an access token as bearer token",
                    .wrong = "this access token is unknown, expired or revoked; get a new one",
                    .challenge = "Bearer realm=\"fabric manager\", error=\"invalid_token\""},
};

/* base64url, but with the letters and the padding of base64 (RFC 4648, 4). */
static char *base64(const char *text)
{
    size_t size = strlen(text), length = BASE64URL_LENGTH(size);
    char *coded = memory_zeroed(length + 3);
    base64url_encode((const unsigned char *)text, size, coded);
    for (char *at = coded; *at; at++)
        *at = *at == '-' ? '+' : *at == '_' ? '/' : *at;
    return strcat(coded, size % 3 == 1 ? "==" : size % 3 == 2 ? "=" : "");
}

/* The file's first line. */
static int read_line(const char *authdir, const char *name, char line[SECRET_LINE_MAX],
                     struct problem *problem)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", authdir, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return problem_set(problem, 500, "cannot read %s: %s", path, strerror(errno));
    setvbuf(file, NULL, _IONBF, 0); /* no copy of the secret stays behind in a freed buffer */
    const char *got = fgets(line, SECRET_LINE_MAX, file);
    fclose(file);
    if (got)
        line[strcspn(line, "\r\n")] = '\0';
    return got && line[0] ? 0
                          : problem_set(problem, 500, "%s is empty; it must hold one line", path);
}

static int read_password(struct auth *auth, const char *authdir, struct problem *problem)
{
    char text[sizeof USER + SECRET_LINE_MAX] = USER ":";
    int result = read_line(authdir, "passwd", text + sizeof USER, problem);
    if (result == 0)
        auth->credentials = secret_of(base64(text));
    explicit_bzero(text, sizeof text);
    return result;
}

static int read_client(struct auth *auth, const char *authdir, struct problem *problem)
{
    char id[SECRET_LINE_MAX], secret[SECRET_LINE_MAX];
    int result = -1;
    if (read_line(authdir, "client-id", id, problem) == 0 &&
        read_line(authdir, "client-secret", secret, problem) == 0) {
        auth->client_id = secret_copy(secret_of(id));
        auth->client_secret = secret_copy(secret_of(secret));
        result = 0;
    }
    explicit_bzero(secret, sizeof secret);
    return result;
}

struct auth *auth_open(enum auth_mode mode, const char *authdir, struct accesstokens *tokens,
                       struct problem *problem)
{
    struct auth *auth = memory_zeroed(sizeof *auth);
    auth->mode = mode;
    auth->words = &words[mode];
    auth->tokens = mode == AUTH_OAUTH ? tokens : NULL;
    if ((mode == AUTH_BASIC && read_password(auth, authdir, problem) < 0) ||
        (mode == AUTH_OAUTH && read_client(auth, authdir, problem) < 0)) {
        auth_close(auth);
        return NULL;
    }
    return auth;
}

void auth_close(struct auth *auth)
{
    if (!auth)
        return;
    secret_wipe(&auth->credentials);
    secret_wipe(&auth->client_id);
    secret_wipe(&auth->client_secret);
    free(auth);
}

/* What follows the scheme in the header; NULL for another scheme. */
static const char *after_scheme(const char *header, const char *scheme)
{
    size_t length = strlen(scheme);
    if (!header || strncasecmp(header, scheme, length) != 0 || header[length] != ' ')
        return NULL;
    return header + length + strspn(header + length, " ");
}

static bool is_login(const struct auth *auth, const char *header, int64_t now_us)
{
    const char *shown;
    if (auth->mode == AUTH_BASIC)
        return (shown = after_scheme(header, "Basic")) &&
               secret_equal(auth->credentials, secret_of(shown));
    return (shown = auth_bearer(header)) && accesstokens_opens(auth->tokens, shown, now_us);
}

enum auth_login auth_judge(const struct auth *auth, const char *header, int64_t now_us)
{
    const char *bearer = auth_bearer(header);
    if (bearer && (auth->mode != AUTH_OAUTH || session_is_token(bearer)))
        return AUTH_BEARER;
    if (auth->mode == AUTH_NONE)
        return AUTH_ADMITTED;
    if (!header)
        return AUTH_MISSING;
    return is_login(auth, header, now_us) ? AUTH_ADMITTED : AUTH_WRONG;
}

const char *auth_bearer(const char *header)
{
    return after_scheme(header, "Bearer");
}

bool auth_shows_session(const char *header)
{
    const char *bearer = auth_bearer(header);
    return bearer && session_is_token(bearer);
}

bool auth_is_client(const struct auth *auth, const char *id, const char *secret)
{
    /* Both, always: the time must not tell which of them was wrong. */
    bool right_id = secret_equal(auth->client_id, secret_of(id));
    bool right_secret = secret_equal(auth->client_secret, secret_of(secret));
    return right_id && right_secret;
}
