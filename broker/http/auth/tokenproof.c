/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/tokenproof.h"

#include "broker/bearers.h"
#include "broker/http/shared.h"
#include "core/reservation/reservation.h"
#include "tokens/issuer.h"

#include <stdio.h>

static int refuse_token(struct problem *problem, const char *code, const char *words)
{
    return problem_set(problem, 401, code, "Authorization", "%s", words);
}

/* ---- finding the reservation ---- */

static void keep_found(void *arg, const struct reservation *reservation)
{
    *(const struct reservation **)arg = reservation;
}

static const struct reservation *find_number(const struct core *core, uint64_t number)
{
    const struct reservation *found = NULL;
    const struct core_filter filter = {.uid = -1, .after = number - 1, .limit = 1};
    if (number > 0)
        (void)core_page(core, &filter, keep_found, &found);
    return found && found->number == number ? found : NULL;
}

/* ---- judging ---- */

static int judge_session(const struct http *http, struct secret shown, struct tokenproof *out,
                         struct problem *problem)
{
    const struct reservation *found =
        find_number(engine_core(http->engine), bearers_find(http->bearers, shown));
    if (!found)
        return refuse_token(problem, "token-unknown",
                            "the token is neither the session token of a job with a reservation "
                            "here nor a token of this broker");
    *out = (struct tokenproof){.session = true};
    out->scope = (struct bearer_scope){.number = found->number,
                                       .operations = BEARER_EVERYTHING,
                                       .expires = INT64_MAX,
                                       .unknown = -1};
    snprintf(out->scope.cluster, sizeof out->scope.cluster, "%s", found->cluster);
    snprintf(out->scope.job, sizeof out->scope.job, "%s", found->job);
    return 0;
}

/* Nothing that the token says is believed, nor answered with, before it is known to be genuine:
 * whether it has expired comes second. */
static int verify_token(const struct http *http, const struct bearer *bearer,
                        struct problem *problem)
{
    const struct rootkeys *keys = keyring_keys(http->keyring);
    const int64_t now = engine_now_ms(http->engine) / 1000;
    struct error err = {0};
    int rc = issuer_verify(keys, bearer, 0, &err);
    if (rc == ERROR_NOMEM)
        return problem_set(problem, 503, "out-of-memory", NULL, "%s", err.text);
    if (rc < 0)
        return refuse_token(problem, "token-invalid", err.text);
    return now >= bearer->scope.expires && issuer_verify(keys, bearer, now, &err) < 0
               ? refuse_token(problem, "token-expired", err.text)
               : 0;
}

static int judge_ours(const struct http *http, struct secret shown, struct tokenproof *out,
                      struct problem *problem)
{
    struct bearer bearer;
    struct error err = {0};
    if (bearer_decode(shown, &bearer, &err) < 0)
        return refuse_token(problem, "token-invalid", err.text);
    int rc = verify_token(http, &bearer, problem);
    if (rc == 0) {
        *out = (struct tokenproof){.scope = bearer.scope};
        bearer_id(&bearer, out->id);
    }
    bearer_wipe(&bearer);
    return rc;
}

int tokencheck_judge(const struct http *http, struct secret shown, struct tokenproof *out,
                     struct problem *problem)
{
    int rc = bearer_is_ours(shown) ? judge_ours(http, shown, out, problem)
                                   : judge_session(http, shown, out, problem);
    if (rc < 0 || tokencheck_reservation(http, out))
        return rc;
    return problem_set(problem, 401, "reservation-over", "Authorization",
                       "the reservation of job %s on cluster %s that the token is for is over, and "
                       "all of its steps with it",
                       out->scope.job, out->scope.cluster);
}

/* A job that is submitted again under its id has another number, and the old token does not fit. */
const struct reservation *tokencheck_reservation(const struct http *http,
                                                 const struct tokenproof *proof)
{
    const struct bearer_scope *scope = &proof->scope;
    const struct reservation *found =
        core_find(engine_core(http->engine), scope->cluster, scope->job);
    return found && found->number == scope->number && found->state == JOB_ACTIVE ? found : NULL;
}
