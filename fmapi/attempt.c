/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/call.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After a 403 that a renewal did not change, no 403 renews the login for this time: each retry of a
 * job that belongs to others would else request a token. */
static const uint64_t renewal_pause_ns = UINT64_C(60) * 1000000000;

/* One request, until it is answered. */
struct attempt {
    struct fmapi *api;
    struct request request;
    struct login_wait wait;
    struct credential *sent; /* held, for the answer may quote it; NULL: not sent yet */
    bool token;              /* sent with a job's token: a login cannot change a refusal */
    bool renewed;
    uint64_t started_ns;
    int64_t timeout_ms;
    char *refusal; /* body of the 401 or 403, kept while the login is renewed */
    size_t refusal_length;
    int refusal_status;
    transport_done_fn *done;
    void *done_arg;
};

static void on_answer(void *arg, const struct transport_answer *answer);

static int64_t age_us(const struct attempt *attempt)
{
    return (int64_t)((uv_hrtime() - attempt->started_ns) / 1000);
}

static void attempt_release(struct attempt *attempt)
{
    request_release(&attempt->request);
    memory_wipe(attempt->refusal, attempt->refusal_length);
    credential_drop(attempt->sent);
    free(attempt);
}

static void finish_attempt(struct attempt *attempt, const struct transport_answer *answer)
{
    struct transport_answer whole = *answer;
    whole.took_us = age_us(attempt);
    if (attempt->sent)
        credential_add_secrets(attempt->sent, &whole.secrets);
    attempt->done(attempt->done_arg, &whole);
    attempt_release(attempt);
}

static void finish_refused(struct attempt *attempt)
{
    finish_attempt(attempt, &(struct transport_answer){.end = TRANSPORT_ANSWERED,
                                                       .status = attempt->refusal_status,
                                                       .body = attempt->refusal,
                                                       .length = attempt->refusal_length,
                                                       .words = ""});
}

static void finish_unsent(struct attempt *attempt, const char *cause)
{
    char words[ERROR_TEXT_SIZE];
    (void)snprintf(words, sizeof words, "not sent: %.300s", cause);
    finish_attempt(attempt, &(struct transport_answer){.end = TRANSPORT_UNREACHED, .words = words});
}

static void send_under(struct attempt *attempt, struct credential *credential)
{
    int64_t left_ms = attempt->timeout_ms - age_us(attempt) / 1000;
    credential_drop(attempt->sent);
    attempt->sent = credential_hold(credential);
    transport_send(attempt->api->transport, &attempt->request, credential, left_ms, on_answer,
                   attempt);
}

static void send_again(struct attempt *attempt)
{
    struct credential *credential = login_credential(attempt->api->login);
    if (!credential)
        finish_unsent(attempt, "the login that was got is over already");
    else if (credential == attempt->sent)
        finish_refused(attempt);
    else if (age_us(attempt) / 1000 >= attempt->timeout_ms)
        finish_unsent(attempt, "the login took the whole time of the call");
    else
        send_under(attempt, credential);
}

static void on_renewed(struct login_wait *wait, enum login_end end, int code, const char *words)
{
    struct attempt *attempt =
        (struct attempt *)(void *)((char *)wait - offsetof(struct attempt, wait));

    if (end == LOGIN_CANCELLED || attempt->api->closing)
        finish_attempt(attempt,
                       &(struct transport_answer){.end = TRANSPORT_CANCELLED, .words = ""});
    else if (end == LOGIN_LATE)
        finish_unsent(attempt, words);
    else if (code != 0)
        /* The fault of the login is what an operator can correct. */
        finish_attempt(attempt, &(struct transport_answer){.end = TRANSPORT_ANSWERED,
                                                           .status = attempt->refusal_status,
                                                           .words = words});
    else
        send_again(attempt);
}

static void renew_login(struct attempt *attempt, enum login_want want)
{
    attempt->renewed = true;
    attempt->wait.done = on_renewed;
    attempt->wait.deadline_ns = attempt->started_ns + (uint64_t)attempt->timeout_ms * 1000000;
    login_renew(attempt->api->login, want, &attempt->wait);
}

static void keep_refusal(struct attempt *attempt, const struct transport_answer *answer)
{
    attempt->refusal_status = answer->status;
    attempt->refusal_length = answer->length;
    attempt->refusal = memory_zeroed(answer->length + 1);
    if (answer->length > 0)
        memcpy(attempt->refusal, answer->body, answer->length);
}

/* Whether another credential may succeed. */
static bool worth_renewing(const struct attempt *attempt, const struct transport_answer *answer)
{
    if (answer->end != TRANSPORT_ANSWERED || attempt->token || attempt->renewed ||
        attempt->api->closing)
        return false;
    return answer->status == 401 ||
           (answer->status == 403 && uv_hrtime() >= attempt->api->no_renewal_until_ns);
}

static void on_answer(void *arg, const struct transport_answer *answer)
{
    struct attempt *attempt = arg;
    struct fmapi *api = attempt->api;
    bool refused_again = attempt->refusal && answer->end == TRANSPORT_ANSWERED;
    if (refused_again && attempt->refusal_status == 403 && answer->status == 403)
        api->no_renewal_until_ns = uv_hrtime() + renewal_pause_ns;
    if (!worth_renewing(attempt, answer)) {
        finish_attempt(attempt, answer);
        return;
    }
    keep_refusal(attempt, answer);
    const struct credential *current = login_credential(api->login);
    if (current != attempt->sent && current)
        send_again(attempt); /* another one's refusal has renewed it meanwhile */
    else
        renew_login(attempt, answer->status == 401 ? LOGIN_WANT_OTHER : LOGIN_WANT_RIGHTS);
}

void attempt_send(struct fmapi *api, struct request *request, struct secret token,
                  int64_t timeout_ms, transport_done_fn *done, void *arg)
{
    struct attempt *attempt = memory_zeroed(sizeof *attempt);
    assert(!api->closing);
    login_watch(api->login);
    *attempt = (struct attempt){.api = api,
                                .request = *request,
                                .token = !secret_none(token),
                                .started_ns = uv_hrtime(),
                                .timeout_ms = timeout_ms,
                                .refusal_status = 401,
                                .done = done,
                                .done_arg = arg};
    *request = (struct request){0};
    struct credential *credential =
        attempt->token ? credential_session(token) : login_credential(api->login);
    if (!credential) {
        renew_login(attempt, LOGIN_WANT_ANY);
        return;
    }
    send_under(attempt, credential);
    if (attempt->token)
        credential_drop(credential); /* the attempt holds it */
}
