/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/sample.h"

#include <stdlib.h>
#include <string.h>

void sample_add(struct sample *sample, double value)
{
    size_t at = sample->count;

    if (at == SAMPLE_MAX) {
        if (value > sample->values[at - 1])
            sample->values[at - 1] = value;
        else if (value < sample->values[0])
            sample->values[0] = value;
        return;
    }
    while (at > 0 && sample->values[at - 1] > value) {
        sample->values[at] = sample->values[at - 1];
        at--;
    }
    sample->values[at] = value;
    sample->count++;
}

double sample_median(const struct sample *sample)
{
    const size_t half = sample->count / 2;

    if (sample->count == 0)
        return 0;
    return sample->count % 2 ? sample->values[half]
                             : (sample->values[half - 1] + sample->values[half]) / 2;
}

double sample_least(const struct sample *sample)
{
    return sample->count ? sample->values[0] : 0;
}

double sample_most(const struct sample *sample)
{
    return sample->count ? sample->values[sample->count - 1] : 0;
}

static int by_size(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

void sample_sort(int64_t *times, size_t count)
{
    qsort(times, count, sizeof *times, by_size);
}
