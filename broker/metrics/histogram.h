/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Counts how often something took how long, or was how large, in buckets with fixed bounds: what
 * Prometheus computes quantiles from (B8). Adding costs a few comparisons and never fails. */

enum histogram_scale {
    HISTOGRAM_TIMES, /* values in microseconds; bounds from 100 µs to a minute */
    HISTOGRAM_SIZES, /* values are numbers of things; bounds from 1 to 4096 */
};

enum { HISTOGRAM_BOUNDS = 18 };

/* All zero is a valid, empty one of times; an empty one of sizes is {.scale = HISTOGRAM_SIZES}. */
struct histogram {
    enum histogram_scale scale;
    uint64_t count, sum;                    /* sum of the values */
    uint64_t buckets[HISTOGRAM_BOUNDS + 1]; /* each value in one only; the last: above all bounds */
};

/* A negative value counts as 0: clocks can step back. */
void histogram_add(struct histogram *histogram, int64_t value);

/* How many bounds the scale has, at most HISTOGRAM_BOUNDS, and the bound of a bucket: values up to
 * and with it are in this bucket or one before. */
size_t histogram_bounds(enum histogram_scale scale);
uint64_t histogram_bound(enum histogram_scale scale, size_t bucket);

/* The largest value of the last five minutes: a worst case that one bad moment at the start does
 * not hide for ever, and that no scraper takes away from another (B8). */

enum { PEAK_MINUTES = 5 };

/* All zero is a valid, empty one. */
struct peak {
    struct peak_slot {
        int64_t minute; /* counted from the clock's zero */
        int64_t largest;
    } slots[PEAK_MINUTES]; /* by minute % PEAK_MINUTES */
};

/* now_ms: any clock that does not run backwards and starts at or above 0. */
void peak_add(struct peak *peak, int64_t now_ms, int64_t value);

/* Largest value of this minute and the four before; 0: none. */
int64_t peak_value(const struct peak *peak, int64_t now_ms);
