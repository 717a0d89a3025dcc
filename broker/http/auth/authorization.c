#include "broker/http/auth/authorization.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

static bool scheme_is(const char *value, size_t length, const char *scheme)
{
    return length == strlen(scheme) && strncasecmp(value, scheme, length) == 0;
}

int authorization_read(const char *value, struct authorization *out, struct problem *problem)
{
    size_t length = strcspn(value, " \t");
    const char *shown = value + length + strspn(value + length, " \t");
    bool munge = scheme_is(value, length, "Munge"), bearer = scheme_is(value, length, "Bearer");
    *out = (struct authorization){.scheme = munge ? AUTHORIZATION_MUNGE : AUTHORIZATION_BEARER,
                                  .shown = shown};
    if ((munge || bearer) && *shown)
        return 0;
    if (munge)
        return problem_set(problem, MHD_HTTP_UNAUTHORIZED, "munge-invalid", "Authorization",
                           "Authorization names Munge and shows no credential; write "
                           "\"Munge CREDENTIAL\"");
    if (bearer)
        return problem_set(problem, MHD_HTTP_UNAUTHORIZED, "token-invalid", "Authorization",
                           "Authorization names Bearer and shows no token; write "
                           "\"Bearer TOKEN\"");
    /* Not quoted: what stands there may be a credential whose scheme was forgotten. */
    return problem_set(problem, MHD_HTTP_UNAUTHORIZED, "unknown-scheme", "Authorization",
                       "Authorization begins with no scheme that is known here; Munge and Bearer "
                       "are");
}
