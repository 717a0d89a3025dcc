/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/hook.h"

#include "base/steppath.h"
#include "fmapi/wire/baseurl.h"
#include "fmapi/wire/decode.h"
#include "fmapi/wire/exchange.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* The calls to one fabric manager, over one connection. */
struct connection {
    const struct environment *environment;
    int64_t end_ms;
    char *base; /* of all URLs */
    struct transport_options options;
    struct credential *credential;
    CURLSH *share;
    bool trees_only; /* the token does not open a step as a whole */
    struct error *err;
};

static enum outcome judge_answer(struct connection *connection, enum fmcall_outcome outcome,
                                 const char *words)
{
    if (outcome == FM_OK || outcome == FM_GONE)
        return OUTCOME_DONE;
    (void)error_set(connection->err, ERROR_REFUSED, "the fabric manager: %.280s", words);
    return outcome == FM_REFUSED || outcome == FM_DENIED ? OUTCOME_REFUSED : OUTCOME_ABSENT;
}

/* One call; out (NULL: the answer has no content) must be released. */
static enum outcome perform_call(struct connection *connection, enum fmcall_kind kind,
                                 const char *step, unsigned tree, struct decoded *out)
{
    const struct environment *s = connection->environment;
    const int64_t left = connection->end_ms - hook_now_ms();
    struct decoded own = {0}, *decoded = out ? out : &own;
    struct secrets secrets = {0};
    struct request request = request_call(
        connection->base, kind, &(struct fmcall_about){.name = s->job, .step = step, .tree = tree});
    *decoded = (struct decoded){0};
    struct exchange *exchange = exchange_create(&connection->options, connection->share, &request,
                                                connection->credential, left > 0 ? left : 0);
    const struct transport_answer answer = exchange_perform(exchange);
    credential_add_secrets(connection->credential, &secrets);
    if (answer.end == TRANSPORT_ANSWERED)
        decode_call(decoded, kind, true, answer.status, answer.body, answer.length, &secrets);
    enum outcome outcome = answer.end == TRANSPORT_ANSWERED
                               ? judge_answer(connection, decoded->outcome, decoded->words)
                               : judge_answer(connection, FM_UNREACHED, answer.words);
    exchange_destroy(exchange);
    request_release(&request);
    if (!out)
        decoded_release(&own);
    return outcome;
}

static enum outcome end_step(struct connection *connection, const char *step)
{
    enum outcome outcome = OUTCOME_REFUSED;
    if (!connection->trees_only)
        outcome = perform_call(connection, FMCALL_END_STEP, step, 0, NULL);
    connection->trees_only |= outcome == OUTCOME_REFUSED;
    return outcome;
}

/* As a whole, or tree by tree where the token does not open more. */
static enum outcome end_listed(struct connection *connection, const struct fmcall_step *listed)
{
    enum outcome worst = end_step(connection, listed->step);
    if (worst != OUTCOME_REFUSED)
        return worst;
    worst = OUTCOME_DONE;
    for (size_t i = 0; i < listed->tree_count && worst < OUTCOME_LATER; i++) {
        enum outcome outcome =
            perform_call(connection, FMCALL_END_TREE, NULL, listed->trees[i], NULL);
        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}

static enum outcome end_all_listed(struct connection *connection, bool below,
                                   const struct fmcall_steps *steps)
{
    const char *scope = connection->environment->step;
    enum outcome worst = OUTCOME_DONE;
    for (size_t i = 0; steps && i < steps->count && worst < OUTCOME_LATER; i++) {
        const struct fmcall_step *listed = &steps->steps[i];
        if (below ? !steppath_within(listed->step, scope) : strcmp(listed->step, scope) != 0)
            continue;
        enum outcome outcome = end_listed(connection, listed);
        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}

/* What the token lets us see decides how far we get. */
static enum outcome end_visible_steps(struct connection *connection, bool below)
{
    const char *scope = connection->environment->step;
    struct decoded decoded;
    enum outcome outcome = perform_call(connection, FMCALL_STEPS, NULL, 0, &decoded);
    if (outcome == OUTCOME_DONE) {
        outcome = end_all_listed(connection, below, decoded.steps);
    } else if (outcome == OUTCOME_REFUSED && below) {
        outcome = end_step(connection, scope);
        if (outcome == OUTCOME_DONE) {
            (void)error_set(connection->err, ERROR_REFUSED,
                            "the fabric manager does not show this token which steps are below; "
                            "only the step itself is cleaned up");
            outcome = OUTCOME_REFUSED;
        }
    }
    decoded_release(&decoded);
    return outcome;
}

static enum outcome clean_step(const struct environment *s, const struct options *options,
                               struct error *err)
{
    enum outcome outcome = OUTCOME_REFUSED;
    struct connection connection = {
        .environment = s,
        .end_ms = options->end_ms,
        .options = {.verify = s->verify, .bare = true, .parallel = 1},
        .credential = credential_session(s->session_token),
        .share = curl_share_init(),
        .err = err,
    };
    connection.base = baseurl_of_trees(s->trees_url, err);
    if (!connection.base)
        goto done;
    exchange_ca(&connection.options, s->cacert);
    if (connection.share) /* without it each call has a connection of its own */
        (void)curl_share_setopt(connection.share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
    if (!options->below)
        outcome = end_step(&connection, s->step);
    if (outcome == OUTCOME_REFUSED)
        outcome = end_visible_steps(&connection, options->below);
done:
    (void)curl_share_cleanup(connection.share);
    credential_drop(connection.credential);
    free(connection.base);
    return outcome;
}

extern fabric_fn mcast_cleanup_fabric;

__attribute__((visibility("default"))) enum outcome
mcast_cleanup_fabric(const struct environment *environment, const struct options *options,
                     struct error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)error_set(err, ERROR_IO, "libcurl cannot be initialized");
        return OUTCOME_REFUSED;
    }
    enum outcome outcome = clean_step(environment, options, err);
    curl_global_cleanup();
    return outcome;
}
