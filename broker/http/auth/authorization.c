/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/authorization.h"

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
        return problem_set(problem, 401, "munge-invalid", "Authorization",
                           "Authorization has the scheme Munge but no credential; use "
                           "\"Munge CREDENTIAL\"");
    if (bearer)
        return problem_set(problem, 401, "token-invalid", "Authorization",
                           "Authorization has the scheme Bearer but no token; use "
                           "\"Bearer TOKEN\"");
    /* Not quoted: what stands there may be a credential whose scheme was forgotten. */
    return problem_set(problem, 401, "unknown-scheme", "Authorization",
                       "the scheme of Authorization is not supported; use Munge or Bearer");
}
