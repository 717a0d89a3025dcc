/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/log/loglimit.h"

#include <stddef.h>
#include <stdio.h>

enum { LINE = 1000, FULL = LOGLIMIT_BURST * LINE };

static void refill_bucket(struct loglimit_kind *place, int64_t now_ms)
{
    int64_t gone_ms = now_ms > place->filled_ms ? now_ms - place->filled_ms : 0;
    /* A rate of lines a second is the same in thousandths a millisecond. */
    if (gone_ms > FULL / LOGLIMIT_RATE)
        gone_ms = FULL / LOGLIMIT_RATE;
    place->content += gone_ms * LOGLIMIT_RATE;
    if (place->content > FULL)
        place->content = FULL;
    place->filled_ms = now_ms;
}

/* NULL: there is no room for one more kind. */
static struct loglimit_kind *place_of(struct loglimit *limit, const void *kind, int64_t now_ms)
{
    const uint64_t hash = (uint64_t)(uintptr_t)kind * UINT64_C(0x9e3779b97f4a7c15);
    const size_t first = (size_t)(hash >> 32) % LOGLIMIT_KINDS;
    for (size_t i = 0; i < LOGLIMIT_KINDS; i++) {
        struct loglimit_kind *place = &limit->kinds[(first + i) % LOGLIMIT_KINDS];
        if (!place->kind)
            *place = (struct loglimit_kind){.kind = kind, .filled_ms = now_ms, .content = FULL};
        if (place->kind == kind)
            return place;
    }
    return NULL;
}

bool loglimit_take(struct loglimit *limit, const void *kind, int64_t now_ms, const char *text)
{
    struct loglimit_kind *place = place_of(limit, kind, now_ms);
    if (!place)
        return true;
    refill_bucket(place, now_ms);
    if (place->content >= LINE) {
        place->content -= LINE;
        return true;
    }
    if (place->left_out++ == 0)
        (void)snprintf(place->sample, sizeof place->sample, "%s", text);
    return false;
}

void loglimit_settle(struct loglimit *limit, int64_t now_ms,
                     void (*report)(void *arg, uint32_t left_out, const char *sample), void *arg)
{
    for (size_t i = 0; i < LOGLIMIT_KINDS; i++) {
        struct loglimit_kind *place = &limit->kinds[i];
        if (place->left_out == 0)
            continue;
        refill_bucket(place, now_ms);
        if (place->content < LINE)
            continue;
        uint32_t left_out = place->left_out;
        place->left_out = 0;
        report(arg, left_out, place->sample);
    }
}
