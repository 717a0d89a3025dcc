/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/fmapi.h"

#include "base/memory.h"
#include "fmapi/call.h"
#include "fmapi/login/loginfiles.h"
#include "fmapi/wire/baseurl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fmapi_check(const struct fmapi_options *options, struct error *err)
{
    struct loginfiles_found found;
    if ((!options->mtls_cert) != (!options->mtls_key))
        return error_set(err, ERROR_INVALID,
                         "a client certificate needs its key and a key its certificate");
    int code = loginfiles_read(options, &found, err);
    if (code == 0)
        loginfiles_wipe(&found);
    return code;
}

static int copy_options(struct fmapi *api, const struct fmapi_options *options, struct error *err)
{
    api->options = *options;
    memset(api->options.urls, 0, sizeof api->options.urls);
    api->options.authdir = memory_text(options->authdir);
    api->options.mtls_cert = memory_text(options->mtls_cert);
    api->options.mtls_key = memory_text(options->mtls_key);
    api->options.ca = memory_text(options->ca);
    for (unsigned i = 0; i < FMAPI_URLS_MAX && options->urls[i]; i++) {
        api->bases[i] = baseurl_create(options->urls[i], err);
        if (!api->bases[i])
            return ERROR_INVALID;
    }
    api->base = api->bases[0];
    return api->base ? 0 : error_set(err, ERROR_INVALID, "no base URL is given");
}

static void free_api(struct fmapi *api)
{
    const char *const texts[] = {api->options.authdir, api->options.mtls_cert,
                                 api->options.mtls_key, api->options.ca};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free((void *)(uintptr_t)texts[i]); /* const for all but us */
    for (unsigned i = 0; i < FMAPI_URLS_MAX; i++)
        free(api->bases[i]);
    free(api);
}

struct fmapi *fmapi_create(uv_loop_t *loop, const struct fmapi_options *options, struct error *err)
{
    assert(options->auth == FMAPI_AUTH_NONE || options->authdir);
    assert((!options->mtls_cert) == (!options->mtls_key));
    assert(options->timeout_ms >= 1 && options->timeout_ms <= INT32_MAX && options->parallel >= 1);
    struct fmapi *api = memory_zeroed(sizeof *api);
    if (copy_options(api, options, err) == 0) {
        const struct transport_options transport = {.ca = api->options.ca,
                                                    .verify = options->verify != 0,
                                                    .parallel = options->parallel,
                                                    .may_send = options->may_send,
                                                    .may_send_arg = options->may_send_arg,
                                                    .unacknowledged_ms =
                                                        (unsigned)options->timeout_ms};
        api->transport = transport_create(loop, &transport, err);
    }
    if (!api->transport) {
        free_api(api);
        return NULL;
    }
    api->loop = loop;
    bool tls = options->auth == FMAPI_AUTH_OAUTH; /* its endpoint's */
    for (unsigned i = 0; i < FMAPI_URLS_MAX && api->bases[i]; i++)
        tls |= strncmp(api->bases[i], "https:", 6) == 0;
    api->login = login_create(loop, &api->options, api->transport, tls && options->verify != 0);
    return api;
}

static void on_login_closed(void *arg)
{
    struct fmapi *api = arg;
    void (*closed)(void *closed_arg) = api->closed;
    void *closed_arg = api->closed_arg;
    assert(api->in_flight == 0);
    free_api(api);
    closed(closed_arg);
}

static void on_transport_closed(void *arg)
{
    struct fmapi *api = arg;
    login_destroy(api->login, on_login_closed, api);
}

void fmapi_destroy(struct fmapi *api, void (*closed)(void *arg), void *arg)
{
    if (!api)
        return;
    assert(!api->closing);
    api->closing = true;
    api->closed = closed;
    api->closed_arg = arg;
    transport_destroy(api->transport, on_transport_closed, api);
}

static void on_login(struct login_wait *wait, enum login_end end, int code, const char *words)
{
    struct fmapi *api = (struct fmapi *)(void *)((char *)wait - offsetof(struct fmapi, login_wait));
    fmapi_login_fn *done = api->login_done;
    api->login_done = NULL;
    if (end != LOGIN_CANCELLED && !api->closing)
        done(api->login_arg, code, words);
}

