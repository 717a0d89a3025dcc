/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of MUNGE credentials, what is made of munged's words, and the header they come in. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/auth/mungecred.h"

#include <arpa/inet.h>
#include <munge.h>
#include <stdlib.h>

static void payload__is_the_request_line(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target, *payload;
    } cases[] = {
        {"GET", "/v1/jobs", "mcastd1 GET /v1/jobs"},
        {"PUT", "/v1/clusters/c/jobs/a%2Fb", "mcastd1 PUT /v1/clusters/c/jobs/a%2Fb"},
        {"GET", "/v1/clusters/c/jobs/f/env?step=0", "mcastd1 GET /v1/clusters/c/jobs/f/env?step=0"},
        {"HEAD", "", "mcastd1 HEAD "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *payload = mungecred_payload(cases[i].method, cases[i].target);
        assert_string_equal(payload, cases[i].payload);
        free(payload);
    }
}

static void words_of_munged__are_told_with_who_was_seen(void **state)
{
    (void)state;
    static const char who[] = "MUNGE credential of uid 5588 from 10.0.0.7";
    static const struct {
        int code;
        bool decoded, other_request;
        int status;
        const char *word, *text;
    } cases[] = {
        {EMUNGE_SUCCESS, true, false, 0, NULL, NULL},
        {EMUNGE_SUCCESS, true, true, 401, "munge-other-request", who},
        {EMUNGE_CRED_REPLAYED, true, false, 401, "munge-replayed", who},
        {EMUNGE_CRED_REPLAYED, true, true, 401, "munge-replayed", who},
        {EMUNGE_CRED_EXPIRED, true, false, 401, "munge-expired", who},
        {EMUNGE_CRED_REWOUND, true, false, 401, "munge-rewound", who},
        {EMUNGE_CRED_REWOUND, true, false, 401, "munge-rewound", "clocks"},
        {EMUNGE_CRED_INVALID, false, false, 401, "munge-invalid", "another key"},
        {EMUNGE_CRED_UNAUTHORIZED, false, false, 401, "munge-invalid", "restriction"},
        {EMUNGE_BAD_CRED, false, false, 401, "munge-invalid", "damaged"},
        {EMUNGE_BAD_VERSION, false, false, 401, "munge-invalid", "damaged"},
        {EMUNGE_BAD_REALM, false, false, 401, "munge-invalid", "another key"},
        {EMUNGE_BAD_LENGTH, false, false, 401, "munge-invalid", "damaged"},
        {EMUNGE_SOCKET, false, false, 503, "munge-unavailable", "munged runs"},
        {EMUNGE_TIMEOUT, false, false, 503, "munge-unavailable", "munged runs"},
        {EMUNGE_SNAFU, false, false, 503, "munge-unavailable", "munged runs"},
        {EMUNGE_NO_MEMORY, false, false, 503, "munge-unavailable", "munged runs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct mungecred mungecred = {
            .code = cases[i].code,
            .decoded = cases[i].decoded,
            .other_request = cases[i].other_request,
            .proof = {.kind = PROOF_MUNGE, .uid = 5588, .origin.s_addr = htonl(0x0a000007)}};
        struct problem problem = {0};
        assert_int_equal(mungecred_judge(&mungecred, &problem), cases[i].status ? -1 : 0);
        assert_int_equal(problem.status, cases[i].status);
        if (!cases[i].status)
            continue;
        assert_string_equal(problem.code, cases[i].word);
        if (!strstr(problem.detail, cases[i].text))
            fail_msg("row %zu: %s", i, problem.detail);
        if (!cases[i].decoded && strstr(problem.detail, "5588"))
            fail_msg("row %zu names somebody who is not known", i);
    }
}

static void munged__that_is_not_there_is_no_proof(void **state)
{
    (void)state;
    struct mungecred mungecred;
    struct problem problem;
    mungecred_decode("/nonexistent/munge.socket", "MUNGE:AwQ:", "mcastd1 GET /", &mungecred);
    assert_false(mungecred.decoded);
    assert_int_equal(mungecred.proof.kind, PROOF_NONE);
    assert_int_equal(mungecred_judge(&mungecred, &problem), -1);
    assert_int_equal(problem.status, 503);
}

static void authorization__takes_credentials_and_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *value, *credential, *code;
    } cases[] = {
        {"Munge MUNGE:x:", "MUNGE:x:", NULL},
        {"munge \t MUNGE:x:", "MUNGE:x:", NULL},
        {"MUNGE x", "x", NULL},
        {"Munge", NULL, "munge-invalid"},
        {"Munge ", NULL, "munge-invalid"},
        {"Bearer x", "x", NULL},
        {"BEARER \tmcast1.x ", "mcast1.x ", NULL},
        {"BEARER", NULL, "token-invalid"},
        {"Bearer \t ", NULL, "token-invalid"},
        {"Bearerx x", NULL, "unknown-scheme"},
        {"Basic x", NULL, "unknown-scheme"},
        {"Mungex x", NULL, "unknown-scheme"},
        {"Mung x", NULL, "unknown-scheme"},
        {"", NULL, "unknown-scheme"},
        {"MUNGE:x:", NULL, "unknown-scheme"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem;
        struct authorization shown;
        int rc = authorization_read(cases[i].value, &shown, &problem);
        assert_int_equal(rc, cases[i].code ? -1 : 0);
        if (rc == 0) {
            assert_string_equal(shown.shown, cases[i].credential);
            assert_int_equal(shown.scheme == AUTHORIZATION_BEARER,
                             (cases[i].value[0] | 0x20) == 'b');
            continue;
        }
        assert_int_equal(problem.status, 401);
        assert_string_equal(problem.code, cases[i].code);
        assert_string_equal(problem.field, "Authorization");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payload__is_the_request_line),
        cmocka_unit_test(words_of_munged__are_told_with_who_was_seen),
        cmocka_unit_test(munged__that_is_not_there_is_no_proof),
        cmocka_unit_test(authorization__takes_credentials_and_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
