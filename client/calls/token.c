/* SPDX-License-Identifier: Apache-2.0 */
/* The broker's bearer tokens: read and narrowed without the broker, and made by it. */

#include "client/text.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "tokens/bearer.h"
#include "base/hex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Static_assert((int)MCAST_TOKEN_SIZE == BEARER_TEXT_MAX + 1, "the longest token fits");

static int set_fault(const struct error *err, struct mcast_error *error)
{
    return fault_set(error, err->code == ERROR_NOMEM ? MCAST_NOMEM : MCAST_USAGE, "%s", err->text);
}

static int decode_token(const char *token, struct bearer *bearer, struct mcast_error *error)
{
    struct error err = {0};
    return bearer_decode(secret_of(token), bearer, &err) < 0 ? set_fault(&err, error) : 0;
}

/* -- narrowing -- */

static int read_operations(const char *const *words, unsigned *operations,
                           struct mcast_error *error)
{
    for (; *words; words++) {
        unsigned operation = bearer_operation_parse(*words, strlen(*words));
        if (operation == 0)
            return fault_set(error, MCAST_USAGE, "'%.40s' is no operation: show, cleanup, join",
                             *words);
        *operations |= operation;
    }
    if (*operations == 0)
        return fault_set(error, MCAST_USAGE,
                         "a token without any operation is of no use: show, cleanup, join");
    return 0;
}

static int narrow_token(const char *token, const struct mcast_narrowing *given,
                        struct bearer *bearer, struct mcast_error *error)
{
    struct mcast_narrowing mine = MCAST_NARROWING_INIT;
    struct bearer_limits limits = {0};
    struct error err = {0};
    char steps[STEP_ID_MAX + 2]; /* one byte more than a step, so that a longer one shows */
    int rc = struct_adopt(&mine, given, "MCAST_NARROWING_INIT", error);
    if (rc == 0 && mine.operations)
        rc = read_operations(mine.operations, &limits.operations, error);
    if (rc < 0)
        return rc;
    /* "/fA/" is how people and scripts put "below /fA": a token has one spelling of each step. */
    if (mine.steps) {
        size_t length = strnlen(mine.steps, sizeof steps);
        length -= length > 1 && mine.steps[length - 1] == '/';
        (void)snprintf(steps, sizeof steps, "%.*s", (int)length, mine.steps);
        limits.steps = steps;
    }
    limits.expires = mine.expires;
    if (!limits.steps && limits.operations == 0 && limits.expires == 0)
        return fault_set(error, MCAST_USAGE,
                         "nothing is to be restricted: name steps, operations, or when it expires");
    if ((rc = decode_token(token, bearer, error)) < 0)
        return rc;
    return bearer_narrow(bearer, &limits, &err) < 0 ? set_fault(&err, error) : 0;
}

static int copy_out(const char *token, char *out, size_t size, struct mcast_error *error)
{
    size_t length = strlen(token);
    if (length >= size)
        return fault_set(error, MCAST_USAGE,
                         "the buffer is too small for the token: give %d bytes (MCAST_TOKEN_SIZE)",
                         MCAST_TOKEN_SIZE);
    memcpy(out, token, length + 1);
    return 0;
}

int mcast_token_narrow(const char *token, const struct mcast_narrowing *narrowing, char *out,
                       size_t size, struct mcast_error *error)
{
    struct bearer bearer;
    char text[BEARER_TEXT_MAX + 1] = "";
    int rc = narrow_token(token, narrowing, &bearer, error);
    if (size > 0)
        out[0] = '\0'; /* it may be token */
    if (rc == 0) {
        bearer_encode(&bearer, text);
        rc = copy_out(text, out, size, error);
    }
    bearer_wipe(&bearer);
    explicit_bzero(text, sizeof text);
    return rc;
}

/* -- reading -- */

/* What the caller sees comes first, so that its address is the whole's. Nothing in it is secret. */
struct whole {
    struct mcast_token seen;
    struct bearer_scope scope;
    char id[BEARER_ID_SIZE];
    char root_key[2 * BEARER_KEY_ID_SIZE + 1];
    const char *operations[4];
    char warning[160];
};

