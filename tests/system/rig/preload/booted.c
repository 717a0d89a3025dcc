/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the C library (rig/boottime.h): the machine was booted at $TEST_BOOTED. */

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *out)
{
    const char *booted = clock == CLOCK_BOOTTIME ? getenv("TEST_BOOTED") : NULL;
    const long rc = syscall(SYS_clock_gettime, booted ? CLOCK_REALTIME : clock, out);
    if (rc == 0 && booted)
        out->tv_sec -= strtol(booted, NULL, 10);
    return (int)rc;
}

/* Of a sanitized program, which otherwise refuses to come second. */
const char *__asan_default_options(void) /* NOLINT(readability-identifier-naming): not ours */
{
    return "verify_asan_link_order=0";
}
