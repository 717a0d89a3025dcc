/* SPDX-License-Identifier: Apache-2.0 */

#include "fmapi/wire/decode.h"
#include "fmapi/wire/secrets.h"
#include "tests/unit/unit.h"

static const struct secrets none;

/* The fabric manager's own error document, with these texts; what else answers 404, says: */
#define OWN_404(texts)                                                                             \
    "{" texts                                                                                      \
    "\"statusCode\":404,\"documentKind\":\"com:vmware:xenon:common:ServiceErrorResponse\","        \
    "\"errorCode\":0}"
#define NO_TREE "HTTP 200: no mcastID below 8192"
#define NOT_ROUTED                                                                                 \
    "HTTP 404 that the fabric manager did not write (a gateway in front of it? a wrong [fm] "      \
    "url?): "

#define TOKEN "\"sessionToken\":\"tok-1\""

struct call_row {
    enum fmcall_kind kind;
    int status;
    const char *body;
    enum fmcall_outcome outcome;
    const char *words;
};

static const struct call_row call_rows[] = {
    /* every status that means something, for every kind */
    {FMCALL_RESERVE, 200, "{" TOKEN "}", FM_OK, "HTTP 200"},
    {FMCALL_RESERVE, 201, "{\"jobID\":\"c-1\"," TOKEN ",\"jobSteps\":{}}", FM_OK, "HTTP 201"},
    {FMCALL_RESERVE, 202, "{" TOKEN "}", FM_OK, "HTTP 202"},
    {FMCALL_CHECK, 200, "{" TOKEN ",\"message\":\"x\"}", FM_OK, "HTTP 200"},
    {FMCALL_RELEASE, 200, "{}", FM_OK, "HTTP 200"},
    {FMCALL_RELEASE, 200, " \r\n", FM_OK, "HTTP 200"},
    {FMCALL_RELEASE, 204, "", FM_OK, "HTTP 204"},
    {FMCALL_RESERVE, 409, "{}", FM_EXISTS, "HTTP 409"},
    {FMCALL_CHECK, 409, "{}", FM_DENIED, "HTTP 409"},
    {FMCALL_RELEASE, 409, "{}", FM_DENIED, "HTTP 409"},
    {FMCALL_RESERVE, 404, OWN_404(), FM_DENIED, "HTTP 404"},
    {FMCALL_CHECK, 404, OWN_404(), FM_GONE, "HTTP 404"},
    {FMCALL_RELEASE, 404, OWN_404("\"detail\":\"no such job c-1\","), FM_GONE,
     "HTTP 404: no such job c-1"},
    {FMCALL_RESERVE, 401, "{}", FM_UNAUTHORIZED, "HTTP 401"},
    {FMCALL_RELEASE, 403, "{}", FM_DENIED, "HTTP 403"},
    {FMCALL_CHECK, 403, "{}", FM_DENIED, "HTTP 403"},
    {FMCALL_RESERVE, 403, "{}", FM_DENIED, "HTTP 403"},
    {FMCALL_RESERVE, 400, "{}", FM_DENIED, "HTTP 400"},
    {FMCALL_RESERVE, 405, "", FM_DENIED, "HTTP 405"},
    {FMCALL_RESERVE, 422, "", FM_DENIED, "HTTP 422"},
    {FMCALL_RESERVE, 507, "{\"message\":\"02: none left\"}", FM_DENIED, "HTTP 507: 02: none left"},
    {FMCALL_RESERVE, 408, "", FM_BUSY, "HTTP 408"},
    {FMCALL_RESERVE, 425, "", FM_BUSY, "HTTP 425"},
    {FMCALL_RESERVE, 429, "", FM_BUSY, "HTTP 429"},
    {FMCALL_RESERVE, 500, "", FM_BUSY, "HTTP 500"},
    {FMCALL_RELEASE, 502, "", FM_BUSY, "HTTP 502"},
    {FMCALL_CHECK, 503, "", FM_BUSY, "HTTP 503"},
    {FMCALL_RESERVE, 504, "", FM_BUSY, "HTTP 504"},
    {FMCALL_RESERVE, 307, "", FM_BUSY, "HTTP 307"},
    {FMCALL_RELEASE, 302, "{}", FM_BUSY, "HTTP 302"},
    {FMCALL_RESERVE, 0, "", FM_BUSY, "HTTP 0"},
    {FMCALL_RESERVE, 999, "", FM_BUSY, "HTTP 999"},

    /* the fabric manager's words: either field, both, odd ones */
    {FMCALL_RESERVE, 400, "{\"message\":\"m\"}", FM_DENIED, "HTTP 400: m"},
    {FMCALL_RESERVE, 400, "{\"detail\":\"d\"}", FM_DENIED, "HTTP 400: d"},
    {FMCALL_RESERVE, 400, "{\"message\":\"m\",\"detail\":\"d\"}", FM_DENIED, "HTTP 400: m (d)"},
    {FMCALL_RESERVE, 400, "{\"message\":\"m\",\"detail\":\"m\"}", FM_DENIED, "HTTP 400: m"},
    {FMCALL_RESERVE, 400, "{\"message\":\"\",\"detail\":\"d\"}", FM_DENIED, "HTTP 400: d"},
    {FMCALL_RESERVE, 400, "{\"message\":7,\"detail\":null}", FM_DENIED, "HTTP 400"},
    {FMCALL_RESERVE, 400, "{\"message\":\"a\\nb\\u001b[2J\"}", FM_DENIED, "HTTP 400: a?b?[2J"},
    {FMCALL_RESERVE, 400, "{\"message\":\"%s%n\"}", FM_DENIED, "HTTP 400: %s%n"},
    {FMCALL_RESERVE, 502, "bad gateway", FM_BUSY,
     "HTTP 502: the body is not a JSON object; is this the fabric manager?"},
    {FMCALL_RESERVE, 400, "{\"message\":\"refused for tok-1\"," TOKEN "}", FM_DENIED,
     "HTTP 400: refused for ***"},

    /* 2xx without a token: it acted, but we cannot use it */
    {FMCALL_RESERVE, 200, "", FM_BUSY, "HTTP 200: the body is empty; a sessionToken was expected"},
    {FMCALL_RESERVE, 204, "", FM_BUSY, "HTTP 204: the body is empty; a sessionToken was expected"},
    {FMCALL_RESERVE, 200, "{}", FM_BUSY, "HTTP 200: the body has no sessionToken"},
    {FMCALL_CHECK, 200, "{\"jobSteps\":{}}", FM_OK, "HTTP 200"}, /* it is there, that is enough */
    {FMCALL_CHECK, 200, "{\"sessionToken\":7}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "not json", FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_RESERVE, 200,
     "["
     "\"tok\""
     "]",
     FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_RESERVE, 200, "\"tok\"", FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_RESERVE, 200, "null", FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_RESERVE, 200, "{" TOKEN, FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_RESERVE, 200, "{" TOKEN "} more", FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_RESERVE, 200, "{" TOKEN ",\"x\":\"\xff\"}", FM_BUSY,
     "HTTP 200: the body is not a JSON object"},

    /* tokens that are not usable */
    {FMCALL_RESERVE, 200, "{\"sessionToken\":null}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":17}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":[\"a\"]}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"\"}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"a b\"}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"a\\\"b\"}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"a\\\\b\"}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"a\\r\\nX: y\"}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"a\\u007f\"}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"k\xc3\xb6ln\"}", FM_BUSY,
     "HTTP 200: the sessionToken is not usable"},
    {FMCALL_RESERVE, 200, "{\"sessionToken\":\"a\\u0000b\"}", FM_BUSY,
     "HTTP 200: the body is not a JSON object"},

    /* what cleans up after a step (F19) */
    {FMCALL_END_STEP, 200, "{" TOKEN ",\"jobSteps\":{}}", FM_OK, "HTTP 200"},
    {FMCALL_END_STEP, 200, "", FM_OK, "HTTP 200"},
    {FMCALL_END_TREE, 204, "", FM_OK, "HTTP 204"},
    {FMCALL_END_STEP, 404, OWN_404("\"detail\":\"no such job c-1\","), FM_GONE,
     "HTTP 404: no such job c-1"},
    {FMCALL_END_TREE, 404, OWN_404(), FM_GONE, "HTTP 404"},
    {FMCALL_STEPS, 404, OWN_404(), FM_GONE, "HTTP 404"},
    {FMCALL_END_STEP, 409, "{}", FM_BUSY, "HTTP 409"},
    {FMCALL_END_TREE, 409, "{}", FM_BUSY, "HTTP 409"},
    {FMCALL_STEPS, 409, "{}", FM_DENIED, "HTTP 409"},
    {FMCALL_END_STEP, 400, "{}", FM_DENIED, "HTTP 400"},
    {FMCALL_END_TREE, 405, "{}", FM_DENIED, "HTTP 405"},
    {FMCALL_END_STEP, 503, "{}", FM_BUSY, "HTTP 503"},
    {FMCALL_END_STEP, 302, "{}", FM_BUSY, "HTTP 302"},

    {FMCALL_STEPS, 401, "{}", FM_UNAUTHORIZED, "HTTP 401"},
    {FMCALL_END_STEP, 401, "{}", FM_UNAUTHORIZED, "HTTP 401"},
    {FMCALL_END_STEP, 403, "{}", FM_DENIED, "HTTP 403"},
    {FMCALL_END_TREE, 401, "{}", FM_DENIED, "HTTP 401"}, /* it wants a job's token */

    {FMCALL_STEPS, 200, "{" TOKEN ",\"jobSteps\":{}}", FM_OK, "HTTP 200"},
    {FMCALL_STEPS, 200, "{\"jobSteps\":null}", FM_OK, "HTTP 200"},
    {FMCALL_STEPS, 200, "{}", FM_OK, "HTTP 200"},
    {FMCALL_STEPS, 200, "{\"jobSteps\":{\"0\":[8192],\"a b\":[1]}}", FM_OK,
     "HTTP 200: 2 entries of jobSteps make no sense and are left out"},
    {FMCALL_STEPS, 200, "{\"jobSteps\":[]}", FM_BUSY, "HTTP 200: jobSteps is not a JSON object"},
    {FMCALL_STEPS, 200, "{\"jobSteps\":\"0\"}", FM_BUSY, "HTTP 200: jobSteps is not a JSON object"},
    {FMCALL_STEPS, 200, "", FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_STEPS, 200, "[]", FM_BUSY, "HTTP 200: the body is not a JSON object"},
    {FMCALL_STEPS, 204, "", FM_BUSY, "HTTP 204: the body is not a JSON object"},
};

