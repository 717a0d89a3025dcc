#include "broker/metrics/peak.h"

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
