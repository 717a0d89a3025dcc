/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the C library (rig/clocks.h): clocks are as many seconds off as the file
 * $TEST_CLOCKS says at this moment. */

#include "tests/system/rig/clocks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile struct clocks *clocks;

__attribute__((constructor)) static void find_clocks(void)
{
    const char *path = getenv("TEST_CLOCKS");
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *mapped =
        file < 0 ? MAP_FAILED : mmap(NULL, sizeof *clocks, PROT_READ, MAP_SHARED, file, 0);

    if (mapped == MAP_FAILED)
        abort();
    close(file);
    clocks = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    const long rc = syscall(SYS_clock_gettime, clock, out);

    if (rc == 0 && clocks && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += clocks->realtime_s;
    if (rc == 0 && clocks && clock == CLOCK_BOOTTIME)
        out->tv_sec += clocks->boottime_s;
    return (int)rc;
}

time_t time(time_t *out)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

/* Of a sanitized program, which otherwise refuses to come second. */
const char *__asan_default_options(void) /* NOLINT(readability-identifier-naming): not ours */
{
    return "verify_asan_link_order=0";
}