/* What a relayed job asks for (B9), under its session token. */
static const struct call_row relay_rows[] = {
    {FMCALL_JOIN, 201, "{\"mcastID\":8191,\"hwRoot\":\"00:00:00:01:12:0a\"}", FM_OK, "HTTP 201"},
    {FMCALL_JOIN, 200, "{\"mcastID\":0,\"hwRoot\":\"00:00:00:01:12:0A\"}", FM_OK, "HTTP 200"},
    {FMCALL_JOIN, 200, "{\"mcastID\":8192,\"hwRoot\":\"00:00:00:01:12:00\"}", FM_BUSY, NO_TREE},
    {FMCALL_JOIN, 200, "{\"mcastID\":-1,\"hwRoot\":\"00:00:00:01:12:00\"}", FM_BUSY, NO_TREE},
    {FMCALL_JOIN, 200, "{\"mcastID\":\"1\",\"hwRoot\":\"00:00:00:01:12:00\"}", FM_BUSY, NO_TREE},
    {FMCALL_JOIN, 200, "{\"mcastID\":1}", FM_OK, "HTTP 200"}, /* made, and of no use */
    {FMCALL_JOIN, 200, "<html>", FM_BUSY, NO_TREE},
    {FMCALL_JOIN, 409, "{}", FM_EXISTS, "HTTP 409"},
    {FMCALL_JOIN, 507, "{\"message\":\"02: none left\"}", FM_DENIED, "02: none left"},
    {FMCALL_JOIN, 400, "{\"message\":\"root in use\"}", FM_DENIED, "root in use"},
    {FMCALL_JOIN, 507, "{}", FM_DENIED, "HTTP 507"},
    {FMCALL_JOIN, 401, "{}", FM_REFUSED, "HTTP 401"},
    {FMCALL_JOIN, 404, OWN_404(), FM_GONE, "HTTP 404"},
    {FMCALL_JOIN, 404, "{}", FM_NOT_ROUTED,
     NOT_ROUTED "a JSON object of 2 bytes without a message"},
    {FMCALL_JOIN, 503, "{}", FM_BUSY, "HTTP 503"},
    {FMCALL_LEAVE, 200, "", FM_OK, "HTTP 200"},
    {FMCALL_LEAVE, 409, "{}", FM_EXISTS, "HTTP 409"},
    {FMCALL_LEAVE, 404, OWN_404(), FM_GONE, "HTTP 404"},
};

