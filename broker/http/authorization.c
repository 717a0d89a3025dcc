#include "broker/http/authorization.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

static bool scheme_is(const char *value, size_t length, const char *scheme)
{
    return length == strlen(scheme) && strncasecmp(value, scheme, length) == 0;
}

int authorization_read(const char *value, const char **credential, struct problem *problem)
{
    size_t length = strcspn(value, " \t");
    const char *shown = value + length + strspn(value + length, " \t");
    *credential = shown;
    if (scheme_is(value, length, "Munge") && *shown)
        return 0;
    if (scheme_is(value, length, "Munge"))
        return problem_set(problem, MHD_HTTP_UNAUTHORIZED, "munge-invalid", "Authorization",
                           "Authorization names Munge and shows no credential; write "
                           "\"Munge CREDENTIAL\"");
    if (scheme_is(value, length, "Bearer"))
        return problem_set(problem, MHD_HTTP_UNAUTHORIZED, "no-tokens-yet", "Authorization",
                           "this broker takes no bearer tokens; show a MUNGE credential, a client "
                           "certificate, or use the Unix socket");
    /* Not quoted: what stands there may be a credential whose scheme was forgotten. */
    return problem_set(problem, MHD_HTTP_UNAUTHORIZED, "unknown-scheme", "Authorization",
                       "Authorization begins with no scheme that is known here; Munge is");
}
