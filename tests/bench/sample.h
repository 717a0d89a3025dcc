/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What several repetitions gave: the middle and the extremes, never the mean. */

enum { SAMPLE_MAX = 64 };

struct sample {
    double values[SAMPLE_MAX];
    size_t count;
};

/* Of repetitions above SAMPLE_MAX only the extremes are kept. */
void sample_add(struct sample *sample, double value);
double sample_median(const struct sample *sample); /* 0 when empty */
double sample_least(const struct sample *sample);
double sample_most(const struct sample *sample);

/* Times of many, ascending. */
void sample_sort(int64_t *times, size_t count);