/* To calls made with a job's session token: a refusal is about the token, not about the login. */
static const struct call_row session_rows[] = {
    {FMCALL_STEPS, 401, "{}", FM_REFUSED, "HTTP 401"},
    {FMCALL_END_STEP, 401, "<html>", FM_REFUSED,
     "HTTP 401: the body is not a JSON object; is this the fabric manager?"},
    {FMCALL_END_STEP, 403, "{\"message\":\"log in\"}", FM_REFUSED, "HTTP 403: log in"},
    {FMCALL_END_TREE, 403, "", FM_REFUSED, "HTTP 403"},
    {FMCALL_END_STEP, 404, OWN_404(), FM_GONE, "HTTP 404"},
    {FMCALL_END_STEP, 404, "{}", FM_NOT_ROUTED,
     NOT_ROUTED "a JSON object of 2 bytes without a message"},
    {FMCALL_END_STEP, 200, "{}", FM_OK, "HTTP 200"},
    {FMCALL_STEPS, 429, "{}", FM_BUSY, "HTTP 429"},
};

static void check_row(const struct call_row *row, bool session)
{
    bool token = row->outcome == FM_OK &&
                 (row->kind == FMCALL_RESERVE || row->kind == FMCALL_CHECK) &&
                 strstr(row->body, TOKEN);
    bool steps = row->outcome == FM_OK && row->kind == FMCALL_STEPS;
    struct decoded out;

    decode_call(&out, row->kind, session, row->status, row->body, strlen(row->body), &none);
    if (out.outcome != row->outcome || strcmp(out.words, row->words) != 0)
        fail_msg("%s %d %s: %s \"%s\"", fmcall_kind_word(row->kind), row->status, row->body,
                 fmcall_outcome_word(out.outcome), out.words);
    assert_string_equal(out.token, token ? "tok-1" : "");
    assert_int_equal(out.steps != NULL, steps);
    assert_int_equal(out.tree.root != NULL, row->outcome == FM_OK && row->kind == FMCALL_JOIN);
    decoded_release(&out);
    assert_null(out.steps);
}

