/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens (tokens/bearer.h, tokens/issuer.h): two bytes for the bit that is changed, one for
 * what is asked and how it is narrowed, a byte for the time, a line with the step that is asked
 * for, one with the step that it is narrowed to; then the bytes of its caveats, which are rightly
 * signed. The same bytes are tried as the text of a token, too. */

#include "tests/fuzz/fuzz.h"
#include "tokens/issuer.h"

#include <stdlib.h>
#include <string.h>

enum { NOW = 1790000000 };

static const struct rootkeys keys = {
    .count = 1, .keys = {{.id = "rootkey", .made = 1, .bytes = "0123456789abcdef0123456789abcde"}}};

struct question {
    enum bearer_operation operation;
    const char *step; /* NULL: none */
    int64_t now;
};

static struct bearer head(void)
{
    static const unsigned char nonce[BEARER_NONCE_SIZE] = "0123456789abcde";
    struct bearer bearer;
    bearer_begin(&bearer, keys.keys[0].id, 4711, "elcap", "f1", nonce);
    return bearer;
}

/* Written by the letter of docs/tokens.md. -1: it is no token, and must not be taken for one. */
static int caveat_size(const unsigned char *at, size_t left)
{
    size_t size = left < 3 ? left + 1 : (size_t)at[1] * 256 + at[2] + 3;
    const unsigned char *value = at + 3;
    char step[STEP_ID_MAX + 1];
    if (size > left)
        return -1;
    size_t length = size - 3;
    switch (at[0]) {
    case BEARER_STEPS:
        if (length > STEP_ID_MAX || memchr(value, 0, length))
            return -1;
        memcpy(step, value, length);
        step[length] = '\0';
        return steppath_valid(step) ? (int)size : -1;
    case BEARER_OPERATIONS:
        return length == 1 && value[0] >= 1 && value[0] <= 3 ? (int)size : -1;
    case BEARER_EXPIRES:
        return length == 8 && value[0] < 0x80 && memcmp(value, "\0\0\0\0\0\0\0\0", 8) != 0
                   ? (int)size
                   : -1;
    default:
        return (int)size;
    }
}

enum make { TOKEN, NO_TOKEN, TOO_LONG };

/* The token with these caveats, signed. */
static enum make make(const unsigned char *caveats, size_t size, struct bearer *bearer)
{
    struct chain chain;
    unsigned count = 0;
    *bearer = head();
    if (bearer->size + size > sizeof bearer->bytes)
        return TOO_LONG;
    FUZZ_CHECK(chain_key(&chain, keys.keys[0].bytes, "mcast1 reservation", bearer->bytes + 8,
                         bearer->head_size - 24, NULL) == 0);
    FUZZ_CHECK(chain_add(&chain, bearer->bytes, bearer->head_size, NULL) == 0);
    bool good = true;
    for (size_t at = 0; at < size && good;) {
        int whole = caveat_size(caveats + at, size - at);
        good = whole > 0 && ++count <= BEARER_CAVEATS_MAX;
        if (good)
            FUZZ_CHECK(chain_add(&chain, caveats + at, (size_t)whole, NULL) == 0);
        at += good ? (size_t)whole : 0;
    }
    unsigned char *end = bearer->bytes + bearer->head_size;
    if (size > 0)
        memcpy(end, caveats, size);
    memcpy(end + size, chain.mac, CHAIN_SIZE);
    bearer->size += size;
    return good ? TOKEN : NO_TOKEN;
}

/* As the broker takes it: from its text. */
static int take(const struct bearer *bearer, int64_t now, struct bearer *out, struct error *err)
{
    char text[BEARER_TEXT_MAX + 1], *exact;
    bearer_encode(bearer, text);
    exact = strdup(text); /* no byte longer than it has to be */
    int code = bearer_decode(secret_of(exact), out, err);
    free(exact);
    return code < 0 ? code : issuer_verify(&keys, out, now, err);
}

static bool accepts(const struct bearer *bearer, const struct question *question)
{
    struct bearer out;
    return take(bearer, question->now, &out, NULL) == 0 &&
           bearer_allows(&out.scope, question->operation, question->step, NULL) == 0;
}

/* Each caveat by itself. */
static bool each_accepts(const unsigned char *at, size_t left, const struct question *question)
{
    for (size_t size; left > 0; at += size, left -= size) {
        char step[STEP_ID_MAX + 1] = "";
        uint64_t until = 0;
        size = (size_t)caveat_size(at, left);
        switch (at[0]) {
        case BEARER_STEPS:
            memcpy(step, at + 3, size - 3);
            if (question->step && !steppath_within(question->step, step))
                return false;
            break;
        case BEARER_OPERATIONS:
            if (!(at[3] & question->operation))
                return false;
            break;
        case BEARER_EXPIRES:
            for (size_t i = 3; i < size; i++)
                until = until << 8 | at[i];
            if ((uint64_t)question->now >= until)
                return false;
            break;
        default:
            return false;
        }
    }
    return !question->step || steppath_valid(question->step);
}

