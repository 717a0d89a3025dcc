#include "fmapi/login/lifetime.h"

#include <assert.h>

enum {
    LEAD_MAX_MS = 3600 * 1000, /* so early that an operator can still mend the endpoint */
    RETRY_MIN_MS = 250,
    RETRY_MAX_MS = 60 * 1000,
};

int64_t lifetime_of_seconds(double seconds)
{
    if (!(seconds > 0)) /* also not a number */
        return LIFETIME_UNKNOWN;
    if (seconds >= (double)LIFETIME_MAX_MS / 1000)
        return LIFETIME_MAX_MS;
    return seconds * 1000 < LIFETIME_MIN_MS ? LIFETIME_MIN_MS : (int64_t)(seconds * 1000);
}

int64_t lifetime_renew_ms(int64_t lifetime)
{
    assert(lifetime >= LIFETIME_MIN_MS && lifetime <= LIFETIME_MAX_MS);
    int64_t lead = lifetime / 4;
    return lifetime - (lead < LEAD_MAX_MS ? lead : LEAD_MAX_MS);
}

int64_t lifetime_retry_ms(int64_t left_ms)
{
    int64_t pause = left_ms / 4;

    if (left_ms <= RETRY_MIN_MS)
        return -1;
    return pause < RETRY_MIN_MS ? RETRY_MIN_MS : pause > RETRY_MAX_MS ? RETRY_MAX_MS : pause;
}