static void describe_token(struct whole *whole, const struct bearer *bearer)
{
    const struct bearer_scope *scope = &whole->scope;
    const char **operation = whole->operations, *why = "";
    whole->scope = bearer->scope;
    bearer_id(bearer, whole->id);
    hex_write(bearer->bytes, BEARER_KEY_ID_SIZE, whole->root_key);
    for (unsigned bit = 1; bit < BEARER_EVERYTHING; bit <<= 1) {
        if (scope->operations & bit)
            *operation++ = bearer_operation_word((enum bearer_operation)bit);
    }
    if (scope->no_steps)
        why = "its restrictions have no step in common";
    else if (scope->operations == 0)
        why = "its restrictions have no operation in common";
    snprintf(whole->warning, sizeof whole->warning, "%s", why);
    if (scope->unknown >= 0)
        snprintf(whole->warning, sizeof whole->warning,
                 "it has a restriction of a kind (%d) that libmcast %s does not know; only a "
                 "broker that knows it takes the token",
                 scope->unknown, MCAST_VERSION);
    whole->seen = (struct mcast_token){
        .id = whole->id,
        .root_key = whole->root_key,
        .cluster = scope->cluster,
        .job = scope->job,
        .number = scope->number,
        .steps = scope->steps[0] ? scope->steps : NULL,
        .operations = whole->operations,
        .expires = scope->expires == INT64_MAX ? 0 : scope->expires,
        .restrictions = scope->caveats,
        .warning = whole->warning[0] ? whole->warning : NULL,
    };
}

int mcast_token_read(const char *token, struct mcast_token **out, struct mcast_error *error)
{
    struct bearer bearer;
    int rc = decode_token(token, &bearer, error);
    struct whole *whole = rc == 0 ? calloc(1, sizeof *whole) : NULL;
    if (whole) {
        describe_token(whole, &bearer);
        *out = &whole->seen;
    } else if (rc == 0) {
        rc = fault_nomem(error);
    }
    bearer_wipe(&bearer);
    return rc;
}

void mcast_token_free(struct mcast_token *token)
{
    free(token);
}

/* -- made by the broker -- */

/* What is not set is not sent. */
static json_t *encode_narrowing(const struct mcast_narrowing *narrowing)
{
    json_t *body = json_object();
    body = call_add(body, "steps", narrowing->steps, json_string(narrowing->steps));
    body = call_add(body, "expires", narrowing->expires != 0,
                    json_integer(narrowing->expires - (int64_t)time(NULL)));
    return call_add(body, "operations", narrowing->operations, call_words(narrowing->operations));
}

int mcast_token_request(struct mcast *handle, const struct mcast_narrowing *narrowing, char *out,
                        size_t size, struct mcast_error *error)
{
    struct mcast_narrowing mine = MCAST_NARROWING_INIT;
    struct call call = {.with_token = true};
    void *document = NULL;
    const char *token = NULL;
    if (narrowing)
        call.rc = struct_adopt(&mine, narrowing, "MCAST_NARROWING_INIT", error);
    call_set(&call, "POST", call_read_root, error, "/v1/reservation/tokens");
    call_set_body(&call, encode_narrowing(&mine), "the restrictions are", error);
    if (size > 0)
        out[0] = '\0';
    int rc = handle_run(handle, call, &document, error);
    if (rc == 0)
        rc = field_read(document_root(document), "token", FIELD_STRING, FIELD_REQUIRED, &token,
                        error);
    if (rc == 0)
        rc = copy_out(token, out, size, error);
    document_free(document);
    return rc;
}

int mcast_token_rotate(struct mcast *handle, char **json, struct mcast_error *error)
{
    struct call call = {0};
    call_set(&call, "POST", call_read_root, error, "/v1/tokens/rotate");
    return handle_run_json(handle, call, json, error);
}
