/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { TEXT_SIZE = 640 };

void finding(const struct diagnosis_facts *facts, enum finding_level level, const char *check,
             const char *advice, const char *format, ...)
{
    static const char *const words[] = {[OK] = "ok", [WARNING] = "warning", [PROBLEM] = "problem"};
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    writer_begin_object(facts->out, NULL);
    writer_string(facts->out, "check", check);
    writer_string(facts->out, "level", words[level]);
    writer_string(facts->out, "finding", text);
    writer_string(facts->out, "advice", level == OK ? NULL : advice);
    writer_end_object(facts->out);
}

const char *finding_duration(int64_t ms, char out[32])
{
    static const struct {
        int64_t ms;
        const char *one;
    } units[] = {{DAY_MS, "day"}, {HOUR_MS, "hour"}, {MINUTE_MS, "minute"}, {SECOND_MS, "second"}};
    size_t i = 0;
    while (i < sizeof units / sizeof units[0] - 1 && ms < 2 * units[i].ms)
        i++;
    const int64_t count = ms > 0 ? ms / units[i].ms : 0;
    snprintf(out, 32, "%" PRId64 " %s%s", count, units[i].one, count == 1 ? "" : "s");
    return out;
}
