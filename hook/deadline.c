/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/deadline.h"

#include <time.h>

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct deadline deadline_in(int64_t ms)
{
    return (struct deadline){now_ms() + ms};
}

int64_t deadline_left(const struct deadline *deadline)
{
    int64_t left = deadline->at_ms - now_ms();
    return left > 0 ? left : 0;
}

void deadline_pause(const struct deadline *deadline, int64_t ms)
{
    int64_t left = deadline_left(deadline);
    if (ms > left)
        ms = left;
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&length, NULL); /* cut short by a signal it is still long enough */
}
