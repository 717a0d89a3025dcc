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
    if (added > histogram->max)
        histogram->max = added;
}
