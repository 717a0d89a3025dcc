/* SPDX-License-Identifier: Apache-2.0 */
/* What came and went, and what the process takes (B8). */
#include "broker/http/metrics/traffic.h"
#include "broker/http/metrics/metrics.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <unistd.h>

static void answered__is_counted_by_route_and_status(void **state)
{
    (void)state;
    struct traffic traffic = {0};
    traffic_answered(&traffic, &routes[1], 202, 300);
    traffic_answered(&traffic, &routes[1], 202, 300);
    traffic_answered(&traffic, NULL, 404, 10);
    traffic_answered(&traffic, &routes[ROUTES - 1], STATUS_END - 1, 10);
    assert_int_equal(traffic.answered[1][202 - STATUS_FIRST], 2);
    assert_int_equal(traffic.answered[ROUTES][404 - STATUS_FIRST], 1);
    assert_int_equal(traffic.answered[ROUTES - 1][STATUS_END - 1 - STATUS_FIRST], 1);
    assert_int_equal(traffic.times[1].count, 2);
    assert_int_equal(traffic.times[1].sum, 600);
    assert_int_equal(traffic.times[ROUTES].count, 1);
}

/* An event stream is answered, and takes as long as its reader likes. */
static void answered__without_a_time_is_only_counted(void **state)
{
    (void)state;
    struct traffic traffic = {0};
    traffic_answered(&traffic, &routes[6], 200, -1);
    assert_int_equal(traffic.answered[6][200 - STATUS_FIRST], 1);
    assert_int_equal(traffic.times[6].count, 0);
}

/* Words are labels: two of the same would be one series twice. */
static void words__differ(void **state)
{
    (void)state;
    for (int i = 0; i < TRAFFIC_REFUSALS; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(traffic_refusal_word((enum traffic_refusal)i),
                                    traffic_refusal_word((enum traffic_refusal)j));
    assert_string_not_equal(listener_word(LISTENER_UNIX), listener_word(LISTENER_TCP));
}

static void usage__sees_descriptors_open_and_close(void **state)
{
    (void)state;
    struct usage before, open, after;
    usage_read(&before);
    int fd = dup(STDIN_FILENO), other = dup(STDIN_FILENO);
    assert_true(fd >= 0 && other >= 0);
    usage_read(&open);
    close(fd);
    close(other);
    usage_read(&after);
    assert_int_equal(open.fds, before.fds + 2);
    assert_int_equal(after.fds, before.fds);
}

static void usage__is_in_bytes_and_microseconds(void **state)
{
    (void)state;
    struct usage usage;
    struct rusage used;
    struct rlimit limit;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    usage_read(&usage);
    assert_true(usage.cpu_us >=
                (uint64_t)used.ru_utime.tv_sec * 1000000 + (uint64_t)used.ru_utime.tv_usec);
    assert_true(usage.resident_bytes > 100000 && usage.resident_bytes <= usage.virtual_bytes);
    assert_int_equal(usage.fds_max, limit.rlim_cur);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answered__is_counted_by_route_and_status),
        cmocka_unit_test(answered__without_a_time_is_only_counted),
        cmocka_unit_test(words__differ),
        cmocka_unit_test(usage__sees_descriptors_open_and_close),
        cmocka_unit_test(usage__is_in_bytes_and_microseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
