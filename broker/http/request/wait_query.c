/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/wait_query.h"

#include "base/duration.h"

int wait_query_read(const struct target *target, int64_t initial_ms, int64_t *wait_ms,
                    struct problem *problem)
{
    const char *text = target_query(target, "wait");
    *wait_ms = text ? duration_parse(text, DURATION_DAYS | DURATION_BARE_ZERO, WAIT_QUERY_MAX_MS)
                    : initial_ms;
    if (*wait_ms >= 0)
        return 0;
    return problem_set(problem, 422, "invalid", "wait",
                       "wait is a time with its unit, such as 500ms or 2s, of at most %d s",
                       WAIT_QUERY_MAX_MS / 1000);
}
