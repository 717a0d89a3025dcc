#include "broker/http/auth/tokenproof.h"

#include <microhttpd.h>
#include <stdio.h>

int tokenproof_allows(const struct tokenproof *proof, enum bearer_operation operation,
                      const char *step, struct problem *problem)
{
    struct error err = {0};
    if (bearer_allows(&proof->scope, operation, step, &err) == 0)
        return 0;
    return problem_set(problem, MHD_HTTP_FORBIDDEN, "outside-scope", NULL, "%s", err.text);
}

const char *tokenproof_format(const struct tokenproof *proof, char *out, size_t size)
{
    snprintf(out, size, "%s%s of %s/%s", proof->session ? "session token" : "token ", proof->id,
             proof->scope.cluster, proof->scope.job);
    return out;
}
