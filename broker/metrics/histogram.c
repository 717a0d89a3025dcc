/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/metrics/histogram.h"

#include <assert.h>

static const struct {
    size_t count;
    uint64_t bounds[HISTOGRAM_BOUNDS];
} scales[] = {
    /* Fine where a commit or a request of a healthy broker lies, coarse up to where calls of the
     * fabric manager are given up. */
    [HISTOGRAM_TIMES] = {18,
                         {100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000,
                          500000, 1000000, 2500000, 5000000, 10000000, 30000000, 60000000}},
    [HISTOGRAM_SIZES] = {13, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}},
};

size_t histogram_bounds(enum histogram_scale scale)
{
    return scales[scale].count;
}

uint64_t histogram_bound(enum histogram_scale scale, size_t bucket)
{
    assert(bucket < scales[scale].count);
    return scales[scale].bounds[bucket];
}

void histogram_add(struct histogram *histogram, int64_t value)
{
    uint64_t added = value > 0 ? (uint64_t)value : 0;
    size_t bounds = histogram_bounds(histogram->scale), bucket = 0;
    while (bucket < bounds && added > histogram_bound(histogram->scale, bucket))
        bucket++;
    histogram->buckets[bucket < bounds ? bucket : HISTOGRAM_BOUNDS]++;
    histogram->count++;
    histogram->sum += added;
}

/* ---- peaks ---- */

enum { MINUTE_MS = 60000 };

void peak_add(struct peak *peak, int64_t now_ms, int64_t value)
{
    const int64_t minute = now_ms / MINUTE_MS;
    struct peak_slot *slot = &peak->slots[minute % PEAK_MINUTES];
    if (slot->minute != minute)
        *slot = (struct peak_slot){.minute = minute};
    if (value > slot->largest)
        slot->largest = value;
}

int64_t peak_value(const struct peak *peak, int64_t now_ms)
{
    int64_t largest = 0;
    for (size_t i = 0; i < PEAK_MINUTES; i++) {
        const struct peak_slot *slot = &peak->slots[i];
        if (now_ms / MINUTE_MS - slot->minute < PEAK_MINUTES && slot->largest > largest)
            largest = slot->largest;
    }
    return largest;
}
