/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/metrics/histogram.h"

#include <assert.h>

/* Fine where a commit or a request of a healthy broker lies, coarse up to where calls of the fabric
 * manager are given up. */
static const uint64_t times[] = {100,     250,     500,     1000,     2500,     5000,
                                 10000,   25000,   50000,   100000,   250000,   500000,
                                 1000000, 2500000, 5000000, 10000000, 30000000, 60000000};
static const uint64_t sizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};

static_assert(sizeof times / sizeof *times == HISTOGRAM_BOUNDS, "one bucket a bound");
static_assert(sizeof sizes / sizeof *sizes <= HISTOGRAM_BOUNDS, "no scale has more bounds");

size_t histogram_bounds(enum histogram_scale scale)
{
    return scale == HISTOGRAM_TIMES ? sizeof times / sizeof *times : sizeof sizes / sizeof *sizes;
}

uint64_t histogram_bound(enum histogram_scale scale, size_t bucket)
{
    assert(bucket < histogram_bounds(scale));
    return scale == HISTOGRAM_TIMES ? times[bucket] : sizes[bucket];
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

static int64_t oldest_kept(int64_t now_ms)
{
    return now_ms / MINUTE_MS - (PEAK_MINUTES - 1);
}

void peak_add(struct peak *peak, int64_t now_ms, int64_t value)
{
    int64_t minute = now_ms / MINUTE_MS;
    int64_t stale = minute - peak->minute;
    for (int64_t i = 0; i < stale && i < PEAK_MINUTES; i++)
        peak->values[(minute - i) % PEAK_MINUTES] = 0; /* i < stale ≤ minute */
    if (stale > 0)
        peak->minute = minute;
    int64_t *slot = &peak->values[peak->minute % PEAK_MINUTES];
    if (value > *slot)
        *slot = value;
}

int64_t peak_value(const struct peak *peak, int64_t now_ms)
{
    int64_t largest = 0;
    for (int64_t age = 0; age < PEAK_MINUTES; age++) {
        int64_t minute = peak->minute - age;
        if (minute < 0 || minute < oldest_kept(now_ms))
            break;
        if (peak->values[minute % PEAK_MINUTES] > largest)
            largest = peak->values[minute % PEAK_MINUTES];
    }
    return largest;
}
