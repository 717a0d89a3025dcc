/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/mungecred.h"
#include "broker/http/request/call.h"
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/routes.h"
#include "broker/http/api/bodies/job_json.h"
#include "broker/http/auth/tokenproof.h"
#include "broker/log/log.h"
#include "core/reservation/reservation.h"
#include "tokens/issuer.h"
#include "base/hex.h"

#include <string.h>

/* POST /v1/reservation/tokens: a token of this broker's, no wider than the one that is shown (B3).
 */

/* What the new one is narrowed from: a token of ours as it is shown, or a new one for the job whose
 * session token is. */
static int begin_token(struct call *call, struct bearer *bearer, struct error *err)
{
    const struct bearer_scope *scope = &call->identity.proof.token->scope;
    const char *value = call_header(call, MHD_HTTP_HEADER_AUTHORIZATION);
    struct authorization shown;
    if (call->identity.proof.token->session)
        return issuer_mint(keyring_keys(call->http->keyring), scope->number, scope->cluster,
                           scope->job, bearer, err);
    int rc = authorization_read(value, &shown, &call->problem);
    return rc < 0 ? ERROR_INVALID : bearer_decode(secret_of(shown.shown), bearer, err);
}

enum { TOKENS_AT_ONCE = 100, TOKEN_EVERY_MS = 1000 };

/* Each costs random bytes, MACs and a line of the log, and none has to be asked for: the holder of
 * one makes narrower ones without the broker. A loop in a job's script must not keep the others
 * waiting, nor fill the log. */
static int check_limit(struct call *call)
{
    struct http *http = call->http;
    const struct bearer_scope *scope = &call->identity.proof.token->scope;
    const uint32_t uid = tokencheck_reservation(http, call->identity.proof.token)->uid;
    const uint64_t wait_ms = pace_take(&http->minted, scope->number, uid, TOKEN_EVERY_MS,
                                       (TOKENS_AT_ONCE - 1) * TOKEN_EVERY_MS, uv_now(http->loop));
    if (wait_ms == 0)
        return 0;
    const unsigned wait_s = (unsigned)((wait_ms + 999) / 1000);
    problem_set(&call->problem, 429, "too-many-tokens", NULL,
                "job %s on cluster %s asks for too many tokens (%d at once, then one a second, and "
                "for %d jobs of a user at a time); narrow one that it has, which needs no broker "
                "(mcastctl token narrow), or ask again in %u s",
                scope->job, scope->cluster, TOKENS_AT_ONCE, PACE_OF_USER, wait_s);
    call->problem.retry_after = wait_s;
    return -1;
}

static void write_token(struct call *call, const struct bearer *bearer)
{
    static const char kind;
    char text[BEARER_TEXT_MAX + 1], id[BEARER_ID_SIZE], words[256];
    bearer_encode(bearer, text);
    bearer_id(bearer, id);
    call->secret = true;
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "token", text);
    writer_string(&call->out, "id", id);
    token_json_write_expires(&call->out, &bearer->scope);
    writer_end_object(&call->out);
    explicit_bzero(text, sizeof text);
    const struct log_fields fields = {.cluster = bearer->scope.cluster, .job = bearer->scope.job};
    if (!log_has_room(LOG_INFO, &kind, "token"))
        return;
    snprintf(words, sizeof words, "%.32s-%.128s: token %s given out", bearer->scope.cluster,
             bearer->scope.job, id);
    log_text(LOG_INFO, &fields, NULL, words);
}

static int mint_token(struct call *call, const struct bearer_limits *limits)
{
    struct bearer bearer;
    struct error err = {0};
    int rc = begin_token(call, &bearer, &err);
    if (rc == 0)
        rc = bearer_narrow(&bearer, limits, &err);
    if (rc == 0)
        write_token(call, &bearer);
    else if (err.code == ERROR_INVALID || err.code == ERROR_FULL)
        problem_set(&call->problem, 422, "invalid", NULL, "%s", err.text);
    else
        problem_set(&call->problem, 503, "no-token", NULL, "%s", err.text);
    bearer_wipe(&bearer);
    return rc;
}

int mint_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    const int64_t now = engine_now_ms(call->http->engine) / 1000;
    struct bearer_limits limits = {0};
    if (call->body_used > 0 &&
        (!call_json(call) || mint_body_parse(call->json, now, &limits, &call->problem) < 0))
        return -1;
    /* A scope that has nothing in common with what is asked for is refused as for a cleanup. */
    if (limits.steps && !steppath_within(proof->scope.steps, limits.steps) &&
        tokenproof_allows(proof, BEARER_CLEANUP, limits.steps, &call->problem) < 0)
        return -1;
    if (check_limit(call) < 0 || mint_token(call, &limits) < 0)
        return -1;
    /* A reservation that a crash could still undo must not have tokens. */
    call_show(call, tokencheck_reservation(call->http, proof));
    call->unsaved |= keyring_shared(call->http->keyring); /* nor must the key be undone */
    return call_reply_shown(call, MHD_HTTP_CREATED, CALL_JSON);
}

/* POST /v1/tokens/rotate: a new root key makes tokens from now on (B3). */

enum { KEY_ID_SIZE = 2 * ROOTKEY_ID_SIZE + 1 };

int rotate_handle(struct call *call)
{
    const struct http *http = call->http;
    char id[KEY_ID_SIZE] = "", who[IDENTITY_TEXT_SIZE];
    struct error err = {0};
    const size_t before = keyring_keys(http->keyring)->count;
    const int rc = keyring_rotate(http->keyring, engine_core(http->engine),
                                  engine_now_ms(http->engine) / 1000, &err);
    if (rc < 0)
        return problem_set(&call->problem, rc == ERROR_REFUSED || rc == ERROR_FULL ? 409 : 503,
                           "root-keys", NULL, "no key was made: %s", err.text);
    const struct rootkeys *keys = keyring_keys(http->keyring);
    const size_t dropped = before + 1 - keys->count;
    hex_write(rootkeys_current(keys)->id, ROOTKEY_ID_SIZE, id);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "key", id);
    writer_time(&call->out, "made", rootkeys_current(keys)->made * 1000);
    writer_number(&call->out, "keys", keys->count);
    writer_number(&call->out, "dropped", dropped);
    writer_end_object(&call->out);
    log_line(LOG_NOTICE, "new root key %s makes tokens, requested by %s keys=%zu dropped=%zu", id,
             identity_format(&call->identity.proof, who, sizeof who), keys->count, dropped);
    if (!keyring_shared(http->keyring))
        return call_reply(call, MHD_HTTP_OK, CALL_JSON);
    engine_save_keys(http->engine);
    return call_reply_saved(call, MHD_HTTP_OK, CALL_JSON);
}
