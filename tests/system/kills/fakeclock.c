/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/fakeclock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *library(void)
{
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
                                         "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
                                         "/usr/lib/faketime/libfaketimeMT.so.1"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], R_OK) == 0)
            return places[i];
    return NULL;
}

const char *fakeclock_lacks(void)
{
#ifdef __SANITIZE_ADDRESS__
    return "the broker is sanitized"; /* the sanitizer wants to be the first library itself */
#endif
    return library() ? NULL : "libfaketime (Debian's package of that name) is not installed";
}

void fakeclock_set(const char *offset)
{
    if (offset) {
        setenv("LD_PRELOAD", library(), 1);
        setenv("FAKETIME", offset, 1);
        setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1", 1);
    } else {
        unsetenv("LD_PRELOAD");
        unsetenv("FAKETIME");
        unsetenv("FAKETIME_DONT_FAKE_MONOTONIC");
    }
}
