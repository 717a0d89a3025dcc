/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/history.h"

#include "broker/http/request/call.h"

#include <assert.h>

bool history_due(const struct history *history, int64_t now_ms)
{
    return now_ms - history->last_ms >= HISTORY_EVERY_MS;
}

/* The bound below which `percent` of those lie that were added since. */
static uint32_t bound_of(const struct histogram *now, const struct histogram *before,
                         unsigned percent)
{
    const uint64_t all = now->count - before->count;
    uint64_t below = 0;
    for (size_t i = 0; all > 0 && i < histogram_bounds(now->scale); i++) {
        below += now->buckets[i] - before->buckets[i];
        if (below * 100 >= all * percent)
            return (uint32_t)histogram_bound(now->scale, i);
    }
    return 0;
}

void history_take(struct history *history, int64_t now_ms, const struct histogram *reserves,
                  const struct core_status *status)
{
    assert(reserves->count >= history->before.count);
    const size_t place = history->taken % HISTORY_SAMPLES;
    history->samples[place] = (struct history_sample){
        .at_ms = now_ms,
        .since_ms = history->taken > 0 ? (uint32_t)(now_ms - history->last_ms) : HISTORY_EVERY_MS,
        .half_us = bound_of(reserves, &history->before, 50),
        .worst_us = bound_of(reserves, &history->before, 99),
        .reserves = reserves->count - history->before.count,
        .queue = status->calls_queued_reserve + status->calls_queued_release +
                 status->calls_queued_check + status->calls_queued_cleanup,
        .live = status->vnis_live,
        .held = status->vnis_in_quarantine,
        .quarantined = status->vnis_suspect};
    history->taken++;
    history->last_ms = now_ms;
    history->before = *reserves;
}

const struct history_sample *history_next(const struct history *history, int64_t after_ms,
                                          uint64_t *number)
{
    if (*number + HISTORY_SAMPLES < history->taken)
        *number = history->taken - HISTORY_SAMPLES;
    while (*number < history->taken) {
        const struct history_sample *sample = &history->samples[(*number)++ % HISTORY_SAMPLES];
        if (sample->at_ms > after_ms)
            return sample;
    }
    return NULL;
}

/* ---- GET /v1/history ---- */

static void write_sample(struct writer *out, const struct history_sample *sample)
{
    writer_begin_object(out, NULL);
    writer_time(out, "time", sample->at_ms);
    writer_number(out, "since_ms", sample->since_ms);
    writer_number(out, "reserves", sample->reserves);
    if (sample->half_us > 0)
        writer_number(out, "reserve_half_us", sample->half_us);
    if (sample->worst_us > 0)
        writer_number(out, "reserve_99_us", sample->worst_us);
    writer_number(out, "queue", sample->queue);
    writer_number(out, "live", sample->live);
    writer_number(out, "held", sample->held);
    writer_number(out, "quarantined", sample->quarantined);
    writer_end_object(out);
}

int history_handle(struct call *call)
{
    uint64_t after = 0, number = 0;
    if (target_query_number(&call->target, "after", 0, INT64_MAX, &after, &call->problem) < 0)
        return -1;
    writer_begin_object(&call->out, NULL);
    writer_number(&call->out, "every_ms", HISTORY_EVERY_MS);
    writer_begin_array(&call->out, "samples");
    for (const struct history_sample *sample;
         (sample = history_next(call->http->history, (int64_t)after, &number));)
        write_sample(&call->out, sample);
    writer_end_array(&call->out);
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