void fmapi_login(struct fmapi *api, unsigned url, fmapi_login_fn *done, void *arg)
{
    assert(!api->closing && !api->login_done);
    assert(url < FMAPI_URLS_MAX && api->bases[url]);
    api->base = api->bases[url];
    api->login_done = done;
    api->login_arg = arg;
    api->login_wait.done = on_login;
    /* Files on a network's disk may never come; the token endpoint has its own limit besides. */
    api->login_wait.deadline_ns = uv_hrtime() + 2 * (uint64_t)api->options.timeout_ms * 1000000;
    login_renew(api->login, LOGIN_WANT_LOGIN, &api->login_wait);
}

/* -- calls -- */

struct call {
    struct fmapi *api;
    const char *base; /* where it went */
    enum fmcall_kind kind;
    bool session; /* made with a job's session token */
    fmapi_call_fn *done;
    void *done_arg;
};

enum fmcall_outcome call_describe_end(char words[static DECODE_WORDS_SIZE], const struct fmapi *api,
                                      const char *base, const struct transport_answer *answer)
{
    const enum transport_end end = answer->end;
    int length = snprintf(words, DECODE_WORDS_SIZE, "%.64s: %s", base, answer->words);
    assert(end != TRANSPORT_ANSWERED && end != TRANSPORT_CANCELLED);
    /* The call's own limit: the transport had what a login left of it. */
    if (end == TRANSPORT_TIMEOUT && length < DECODE_WORDS_SIZE)
        (void)snprintf(words + length, (size_t)(DECODE_WORDS_SIZE - length), " (%" PRId64 " ms)",
                       api->options.timeout_ms);
    return end == TRANSPORT_TIMEOUT     ? FM_TIMEOUT
           : end == TRANSPORT_BROKEN    ? FM_BROKEN
           : end == TRANSPORT_UNREACHED ? FM_UNREACHED
                                        : FM_BUSY;
}

static void on_call_answer(void *arg, const struct transport_answer *answer)
{
    struct call *call = arg;
    struct fmapi *api = call->api;
    struct decoded decoded = {0};
    api->in_flight--;
    if (answer->end == TRANSPORT_CANCELLED || api->closing) {
        free(call);
        return;
    }
    if (answer->end == TRANSPORT_ANSWERED) {
        decode_call(&decoded, call->kind, call->session, answer->status, answer->body,
                    answer->length, &answer->secrets);
        if (answer->words[0] != '\0')
            (void)snprintf(decoded.words, sizeof decoded.words, "%s", answer->words);
    } else {
        decoded.outcome = call_describe_end(decoded.words, api, call->base, answer);
    }
    call->done(
        call->done_arg,
        &(struct fmapi_reply){.outcome = decoded.outcome,
                              .token = secret_of(decoded.token[0] != '\0' ? decoded.token : NULL),
                              .words = decoded.words,
                              .status = answer->status,
                              .took_us = answer->took_us,
                              .steps = decoded.steps,
                              .tree = decoded.tree.root ? &decoded.tree : NULL});
    decoded_release(&decoded);
    free(call);
}

void fmapi_call(struct fmapi *api, enum fmcall_kind kind, const struct fmcall_about *about,
                fmapi_call_fn *done, void *arg)
{
    struct request request = request_call(api->base, kind, about);
    struct call *call = memory_zeroed(sizeof *call);
    assert(!api->closing);
    *call = (struct call){.api = api,
                          .base = api->base,
                          .kind = kind,
                          .session = !secret_none(about->token),
                          .done = done,
                          .done_arg = arg};
    attempt_send(api, &request, about->token, api->options.timeout_ms, on_call_answer, call);
    api->in_flight++;
}

/* -- counters -- */

void fmapi_counters(const struct fmapi *api, struct fmapi_counters *out)
{
    const struct transport_counters *transport = transport_counters(api->transport);
    *out = login_counters(api->login);
    out->calls = transport->requests;
    out->connections = transport->connections;
    out->bytes_in = transport->bytes_in;
    out->bytes_out = transport->bytes_out;
    out->tls_errors += transport->tls_errors;
    out->date_skew_ms = transport->skew_ms;
    out->in_flight = api->in_flight;
    out->unverified = api->options.verify == 0;
}
