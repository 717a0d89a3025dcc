/* SPDX-License-Identifier: Apache-2.0 */
/* The fabric manager's answers to calls (fmapi/wire/decode.h): a byte for the kind of call and
 * whether it was made with a session token, two for the status, then the body. The secrets are
 * known, so that the fuzzer can quote them. */

#include "base/names.h"
#include "fmapi/wire/decode.h"
#include "fmapi/wire/jobsteps.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct secrets secrets = {.values = {"Tr0ub4dor&3", "Y3hpOlRyMHViNGRvciYz"},
                                       .count = 2};

/* A token whose text can be in our own words by accident proves nothing. */
static bool telling(const char *token)
{
    bool digit = false, letter = false;
    for (const char *at = token; *at != '\0'; at++) {
        digit = digit || isdigit((unsigned char)*at);
        letter = letter || islower((unsigned char)*at);
        if (strchr("*? .", *at))
            return false;
    }
    return digit && letter && strlen(token) >= 8;
}

static void check_words(const char *words, const json_t *object)
{
    const char *token = json_string_value(json_object_get(object, "sessionToken"));
    FUZZ_CHECK(words[0] != '\0' && strlen(words) < DECODE_WORDS_SIZE && fuzz_is_line(words));
    for (size_t i = 0; i < secrets.count; i++)
        FUZZ_CHECK(!strstr(words, secrets.values[i]));
    FUZZ_CHECK(!token || !telling(token) || !strstr(words, token));
}

static void check_token(const struct decoded *decoded, enum fmcall_kind kind, const json_t *object)
{
    const char *sent = json_string_value(json_object_get(object, "sessionToken"));
    if (decoded->token[0] == '\0') {
        FUZZ_CHECK(decoded->outcome != FM_OK || kind != FMCALL_RESERVE);
        return;
    }
    FUZZ_CHECK(decoded->outcome == FM_OK && (kind == FMCALL_RESERVE || kind == FMCALL_CHECK));
    FUZZ_CHECK(sent && strcmp(sent, decoded->token) == 0);
    FUZZ_CHECK(strlen(decoded->token) <= TOKEN_MAX);
    for (const char *at = decoded->token; *at != '\0'; at++)
        FUZZ_CHECK(*at > ' ' && *at <= '~' && *at != '"' && *at != '\\');
}

/* What the core concludes from the outcome must be in the status (fmcall.h). */
static void check_outcome(enum fmcall_outcome outcome, enum fmcall_kind kind, bool session,
                          int status, const json_t *object)
{
    FUZZ_CHECK(outcome >= FM_OK && outcome <= FM_NOT_ROUTED && outcome != FM_TIMEOUT &&
               outcome != FM_BROKEN && outcome != FM_UNREACHED);
    FUZZ_CHECK(outcome != FM_OK || (status >= 200 && status <= 299));
    FUZZ_CHECK(outcome != FM_GONE || (status == 404 && kind != FMCALL_RESERVE));
    /* Whoever does not say that he is a fabric manager has said nothing about what is there. */
    FUZZ_CHECK(outcome != FM_GONE ||
               (json_object_get(object, "documentKind") && json_object_get(object, "statusCode")));
    FUZZ_CHECK(outcome != FM_NOT_ROUTED || status == 404 ||
               (status >= 200 && status <= 299 &&
                (kind == FMCALL_RELEASE || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE)));
    FUZZ_CHECK(outcome != FM_EXISTS || (status == 409 && kind == FMCALL_RESERVE));
    FUZZ_CHECK(outcome != FM_DENIED || (status >= 400 && status <= 499) || status == 507);
    FUZZ_CHECK((outcome == FM_UNAUTHORIZED) ==
               (!session && status == 401 && kind != FMCALL_END_TREE));
    FUZZ_CHECK((outcome == FM_REFUSED) == (session && (status == 401 || status == 403)));
}

/* What the caller relies on (core/fabric/fmcall.h). */
static void check_steps(const struct fmcall_steps *steps)
{
    static bool seen[FMCALL_TREES];
    memset(seen, 0, sizeof seen);
    FUZZ_CHECK(steps->count <= FMCALL_TREES);
    for (size_t i = 0; i < steps->count; i++) {
        const struct fmcall_step *step = &steps->steps[i];
        FUZZ_CHECK(step_id_valid(step->step) && step->tree_count > 0);
        for (size_t j = 0; j < step->tree_count; j++) {
            FUZZ_CHECK(step->trees[j] < FMCALL_TREES && !seen[step->trees[j]]);
            seen[step->trees[j]] = true;
        }
    }
}

void fuzz_one(struct fuzz_input *in)
{
    static const enum fmcall_kind kinds[] = {FMCALL_RESERVE, FMCALL_CHECK,    FMCALL_RELEASE,
                                             FMCALL_STEPS,   FMCALL_END_STEP, FMCALL_END_TREE};
    unsigned char which = fuzz_byte(in);
    enum fmcall_kind kind = kinds[which & 0x80 ? 3 + which % 3 : which % 3];
    bool session = (which & 0xc0) == 0xc0;
    int status = 100 + fuzz_pair(in) % 500;
    struct decoded decoded;
    size_t length;
    char *body = fuzz_bytes(in, &length);
    json_t *object = length > 0 ? json_loadb(body, length, 0, NULL) : NULL;
    decode_call(&decoded, kind, session, status, body, length, &secrets);
    check_outcome(decoded.outcome, kind, session, status, object);
    FUZZ_CHECK((decoded.steps != NULL) == (kind == FMCALL_STEPS && decoded.outcome == FM_OK));
    if (decoded.steps)
        check_steps(decoded.steps);
    check_token(&decoded, kind, object);
    check_words(decoded.words, object);
    decoded_release(&decoded);
    FUZZ_CHECK(decoded.token[0] == '\0');
    json_decref(object);
    free(body);
}