UNIT(decode_call__knows_every_answer)
{
    for (size_t i = 0; i < sizeof call_rows / sizeof call_rows[0]; i++)
        check_row(&call_rows[i], false);
    for (size_t i = 0; i < sizeof session_rows / sizeof session_rows[0]; i++)
        check_row(&session_rows[i], true);
    for (size_t i = 0; i < sizeof relay_rows / sizeof relay_rows[0]; i++)
        check_row(&relay_rows[i], true);
}

/* libfabric crashes without one, and takes six groups of one or two digits. */
UNIT(decode_call__reads_the_root_of_a_tree)
{
    static const struct {
        const char *sent, *read;
    } roots[] = {
        {"\"00:00:00:01:12:0a\"", "00:00:00:01:12:0A"},
        {"\"0:0:0:1:2:c\"", "00:00:00:01:02:0C"},
        {"\"02:00:00:01:12:0A\"", "02:00:00:01:12:0A"},
        {"\"01:12:00\"", ""},
        {"\"00:00:00:01:12:zz\"", ""},
        {"\"00:00:00:01:12:\"", ""},
        {"\"00:00:00:01:12:00:\"", ""},
        {"\"00:00:00:01:12:000\"", ""},
        {"\"00:00:00:01:12: 0\"", ""},
        {"\"00:00:00:01:12:0x\"", ""},
        {"\"00-00-00-01-12-00\"", ""},
        {"\"\"", ""},
        {"null", ""},
        {"7", ""},
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        struct decoded out;
        char body[80];
        (void)snprintf(body, sizeof body, "{\"mcastID\":7,\"hwRoot\":%s}", roots[i].sent);
        decode_call(&out, FMCALL_JOIN, true, 201, body, strlen(body), &none);
        assert_int_equal(out.outcome, FM_OK);
        assert_int_equal(out.tree.id, 7);
        assert_string_equal(out.tree.root, roots[i].read);
        decoded_release(&out);
    }
}

