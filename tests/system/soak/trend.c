/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/soak/trend.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

double trend_percentile(double *values, size_t count, unsigned percent)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, by_value);
    return values[(count - 1) * percent / 100];
}

bool trend_judge(const double *values, const double *jobs, size_t count,
                 const struct trend_rule *rule, struct trend *out)
{
    const size_t third = count / 3;
    double *sorted = count >= TREND_READINGS_MIN ? calloc(third, sizeof *sorted) : NULL;

    *out = (struct trend){0};
    if (!sorted)
        return false;
    memcpy(sorted, values, third * sizeof *sorted);
    out->first = trend_percentile(sorted, third, 50);
    const double first_high = trend_percentile(sorted, third, 75);
    memcpy(sorted, values + count - third, third * sizeof *sorted);
    out->last = trend_percentile(sorted, third, 50);
    const double last_low = trend_percentile(sorted, third, 25);
    free(sorted);
    out->jobs = jobs[count - third + third / 2] - jobs[third / 2];
    out->per_job = out->jobs > 0 ? (out->last - out->first) / out->jobs : 0;
    out->grows =
        out->last - out->first > rule->slack + rule->relative * out->first && last_low > first_high;
    return true;
}
