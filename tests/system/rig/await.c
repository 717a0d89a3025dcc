/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/await.h"

#include <time.h>

int64_t await_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool await(bool (*holds)(void *arg), void *arg, int64_t deadline_ms)
{
    const int64_t end = await_now_ns() + deadline_ms * 1000000;
    struct timespec pause = {.tv_nsec = 500000};

    for (;;) {
        if (holds(arg))
            return true;
        if (await_now_ns() > end)
            return false;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000)
            pause.tv_nsec *= 2;
    }
}
