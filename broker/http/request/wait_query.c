#include "broker/http/request/wait_query.h"

#include "broker/http/request/span.h"

int wait_query_read(const struct target *target, int64_t initial_ms, int64_t *wait_ms,
                    struct problem *problem)
{
    const char *text = target_query(target, "wait");
    *wait_ms = initial_ms;
    if (!text || span_parse(text, WAIT_QUERY_MAX_MS, wait_ms))
        return 0;
    return problem_set(problem, 422, "invalid", "wait",
                       "wait is a time with its unit, such as 500ms or 2s, of at most %d s",
                       WAIT_QUERY_MAX_MS / 1000);
}
