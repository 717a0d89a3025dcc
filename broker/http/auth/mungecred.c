/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/mungecred.h"

#include "base/memory.h"

#include <munge.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool scheme_is(const char *value, size_t length, const char *scheme)
{
    return length == strlen(scheme) && strncasecmp(value, scheme, length) == 0;
}

int authorization_read(const char *value, struct authorization *out, struct problem *problem)
{
    size_t length = strcspn(value, " \t");
    const char *shown = value + length + strspn(value + length, " \t");
    bool munge = scheme_is(value, length, "Munge"), bearer = scheme_is(value, length, "Bearer");
    bool basic = scheme_is(value, length, "Basic");
    *out = (struct authorization){.scheme = munge   ? AUTHORIZATION_MUNGE
                                            : basic ? AUTHORIZATION_BASIC
                                                    : AUTHORIZATION_BEARER,
                                  .shown = shown};
    if ((munge || bearer || basic) && *shown)
        return 0;
    if (munge)
        return problem_set(problem, 401, "munge-invalid", "Authorization",
                           "Authorization has the scheme Munge but no credential; use "
                           "\"Munge CREDENTIAL\"");
    if (bearer)
        return problem_set(problem, 401, "token-invalid", "Authorization",
                           "Authorization has the scheme Bearer but no token; use "
                           "\"Bearer TOKEN\"");
    /* Not quoted: what stands there may be a credential whose scheme was forgotten. */
    return problem_set(problem, 401, "unknown-scheme", "Authorization",
                       "the scheme of Authorization is not supported; use Munge or Bearer");
}

char *mungecred_payload(const char *method, const char *target)
{
    return memory_format("mcastd1 %s %s", method, target);
}

static bool payload_is(const void *payload, int length, const char *expected)
{
    size_t size = strlen(expected);
    return payload && length >= 0 && (size_t)length == size && memcmp(payload, expected, size) == 0;
}

void mungecred_decode(const char *socket, const char *credential, const char *payload,
                      struct mungecred *out)
{
    void *found = NULL;
    int length = 0;
    uid_t uid = (uid_t)-1;
    gid_t gid;
    munge_ctx_t context = memory_must(munge_ctx_create());
    munge_err_t code = munge_ctx_set(context, MUNGE_OPT_SOCKET, socket);
    if (code == EMUNGE_SUCCESS)
        code = munge_decode(credential, context, &found, &length, &uid, &gid);
    *out =
        (struct mungecred){.code = (int)code,
                           .decoded = code == EMUNGE_SUCCESS || code == EMUNGE_CRED_EXPIRED ||
                                      code == EMUNGE_CRED_REWOUND || code == EMUNGE_CRED_REPLAYED};
    if (out->decoded) {
        out->proof = (struct proof){.kind = PROOF_MUNGE, .uid = uid};
        munge_ctx_get(context, MUNGE_OPT_ADDR4, &out->proof.origin);
        out->other_request = !payload_is(found, length, payload);
    }
    free(found);
    munge_ctx_destroy(context);
}

int mungecred_judge(const struct mungecred *mungecred, struct problem *problem)
{
    static const struct {
        int code;
        const char *word, *why;
    } refusals[] = {
        {EMUNGE_CRED_REPLAYED, "munge-replayed",
         "it has been shown before; make a new one for each attempt"},
        {EMUNGE_CRED_EXPIRED, "munge-expired",
         "it is older than its lifetime; make a new one for each attempt, and compare the clocks "
         "of its host and the broker's"},
        {EMUNGE_CRED_REWOUND, "munge-rewound",
         "it was made in the future of the broker's host; compare the clocks of both"},
        {EMUNGE_CRED_UNAUTHORIZED, "munge-invalid",
         "it is for another user than the broker's to decode; make it without a restriction"},
        {EMUNGE_SUCCESS, "munge-other-request",
         "it was made for another request than this; its payload must be \"mcastd1 METHOD TARGET\" "
         "as they stand in the request line"},
        {-1, "munge-invalid",
         "it was made with another key than that of the broker's host, or is damaged; give both "
         "hosts the same munge.key, and restart munged"},
    };
    const int code = mungecred->code;
    char who[IDENTITY_TEXT_SIZE] = "MUNGE credential";
    size_t i = 0;
    if (code == EMUNGE_SUCCESS && !mungecred->other_request)
        return 0;
    if (code == EMUNGE_SNAFU || code == EMUNGE_NO_MEMORY || code == EMUNGE_SOCKET ||
        code == EMUNGE_TIMEOUT)
        return problem_set(problem, 503, "munge-unavailable", NULL,
                           "the broker cannot ask its munged about the MUNGE credential "
                           "(%s); see that munged runs on the broker's host",
                           munge_strerror((munge_err_t)code));
    while (refusals[i].code != code && refusals[i].code != -1)
        i++;
    if (mungecred->decoded)
        identity_format(&mungecred->proof, who, sizeof who);
    return problem_set(problem, 401, refusals[i].word, NULL, "the %s is not accepted: %s", who,
                       refusals[i].why);
}

/* ---- the decoder ---- */

struct decoding {
    struct work work; /* first */
    decoder_done_fn *done;
    void *arg;
    char *socket, *credential, *payload;
    struct mungecred result;
};

static void ask_munged(struct work *work)
{
    struct decoding *decoding = (struct decoding *)work;
    const struct decoder *decoder = (const struct decoder *)work->queue;
    decoder->decode(decoding->socket, decoding->credential, decoding->payload, &decoding->result);
}

static void report_overdue(struct work *work)
{
    static const struct mungecred overdue = {.code = EMUNGE_TIMEOUT};
    const struct decoding *decoding = (const struct decoding *)work;
    decoding->done(decoding->arg, &overdue);
}

static void finish_decoding(struct work *work)
{
    struct decoding *decoding = (struct decoding *)work;
    if (!work->overdue)
        decoding->done(decoding->arg, &decoding->result);
    memory_wipe_text(decoding->credential);
    free(decoding->socket);
    free(decoding->payload);
    free(decoding);
}

struct decoder *decoder_create(uv_loop_t *loop, decoder_decode_fn *decode)
{
    static const struct workqueue_kind kind = {
        .ask = ask_munged, .overdue = report_overdue, .done = finish_decoding};
    struct decoder *decoder = memory_zeroed(sizeof *decoder);
    decoder->decode = decode;
    workqueue_init(&decoder->queue, loop, &kind);
    return decoder;
}

int decoder_ask(struct decoder *decoder, const char *socket, const char *credential,
                const char *payload, decoder_done_fn *done, void *arg)
{
    if (decoder->queue.count >= DECODER_QUEUE_MAX)
        return ERROR_FULL;
    struct decoding *decoding = memory_zeroed(sizeof *decoding);
    decoding->done = done;
    decoding->arg = arg;
    decoding->payload = memory_text(payload);
    decoding->socket = memory_text(socket);
    decoding->credential = memory_text(credential);
    workqueue_add(&decoder->queue, &decoding->work);
    return 0;
}
