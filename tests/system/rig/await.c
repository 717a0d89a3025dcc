/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/await.h"

#include <time.h>

int64_t await_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What takes long to ask, such as a program, is asked less often: other tests run meanwhile. */
static void rest(int64_t pause_ns, int64_t asking_ns)
{
    enum { LONGEST_NS = 200000000 };
    int64_t ns = asking_ns * 4 > pause_ns ? asking_ns * 4 : pause_ns;
    nanosleep(&(struct timespec){.tv_nsec = ns < LONGEST_NS ? ns : LONGEST_NS}, NULL);
}

bool await(bool (*holds)(void *arg), void *arg, int64_t deadline_ms)
{
    const int64_t end = await_now_ns() + deadline_ms * 1000000;
    int64_t pause = 500000;

    for (;;) {
        const int64_t began = await_now_ns();
        if (holds(arg))
            return true;
        const int64_t asked = await_now_ns();
        if (asked > end)
            return false;
        rest(pause, asked - began);
        if (pause < 20000000)
            pause *= 2;
    }
}