/* Who answers 404 in the fabric manager's place: nothing of it may end a reservation (F22). */
static const struct {
    const char *body;
    const char *said;
} gateways[] = {
    {"", "the body is empty"}, /* Envoy */
    {"{}", "a JSON object of 2 bytes without a message"},
    {"[]", "[]"},
    {"404 page not found\n", "404 page not found"}, /* Go */
    {"{\"message\":\"no Route matched with those values\"}",
     "no Route matched with those values"},                                            /* Kong */
    {"{\"statusCode\":404,\"message\":\"Resource not found\"}", "Resource not found"}, /* Azure */
    {"{\"timestamp\":\"2026-11-22T00:00:00Z\",\"status\":404,\"error\":\"Not Found\","
     "\"path\":\"/fabric/collectives/jobs/c-1\"}",
     "a JSON object of 107 bytes without a message"}, /* Spring */
    {"{\"message\":\"Not Found\"}", "Not Found"},     /* AWS API Gateway */
    {"{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,\"detail\":\"no such "
     "route\"}",
     "no such route"}, /* RFC 9457 */
    {"<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center>nginx</center>\r\n"
     "</body>\r\n</html>\r\n",
     "404 Not Found"},
    {"\n<!DOCTYPE html><TITLE>\n gone\x1b \n</TITLE>", "gone?"},
    {"<html>no title</html>", "a body of 21 bytes without a message"},
    {"<html><title>unfinished", "unfinished"},
    /* half of the own form is not the own form */
    {"{\"message\":\"Service not found\",\"statusCode\":404,\"detail\":\"no such job c-1\"}",
     "Service not found (no such job c-1)"},
    {"{\"message\":\"m\",\"statusCode\":\"404\",\"documentKind\":\"x:ServiceErrorResponse\"}", "m"},
    {"{\"message\":\"m\",\"statusCode\":404.0,\"documentKind\":\"x:ServiceErrorResponse\"}", "m"},
    {"{\"message\":\"m\",\"statusCode\":503,\"documentKind\":\"x:ServiceErrorResponse\"}", "m"},
    {"{\"message\":\"m\",\"documentKind\":\"x:ServiceErrorResponse\"}", "m"},
    {"{\"message\":\"m\",\"statusCode\":404,\"documentKind\":\"\"}", "m"},
    {"{\"message\":\"m\",\"statusCode\":404,\"documentKind\":\"com:mock-fm:collectives:Job\"}",
     "m"},
    {"{\"message\":\"m\",\"statusCode\":404,\"documentKind\":[\"x:ServiceErrorResponse\"]}", "m"},
    {"[{\"statusCode\":404,\"documentKind\":\"x:ServiceErrorResponse\"}]",
     "[{\"statusCode\":404,\"documentKind\":\"x:ServiceErrorResponse\"}]"},
};

/* Another server's success has removed nothing at the fabric manager (B6). */
static const struct {
    const char *body, *said; /* NULL: the fabric manager's own */
} yeses[] = {
    {"", NULL},
    {"\r\n", NULL},
    {"{}", NULL},
    {"{\"jobID\":\"c-1\",\"mcastLimit\":23}", NULL},
    {"{\"jobSteps\":{}}", NULL},
    {"{\"mcastID\":0}", NULL},
    {"{" TOKEN "}", NULL},
    {"{\"documentKind\":\"x:Job\"}", NULL},
    {"{\"documentSelfLink\":\"/fabric/collectives/jobs/c-1\"}", NULL},
    {"<html><head><title>Maintenance</title></head></html>", "Maintenance"},
    {"<html>", "a body of 6 bytes without a message"},
    {"OK", "OK"},
    {"null", "null"},
    {"[]", "[]"},
    {"{\"message\":\"logged out\"}", "logged out"},
    {"{\"status\":\"ok\"}", "a JSON object of 15 bytes without a message"},
    {"{\"jobID\":\"c-1\"", "{\"jobID\":\"c-1\""}, /* cut off */
    {"{\"message\":\"m\",\"statusCode\":404,\"documentKind\":\"x:ServiceErrorResponse\"}", "m"},
};

UNIT(decode__takes_no_gateways_yes_for_removed)
{
    static const enum fmcall_kind removals[] = {FMCALL_RELEASE, FMCALL_END_STEP, FMCALL_END_TREE,
                                                FMCALL_LEAVE};
    for (size_t i = 0; i < sizeof yeses / sizeof yeses[0]; i++) {
        char words[DECODE_WORDS_SIZE];
        if (!yeses[i].said)
            (void)snprintf(words, sizeof words, "HTTP 200");
        else
            (void)snprintf(words, sizeof words,
                           "HTTP 200 that the fabric manager did not write (a gateway in front of "
                           "it? a wrong [fm] url?): %s",
                           yeses[i].said);
        for (size_t kind = 0; kind < sizeof removals / sizeof removals[0]; kind++)
            for (int session = 0; session < 2; session++)
                check_row(&(struct call_row){removals[kind], 200, yeses[i].body,
                                             !yeses[i].said ? FM_OK : FM_NOT_ROUTED, words},
                          session);
    }
}

UNIT(decode__takes_no_gateways_404_for_gone)
{
    for (size_t i = 0; i < sizeof gateways / sizeof gateways[0]; i++) {
        const char *body = gateways[i].body;
        struct decoded_page page;
        char expected[DECODE_WORDS_SIZE], words[DECODE_WORDS_SIZE];
        (void)snprintf(expected, sizeof expected, NOT_ROUTED "%s", gateways[i].said);
        for (int kind = FMCALL_RESERVE; kind <= FMCALL_LEAVE; kind++)
            for (int session = 0; session < 2; session++)
                check_row(
                    &(struct call_row){(enum fmcall_kind)kind, 404, body, FM_NOT_ROUTED, expected},
                    session);
        assert_int_equal(decode_page(&page, 404, body, strlen(body), &none, words), FM_NOT_ROUTED);
        assert_string_equal(words, expected);
        assert_int_equal(page.count, 0);
        decoded_page_release(&page);
    }
}

