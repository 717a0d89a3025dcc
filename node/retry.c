/* SPDX-License-Identifier: Apache-2.0 */
#include "node/retry.h"

#include <errno.h>
#include <time.h>

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        continue;
}

const struct retry_clock retry_real = {now_ms, wait_ms};

void retry_begin(struct retry *retry, const struct retry_clock *clock, int64_t budget_ms)
{
    retry->clock = clock;
    retry->end_ms = clock->now_ms() + budget_ms;
    retry->pause_ms = RETRY_FIRST_MS;
}

int64_t retry_left_ms(const struct retry *retry)
{
    return retry->end_ms - retry->clock->now_ms();
}

bool retry_pause(struct retry *retry)
{
    const struct retry_clock *clock = retry->clock;
    int64_t left = retry_left_ms(retry);
    if (left <= 0)
        return false;
    clock->wait_ms(left < retry->pause_ms ? left : retry->pause_ms);
    retry->pause_ms *= 2;
    if (retry->pause_ms > RETRY_LONGEST_MS)
        retry->pause_ms = RETRY_LONGEST_MS;
    return true;
}
