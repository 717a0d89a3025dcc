/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/verdict.h"

#include <stdarg.h>
#include <stdio.h>

enum { FAULTS_PRINTED = 20 };

void verdict_fault(struct verdict *verdict, const char *format, ...)
{
    va_list args;

    if (verdict->faults++ >= FAULTS_PRINTED)
        return;
    fprintf(stderr, "FAULT (seed %llu, round %u, %s): ", (unsigned long long)verdict->seed,
            verdict->round, verdict->plannedkill ? verdict->plannedkill : "before any kill");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}