/* Any cut of a good answer is not an answer; the bytes lie at the end of their block, so that the
 * sanitizer sees any step beyond them. */
UNIT(decode_call__takes_no_truncated_body)
{
    static const char whole[] = "{\"jobID\":\"c-1\",\"mcastLimit\":4,\"sessionToken\":\"tok-1\","
                                "\"jobSteps\":{\"0\":[1,2]}}";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char *cut = malloc(length > 0 ? length : 1);
        assert_non_null(cut);
        memcpy(cut, whole, length);
        struct decoded out;
        decode_call(&out, FMCALL_RESERVE, false, 201, cut, length, &none);
        assert_int_equal(out.outcome, FM_BUSY);
        assert_string_equal(out.token, "");
        free(cut);
    }
}

static void token_of_length(size_t length, enum fmcall_outcome expected)
{
    static const char before[] = "{\"sessionToken\":\"";
    static const char after[] = "\"}";
    size_t size = sizeof before - 1 + length + sizeof after;
    char *body = malloc(size);
    struct decoded out;

    assert_non_null(body);
    memcpy(body, before, sizeof before - 1);
    memset(body + sizeof before - 1, '~', length);
    memcpy(body + sizeof before - 1 + length, after, sizeof after);
    decode_call(&out, FMCALL_RESERVE, false, 200, body, size - 1, &none);
    assert_int_equal(out.outcome, expected);
    assert_int_equal(strlen(out.token), expected == FM_OK ? length : 0);
    decoded_release(&out);
    assert_string_equal(out.token, "");
    free(body);
}

UNIT(decode_call__bounds_tokens)
{
    token_of_length(1, FM_OK);
    token_of_length(TOKEN_MAX, FM_OK);
    token_of_length(TOKEN_MAX + 1, FM_BUSY);
    token_of_length(1000000, FM_BUSY);
}

UNIT(decode_call__bounds_words)
{
    char body[3000];
    char m[1001];
    struct decoded out;

    memset(m, 'm', 1000);
    m[1000] = '\0';
    int length = snprintf(body, sizeof body, "{\"message\":\"%s\",\"detail\":\"x%s\"}", m, m);
    decode_call(&out, FMCALL_RESERVE, false, 400, body, (size_t)length, &none);
    assert_int_equal(out.outcome, FM_DENIED);
    assert_int_equal(strlen(out.words), strlen("HTTP 400: ") + 160);
    assert_string_equal(out.words + strlen(out.words) - 4, "m...");
}

struct quote_row {
    const char *body;
    const char *words;
};

/* A gateway that quotes the request, or its own answer, in what it says about it. */
static const struct quote_row quote_rows[] = {
    {"{\"message\":\"bad login cxi:pw-1\"}", "HTTP 400: bad login cxi:***"},
    {"{\"detail\":\"Authorization: Basic Y3hp= is bad\"}",
     "HTTP 400: Authorization: Basic *** is bad"},
    {"{\"message\":\"m pw-1\",\"detail\":\"d pw-1\"}", "HTTP 400: m *** (d ***)"},
    {"{\"message\":\"refused for tok-1\"," TOKEN "}", "HTTP 400: refused for ***"},
    {"{\"message\":\"refused for tok-1\",\"job\":[{" TOKEN "}]}", "HTTP 400: refused for ***"},
    {"{\"message\":\"not {\\\"sessionToken\\\":\\\"tok-1\\\"}\"}",
     "HTTP 400: not {\"sessionToken\":\"***\"}"},
    /* more tokens than can be blanked: not one word */
    {"{\"message\":\"not t3\",\"jobs\":[{\"sessionToken\":\"t1\"},{\"sessionToken\":\"t2\"},"
     "{\"sessionToken\":\"t3\"}]}",
     "HTTP 400"},
};

