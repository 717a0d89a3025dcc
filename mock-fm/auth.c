#include "mock-fm/auth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mock-fm/secret.h"

#define USER "cxi"
#define PASSWORD_MAX 512

struct auth {
    enum auth_mode mode;
    char *credentials; /* base64 of "cxi:<password>" */
};

static char *base64(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text);
    char *coded = malloc((length + 2) / 3 * 4 + 1), *out = coded;

    for (size_t i = 0; coded && i < length; i += 3) {
        size_t rest = length - i;
        unsigned word = (unsigned)(unsigned char)text[i] << 16;

        if (rest > 1)
            word |= (unsigned)(unsigned char)text[i + 1] << 8;
        if (rest > 2)
            word |= (unsigned char)text[i + 2];
        *out++ = digits[word >> 18];
        *out++ = digits[(word >> 12) & 63];
        *out++ = rest > 1 ? digits[(word >> 6) & 63] : '=';
        *out++ = rest > 2 ? digits[word & 63] : '=';
    }
    if (coded)
        *out = '\0';
    return coded;
}

static int read_password(const char *path, char password[PASSWORD_MAX], struct problem *problem)
{
    FILE *file = fopen(path, "re");
    char *line;

    if (!file)
        return problem_set(problem, 500, "cannot read the password in %s: %s", path,
                           strerror(errno));
    setvbuf(file, NULL, _IONBF, 0); /* no copy of the password stays behind in a freed buffer */
    line = fgets(password, PASSWORD_MAX, file);
    fclose(file);
    if (line)
        line[strcspn(line, "\r\n")] = '\0';
    if (!line || !line[0])
        return problem_set(problem, 500, "%s is empty; it must hold the password of user %s", path,
                           USER);
    return 0;
}

static int read_credentials(struct auth *auth, const char *authdir, struct problem *problem)
{
    char text[sizeof USER + PASSWORD_MAX] = USER ":";
    char *path;
    int result;

    if (asprintf(&path, "%s/passwd", authdir) < 0)
        return problem_set(problem, 500, "out of memory");
    result = read_password(path, text + sizeof USER, problem);
    free(path);
    if (result == 0 && !(auth->credentials = base64(text)))
        result = problem_set(problem, 500, "out of memory");
    explicit_bzero(text, sizeof text);
    return result;
}

struct auth *auth_open(enum auth_mode mode, const char *authdir, struct problem *problem)
{
    struct auth *auth = calloc(1, sizeof *auth);

    if (!auth) {
        problem_set(problem, 500, "out of memory");
        return NULL;
    }
    auth->mode = mode;
    if (mode == AUTH_BASIC && read_credentials(auth, authdir, problem) < 0) {
        auth_close(auth);
        return NULL;
    }
    return auth;
}

void auth_close(struct auth *auth)
{
    if (!auth)
        return;
    if (auth->credentials)
        explicit_bzero(auth->credentials, strlen(auth->credentials));
    free(auth->credentials);
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

enum auth_login auth_judge(const struct auth *auth, const char *header)
{
    const char *credentials = after_scheme(header, "Basic");

    if (auth_bearer(header))
        return AUTH_BEARER;
    if (auth->mode == AUTH_NONE)
        return AUTH_ADMITTED;
    if (!header)
        return AUTH_MISSING;
    return credentials && secret_equal(auth->credentials, credentials) ? AUTH_ADMITTED : AUTH_WRONG;
}

const char *auth_bearer(const char *header)
{
    return after_scheme(header, "Bearer");
}
