/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/decoder.h"

#include <assert.h>
#include <munge.h>
#include <stdlib.h>
#include <string.h>

/* One credential, from the question to the answer of its thread. */
struct decoding {
    struct decoder *decoder;
    struct decoding *next; /* younger */
    uv_work_t work;
    uint64_t deadline;     /* of uv_now */
    decoder_done_fn *done; /* NULL: has been called */
    void *arg;
    bool running;
    char *socket, *credential, *payload;
    struct mungecred result;
};

struct decoder {
    uv_loop_t *loop;
    uv_timer_t timer; /* at the oldest one's deadline */
    decoder_decode_fn *decode;
    struct decoding *oldest, **youngest;
    unsigned count, running;
    bool closing, timer_closed;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void decoding_destroy(struct decoding *decoding)
{
    if (!decoding)
        return;
    free(decoding->socket);
    if (decoding->credential)
        explicit_bzero(decoding->credential, strlen(decoding->credential));
    free(decoding->credential);
    free(decoding->payload);
    free(decoding);
}

static void dequeue(struct decoding *decoding)
{
    struct decoder *decoder = decoding->decoder;
    struct decoding **at = &decoder->oldest;
    while (*at != decoding)
        at = &(*at)->next;
    *at = decoding->next;
    if (decoder->youngest == &decoding->next)
        decoder->youngest = at;
    decoder->count--;
}

static void report_result(struct decoding *decoding, const struct mungecred *result)
{
    decoder_done_fn *done = decoding->done;
    decoding->done = NULL;
    if (done)
        done(decoding->arg, result);
}

static void finish_if_empty(struct decoder *decoder)
{
    if (!decoder->closing || decoder->running > 0 || !decoder->timer_closed)
        return;
    void (*closed)(void *arg) = decoder->closed;
    void *arg = decoder->closed_arg;
    free(decoder);
    closed(arg);
}

/* ---- threads ---- */

static void on_thread(uv_work_t *work)
{
    struct decoding *decoding = work->data;
    decoding->decoder->decode(decoding->socket, decoding->credential, decoding->payload,
                              &decoding->result);
}

static void start_next(struct decoder *decoder);

static void on_decoded(uv_work_t *work, int status)
{
    struct decoding *decoding = work->data;
    struct decoder *decoder = decoding->decoder;
    (void)status; /* is never cancelled */
    dequeue(decoding);
    decoder->running--;
    report_result(decoding, &decoding->result);
    decoding_destroy(decoding);
    start_next(decoder);
    finish_if_empty(decoder);
}

static void start_next(struct decoder *decoder)
{
    struct decoding *decoding = decoder->oldest;
    for (; decoding && decoder->running < DECODER_THREADS; decoding = decoding->next) {
        if (decoding->running)
            continue;
        /* Fails only without a work function. */
        (void)uv_queue_work(decoder->loop, &decoding->work, on_thread, on_decoded);
        decoding->running = true;
        decoder->running++;
    }
}

/* ---- deadlines ---- */

static void on_timer(uv_timer_t *timer);

static void set_timer(struct decoder *decoder)
{
    const struct decoding *decoding = decoder->oldest;
    uint64_t now = uv_now(decoder->loop);
    while (decoding && !decoding->done)
        decoding = decoding->next;
    if (decoding)
        uv_timer_start(&decoder->timer, on_timer,
                       decoding->deadline > now ? decoding->deadline - now : 0, 0);
    else
        uv_timer_stop(&decoder->timer);
}

/* What a thread works on stays in the queue, already answered, until the thread returns. */
static void on_timer(uv_timer_t *timer)
{
    static const struct mungecred late = {.code = EMUNGE_TIMEOUT};
    struct decoder *decoder = timer->data;
    uint64_t now = uv_now(decoder->loop);
    for (struct decoding *decoding = decoder->oldest, *next; decoding; decoding = next) {
        next = decoding->next;
        if (decoding->deadline > now)
            break;
        report_result(decoding, &late);
        if (decoding->running)
            continue;
        dequeue(decoding);
        decoding_destroy(decoding);
    }
    set_timer(decoder);
}

/* ---- decoder.h ---- */

struct decoder *decoder_create(uv_loop_t *loop, decoder_decode_fn *decode)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->loop = loop;
    decoder->decode = decode;
    decoder->youngest = &decoder->oldest;
    uv_timer_init(loop, &decoder->timer);
    decoder->timer.data = decoder;
    return decoder;
}

int decoder_ask(struct decoder *decoder, const char *socket, const char *credential, char *payload,
                decoder_done_fn *done, void *arg)
{
    struct decoding *decoding = calloc(1, sizeof *decoding);
    bool full = decoder->count >= DECODER_QUEUE_MAX;
    if (!decoding) {
        free(payload);
        return ERROR_NOMEM;
    }
    decoding->payload = payload;
    decoding->socket = strdup(socket);
    decoding->credential = strdup(credential);
    if (full || !payload || !decoding->socket || !decoding->credential) {
        decoding_destroy(decoding);
        return full ? ERROR_FULL : ERROR_NOMEM;
    }
    decoding->decoder = decoder;
    decoding->work.data = decoding;
    decoding->deadline = uv_now(decoder->loop) + DECODER_DEADLINE_MS;
    decoding->done = done;
    decoding->arg = arg;
    *decoder->youngest = decoding;
    decoder->youngest = &decoding->next;
    decoder->count++;
    if (!uv_is_active((uv_handle_t *)&decoder->timer))
        set_timer(decoder);
    start_next(decoder);
    return 0;
}

unsigned decoder_waiting(const struct decoder *decoder)
{
    return decoder->count;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct decoder *decoder = handle->data;
    decoder->timer_closed = true;
    finish_if_empty(decoder);
}

void decoder_destroy(struct decoder *decoder, void (*closed)(void *arg), void *arg)
{
    assert(decoder->count == decoder->running);
    decoder->closing = true;
    decoder->closed = closed;
    decoder->closed_arg = arg;
    uv_close((uv_handle_t *)&decoder->timer, on_timer_closed);
}