UNIT(decode__passes_on_no_secret)
{
    static const struct secrets carried = {.values = {"pw-1", "Y3hpOnB3LTE"}, .count = 2};
    static const enum fmcall_kind kinds[] = {FMCALL_RESERVE, FMCALL_CHECK, FMCALL_RELEASE};

    for (size_t i = 0; i < sizeof quote_rows / sizeof quote_rows[0]; i++) {
        const struct quote_row *row = &quote_rows[i];
        struct decoded out;
        struct decoded_page page;
        char words[DECODE_WORDS_SIZE];
        for (size_t kind = 0; kind < 3; kind++) {
            decode_call(&out, kinds[kind], false, 400, row->body, strlen(row->body), &carried);
            assert_string_equal(out.words, row->words);
        }
        (void)decode_page(&page, 400, row->body, strlen(row->body), &carried, words);
        assert_string_equal(words, row->words);
        decoded_page_release(&page);
        /* a gateway's 404 is shown as it came */
        decode_call(&out, FMCALL_CHECK, false, 404, row->body, strlen(row->body), &carried);
        assert_int_equal(out.outcome, FM_NOT_ROUTED);
        assert_memory_equal(out.words, NOT_ROUTED, sizeof NOT_ROUTED - 1);
        assert_null(strstr(out.words, "pw-1"));
        assert_null(strstr(out.words, "tok-1"));
        assert_null(strstr(out.words, "Y3hp"));
    }
}

/* Words of a gateway's 404: bounded, one line, and none where secrets cannot be looked for. */
UNIT(decode__bounds_a_gateways_words)
{
    static const struct secrets carried = {.values = {"QQQQQQQQ"}, .count = 1};
    static char body[SECRETS_TEXT_MAX + 1];
    struct decoded out;

    for (size_t before = 0; before < 400; before++) {
        memset(body, before % 2 ? '\n' : 'm', before);
        (void)snprintf(body + before, sizeof body - before, "QQQQQQQQ\nQQQQQQQQ");
        decode_call(&out, FMCALL_CHECK, false, 404, body, strlen(body), &carried);
        assert_int_equal(out.outcome, FM_NOT_ROUTED);
        assert_null(strstr(out.words, "QQ"));
        assert_null(strchr(out.words, '\n'));
    }
    memset(body, 'm', sizeof body);
    decode_call(&out, FMCALL_CHECK, false, 404, body, sizeof body, &carried);
    assert_string_equal(out.words, NOT_ROUTED "a body of 16385 bytes without a message");
    decode_call(&out, FMCALL_CHECK, false, 404, body, sizeof body - 1, &carried);
    assert_int_equal(strlen(out.words), strlen(NOT_ROUTED) + WORDS_MAX);
    assert_string_equal(out.words + strlen(out.words) - 4, "m...");
}

/* Wherever the words are cut, no beginning of a secret is left. */
UNIT(decode__cuts_no_secret)
{
    static const struct secrets carried = {.values = {"QQQQQQQQ"}, .count = 1};
    for (int before = 0; before < 400; before++) {
        char body[600];
        struct decoded out;
        int length = snprintf(body, sizeof body, "{\"message\":\"%0*dQQQQQQQQ\",\"detail\":\"Q\"}",
                              before, 0);
        decode_call(&out, FMCALL_RELEASE, false, 400, body, (size_t)length, &carried);
        assert_null(strstr(out.words, "QQ"));
    }
}

UNIT(decode_call__survives_deep_nesting)
{
    size_t depth = 500000;
    char *body = malloc(5 + depth);
    struct decoded out;

    assert_non_null(body);
    memcpy(body, "{\"a\":", 5);
    memset(body + 5, '[', depth);
    decode_call(&out, FMCALL_CHECK, false, 200, body, 5 + depth, &none);
    assert_int_equal(out.outcome, FM_BUSY);
    free(body);
}

struct page_row {
    const char *body;
    const char *names; /* each followed by '|'; NULL: not whole */
    int64_t claimed;
    const char *next;
};

#define JOBS "/fabric/collectives/jobs/"

