/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of MUNGE credentials, what is made of munged's words, and the header they come in. */

#include "broker/http/auth/mungecred.h"
#include "base/error.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <munge.h>
#include <stdatomic.h>
#include <semaphore.h>

UNIT(payload__is_the_request_line)
{
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

UNIT(words_of_munged__are_told_with_who_was_seen)
{
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

UNIT(munged__that_is_not_there_is_no_proof)
{
    struct mungecred mungecred;
    struct problem problem;
    mungecred_decode("/nonexistent/munge.socket", "MUNGE:AwQ:", "mcastd1 GET /", &mungecred);
    assert_false(mungecred.decoded);
    assert_int_equal(mungecred.proof.kind, PROOF_NONE);
    assert_int_equal(mungecred_judge(&mungecred, &problem), -1);
    assert_int_equal(problem.status, 503);
}

UNIT(authorization__takes_credentials_and_tokens)
{
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
        {"Basic x", "x", NULL},
        {"Basic", NULL, "unknown-scheme"},
        {"Basicx x", NULL, "unknown-scheme"},
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
            assert_int_equal(shown.scheme, strstr(cases[i].value, "asic") ? AUTHORIZATION_BASIC
                                           : (cases[i].value[0] | 0x20) == 'b'
                                               ? AUTHORIZATION_BEARER
                                               : AUTHORIZATION_MUNGE);
            continue;
        }
        assert_int_equal(problem.status, 401);
        assert_string_equal(problem.code, cases[i].code);
        assert_string_equal(problem.field, "Authorization");
    }
}

/* ---- credentials wait in a queue with a limit, also when munged hangs; the test plays munged ----
 */

static struct {
    atomic_uint at_once, most;
    sem_t entered, may_go;
} munged;

/* Each waits until it may go on. */
static void decode(const char *socket, const char *credential, const char *payload,
                   struct mungecred *out)
{
    unsigned now = atomic_fetch_add(&munged.at_once, 1) + 1;
    for (unsigned most = munged.most; now > most;)
        if (atomic_compare_exchange_weak(&munged.most, &most, now))
            break;
    sem_post(&munged.entered);
    while (sem_wait(&munged.may_go) < 0)
        continue;
    *out = (struct mungecred){.code = !strcmp(socket, "socket") && !strcmp(credential, "shown") &&
                                              !strcmp(payload, "asked")
                                          ? 7
                                          : -1};
    atomic_fetch_sub(&munged.at_once, 1);
}

static void on_decoded(void *arg, const struct mungecred *mungecred)
{
    unsigned *answers = arg;
    /* A very slow machine reaches the deadline. */
    assert_true(mungecred->code == 7 || mungecred->code == EMUNGE_TIMEOUT);
    (*answers)++;
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

UNIT(queue__has_a_bound)
{
    uv_loop_t loop;
    unsigned answers = 0;
    bool closed = false;
    assert_int_equal(sem_init(&munged.entered, 0, 0), 0);
    assert_int_equal(sem_init(&munged.may_go, 0, 0), 0);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct decoder *decoder = decoder_create(&loop, decode);
    for (unsigned i = 0; i < DECODER_QUEUE_MAX; i++) {
        assert_int_equal(decoder->queue.count, i);
        assert_int_equal(decoder_ask(decoder, "socket", "shown", "asked", on_decoded, &answers), 0);
    }
    /* Those that hang hold all threads that there are for it, and nobody else is let in. */
    for (int i = 0; i < WORKQUEUE_THREADS; i++)
        sem_wait(&munged.entered);
    assert_int_equal(decoder_ask(decoder, "socket", "shown", "asked", on_decoded, &answers),
                     ERROR_FULL);
    assert_int_equal(answers, 0);
    for (unsigned i = 0; i < DECODER_QUEUE_MAX + 1; i++)
        sem_post(&munged.may_go);
    while (decoder->queue.count > 0)
        assert_true(uv_run(&loop, UV_RUN_ONCE));
    assert_int_equal(answers, DECODER_QUEUE_MAX);
    assert_int_equal(decoder_ask(decoder, "socket", "shown", "asked", on_decoded, &answers), 0);
    while (decoder->queue.count > 0)
        assert_true(uv_run(&loop, UV_RUN_ONCE));
    assert_int_equal(answers, DECODER_QUEUE_MAX + 1);
    assert_int_equal(munged.most, WORKQUEUE_THREADS);
    workqueue_close(&decoder->queue, on_closed, &closed);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(closed);
    assert_int_equal(uv_loop_close(&loop), 0);
}

UNIT_RUN(NULL, NULL)