static void check_words(int code, const struct error *err)
{
    FUZZ_CHECK(code == err->code && err->text[0] != '\0' && fuzz_is_line(err->text));
}

/* Any text: it is a token that is not genuine, or none; and read, it is written as it was. */
static void check_text(const char *text)
{
    char again[BEARER_TEXT_MAX + 1];
    struct bearer bearer;
    struct error err = {0};
    int code = bearer_decode(secret_of(text), &bearer, &err);
    if (code < 0) {
        check_words(code, &err);
        FUZZ_CHECK(code == ERROR_INVALID || code == ERROR_VERSION);
        FUZZ_CHECK(code != ERROR_VERSION || bearer_is_ours(secret_of(text)));
        return;
    }
    bearer_encode(&bearer, again);
    FUZZ_CHECK(strcmp(text, again) == 0);
    FUZZ_CHECK(cluster_name_valid(bearer.scope.cluster) && job_id_valid(bearer.scope.job));
    FUZZ_CHECK(bearer.scope.steps[0] == '\0' || steppath_valid(bearer.scope.steps));
    FUZZ_CHECK((bearer.scope.operations & ~(unsigned)BEARER_EVERYTHING) == 0);
    code = issuer_verify(&keys, &bearer, NOW, &err);
    check_words(code, &err);
    FUZZ_CHECK(code == ERROR_NOT_FOUND || code == ERROR_REFUSED);
}

static void check_changed(const struct bearer *bearer, uint16_t bit)
{
    struct bearer changed = *bearer, out;
    changed.bytes[bit / 8 % changed.size] ^= (unsigned char)(1U << bit % 8);
    FUZZ_CHECK(take(&changed, NOW, &out, NULL) < 0);
    changed = *bearer;
    changed.size = bit % changed.size;
    FUZZ_CHECK(take(&changed, NOW, &out, NULL) < 0);
}

/* What it is narrowed to accepts what it accepts and its own limits let through, and no more. */
static void check_narrowed(const struct bearer *bearer, const struct bearer_limits *limits,
                           const struct question *question, bool before)
{
    struct bearer slim = *bearer;
    struct error err = {0};
    int code = bearer_narrow(&slim, limits, &err);
    if (code < 0) {
        check_words(code, &err);
        FUZZ_CHECK(code == ERROR_INVALID || code == ERROR_FULL);
        FUZZ_CHECK(slim.size == bearer->size && slim.scope.caveats == bearer->scope.caveats);
        FUZZ_CHECK(memcmp(slim.bytes, bearer->bytes, slim.size) == 0);
        return;
    }
    bool allowed =
        (limits->operations == 0 || (limits->operations & question->operation)) &&
        (limits->expires == 0 || question->now < limits->expires) &&
        (!limits->steps || !question->step || steppath_within(question->step, limits->steps));
    FUZZ_CHECK(accepts(&slim, question) == (before && allowed));
}

void fuzz_one(struct fuzz_input *in)
{
    uint16_t bit = fuzz_pair(in);
    uint8_t choice = fuzz_byte(in), time = fuzz_byte(in);
    char *step = fuzz_line(in), *limit = fuzz_line(in);
    struct fuzz_input again = *in;
    size_t size;
    char *text = fuzz_rest(&again), *caveats = fuzz_bytes(in, &size);
    struct bearer bearer, out;
    struct error err = {0};
    const struct question question = {.operation = choice & 1 ? BEARER_SHOW : BEARER_CLEANUP,
                                      .step = choice & 1 ? NULL : step,
                                      .now = NOW + time % 16};
    const struct bearer_limits limits = {.steps = choice & 2 ? limit : NULL,
                                         .operations = choice >> 2 & 7,
                                         .expires = choice & 32 ? NOW + time / 16 : 0};
    check_text(text);
    enum make made = make((const unsigned char *)caveats, size, &bearer);
    if (made == TOKEN) {
        int code = take(&bearer, question.now, &out, &err);
        FUZZ_CHECK(code == 0 || code == ERROR_VERSION || code == ERROR_REFUSED);
        FUZZ_CHECK((code == ERROR_VERSION) == (out.scope.unknown >= 0));
        bool before =
            code == 0 && bearer_allows(&out.scope, question.operation, question.step, NULL) == 0;
        FUZZ_CHECK(before == each_accepts((const unsigned char *)caveats, size, &question));
        bearer.scope = out.scope;
        check_narrowed(&bearer, &limits, &question, before);
        check_changed(&bearer, bit);
    } else if (made == NO_TOKEN) {
        int code = take(&bearer, NOW, &out, &err);
        FUZZ_CHECK(code == ERROR_INVALID);
        check_words(code, &err);
    }
    free(step);
    free(limit);
    free(text);
    free(caveats);
}