static const struct page_row page_rows[] = {
    {"{\"documentLinks\":[]}", "", -1, NULL},
    {"{\"documentLinks\":[\"" JOBS "c-1\",\"" JOBS "c-2\"]}", "c-1|c-2|", -1, NULL},
    {"{\"documentLinks\":[\"https://fmn:8000/apis" JOBS "c-1\"]}", "c-1|", -1, NULL},
    {"{\"documentLinks\":[\"c-1\"]}", "c-1|", -1, NULL},
    {"{\"documentLinks\":[\"/a/c-1\"],\"documentCount\":1}", "c-1|", 1, NULL},
    {"{\"documentLinks\":[],\"documentCount\":0}", "", 0, NULL},
    {"{\"documentLinks\":[],\"documentCount\":7.0}", "", 7, NULL},
    {"{\"documentLinks\":[],\"documentCount\":null,\"nextPageLink\":null}", "", -1, NULL},
    {"{\"documentLinks\":[],\"nextPageLink\":\"\"}", "", -1, NULL},
    {"{\"documentLinks\":[],\"nextPageLink\":\"/p?2\"}", "", -1, "/p?2"},

    /* percent-decoding; what could pass for another name stays encoded */
    {"{\"documentLinks\":[\"/j/c-f%3A1%2b\"]}", "c-f:1+|", -1, NULL},
    {"{\"documentLinks\":[\"/j/c-1%00x\"]}", "c-1%00x|", -1, NULL},
    {"{\"documentLinks\":[\"/j/100%\",\"/j/a%4\",\"/j/a%zz\",\"/j/%g0\"]}", "100%|a%4|a%zz|%g0|",
     -1, NULL},
    {"{\"documentLinks\":[\"/j/a%2Fb\"]}", "a/b|", -1, NULL},
    {"{\"documentLinks\":[\"/j/%2541\"]}", "%41|", -1, NULL},

    /* not whole */
    {"", NULL, 0, NULL},
    {"[]", NULL, 0, NULL},
    {"<html>", NULL, 0, NULL},
    {"{}", NULL, 0, NULL},
    {"{\"documentLinks\":null}", NULL, 0, NULL},
    {"{\"documentLinks\":{}}", NULL, 0, NULL},
    {"{\"documentLinks\":\"/j/c-1\"}", NULL, 0, NULL},
    {"{\"documentLinks\":[\"/j/c-1\",7]}", NULL, 0, NULL},
    {"{\"documentLinks\":[null]}", NULL, 0, NULL},
    {"{\"documentLinks\":[[\"/j/c-1\"]]}", NULL, 0, NULL},
    {"{\"documentLinks\":[\"\"]}", NULL, 0, NULL},
    {"{\"documentLinks\":[\"/j/\"]}", NULL, 0, NULL},
    {"{\"documentLinks\":[\"https://fmn\"]}", NULL, 0, NULL},
    {"{\"documentLinks\":[\"/j/c-1\"", NULL, 0, NULL},
    {"{\"documentLinks\":[],\"documentCount\":\"0\"}", NULL, 0, NULL},
    {"{\"documentLinks\":[],\"documentCount\":-1}", NULL, 0, NULL},
    {"{\"documentLinks\":[],\"documentCount\":0.5}", NULL, 0, NULL},
    {"{\"documentLinks\":[],\"documentCount\":1e300}", NULL, 0, NULL},
    {"{\"documentLinks\":[],\"nextPageLink\":7}", NULL, 0, NULL},
};

UNIT(decode_page__knows_every_shape)
{
    for (size_t i = 0; i < sizeof page_rows / sizeof page_rows[0]; i++) {
        const struct page_row *row = &page_rows[i];
        struct decoded_page page;
        char words[DECODE_WORDS_SIZE] = "";
        char names[256] = "";
        enum fmcall_outcome outcome =
            decode_page(&page, 200, row->body, strlen(row->body), &none, words);

        if ((outcome == FM_OK) != (row->names != NULL))
            fail_msg("row %zu, %s: %s %s", i, row->body, fmcall_outcome_word(outcome), words);
        if (outcome == FM_OK) {
            for (size_t n = 0; n < page.count; n++)
                (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s|",
                               page.names[n]);
            assert_string_equal(names, row->names);
            assert_int_equal(page.claimed, row->claimed);
            assert_int_equal(page.next != NULL, row->next != NULL);
            if (row->next)
                assert_string_equal(page.next, row->next);
        } else {
            assert_int_equal(outcome, FM_BUSY);
            assert_int_equal(page.count, 0);
            assert_non_null(strstr(words, "the list is not whole: "));
        }
        decoded_page_release(&page);
    }
}

UNIT(decode_page__carries_other_answers)
{
    static const struct {
        int status;
        enum fmcall_outcome outcome;
    } rows[] = {{401, FM_UNAUTHORIZED}, {403, FM_UNAUTHORIZED}, {429, FM_BUSY},  {500, FM_BUSY},
                {503, FM_BUSY},         {302, FM_BUSY},         {400, FM_DENIED}};
    static const char body[] = "{\"detail\":\"why\",\"documentLinks\":[\"/j/c-1\"]}";

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decoded_page page;
        char words[DECODE_WORDS_SIZE];
        char expected[64];
        assert_int_equal(decode_page(&page, rows[i].status, body, sizeof body - 1, &none, words),
                         rows[i].outcome);
        assert_int_equal(page.count, 0);
        (void)snprintf(expected, sizeof expected, "HTTP %d: why", rows[i].status);
        assert_string_equal(words, expected);
        decoded_page_release(&page);
    }
}

UNIT_RUN(NULL, NULL)
