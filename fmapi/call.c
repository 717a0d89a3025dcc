#include "fmapi/call.h"

#include "fmapi/wire/jobsteps.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
    struct fmapi *api;
    const char *base; /* where it went */
    enum fmcall_kind kind;
    bool session; /* made with a job's session token */
    fmapi_call_fn *done;
    void *done_arg;
};

enum fmcall_outcome call_outcome_of_end(enum transport_end end)
{
    assert(end != TRANSPORT_ANSWERED && end != TRANSPORT_CANCELLED);
    switch (end) {
    case TRANSPORT_TIMEOUT:
        return FM_TIMEOUT;
    case TRANSPORT_BROKEN:
        return FM_BROKEN;
    case TRANSPORT_UNREACHED:
        return FM_UNREACHED;
    case TRANSPORT_TOO_LONG:
    case TRANSPORT_ANSWERED:
    case TRANSPORT_CANCELLED:
        break;
    }
    return FM_BUSY;
}

void call_say_end(char words[static DECODE_WORDS_SIZE], const struct fmapi *api, const char *base,
                  const struct transport_answer *answer)
{
    int length = snprintf(words, DECODE_WORDS_SIZE, "%.64s: %s", base, answer->words);
    /* The call's own limit: the transport had what a login left of it. */
    if (answer->end == TRANSPORT_TIMEOUT && length < DECODE_WORDS_SIZE)
        (void)snprintf(words + length, (size_t)(DECODE_WORDS_SIZE - length), " (%" PRId64 " ms)",
                       api->timeout_ms);
}

static void on_answer(void *arg, const struct transport_answer *answer)
{
    struct call *call = arg;
    struct fmapi *api = call->api;
    struct decoded decoded = {0};
    api->under_way--;
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
        decoded.outcome = call_outcome_of_end(answer->end);
        call_say_end(decoded.words, api, call->base, answer);
    }
    call->done(
        call->done_arg,
        &(struct fmapi_reply){.outcome = decoded.outcome,
                              .token = secret_of(decoded.token[0] != '\0' ? decoded.token : NULL),
                              .words = decoded.words,
                              .status = answer->status,
                              .took_us = answer->took_us,
                              .steps = jobsteps_list(decoded.steps)});
    decoded_release(&decoded);
    free(call);
}

/* Takes the request, with which nothing went wrong if code is 0. */
static int begin_call(struct fmapi *api, struct request *request, int code, const struct call *call,
                      struct secret token)
{
    assert(!api->closing);
    if (code != 0)
        return code;
    struct call *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        request_release(request);
        return ERROR_NOMEM;
    }
    *kept = *call;
    kept->api = api;
    kept->base = api->base;
    kept->session = !secret_none(token);
    code = kept->session
               ? session_send_token(api->session, request, token, api->timeout_ms, on_answer, kept)
               : session_send(api->session, request, api->timeout_ms, on_answer, kept);
    if (code != 0)
        free(kept);
    else
        api->under_way++;
    return code;
}

int fmapi_call(struct fmapi *api, enum fmcall_kind kind, const char *name, uint32_t addresses,
               fmapi_call_fn *done, void *arg)
{
    struct request request;
    int code = request_call(&request, api->base, kind, name, addresses);
    return begin_call(api, &request, code,
                      &(struct call){.kind = kind, .done = done, .done_arg = arg},
                      (struct secret){0});
}

int fmapi_step(struct fmapi *api, enum fmcall_kind kind, const struct fmapi_step *what,
               fmapi_call_fn *done, void *arg)
{
    struct request request;
    int code = request_step(&request, api->base, kind, what->name, what->step, what->tree);
    return begin_call(api, &request, code,
                      &(struct call){.kind = kind, .done = done, .done_arg = arg}, what->token);
}
