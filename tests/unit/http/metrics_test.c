/* SPDX-License-Identifier: Apache-2.0 */
/* The text format of Prometheus, what came and went, and what the process takes (B8). */

#include <sys/resource.h>
#include <unistd.h>

#include "broker/http/metrics/exposition.h"
#include "broker/http/metrics/traffic.h"
#include "broker/http/metrics/metrics.h"
#include "tests/unit/unit.h"

static struct writer out;
static struct exposition to;

static int open_page(void **state)
{
    to = (struct exposition){.out = &out};
    return 0;
}

static int close_page(void **state)
{
    writer_release(&out);
    return 0;
}

static void assert_written(const char *text)
{
    writer_text(&out, ""); /* so that there is a buffer */
    assert_int_equal(out.used, strlen(text));
    assert_memory_equal(out.data, text, out.used);
}

#define PAGE_TEST(name) UNIT_WITH(name, open_page, close_page)

PAGE_TEST(family__has_help_and_type)
{
    exposition_family(&to, "a_total", COUNTER, "Things that happened.");
    exposition_count(&to, 18446744073709551615U, NULL);
    assert_written("# HELP a_total Things that happened.\n# TYPE a_total counter\n"
                   "a_total 18446744073709551615\n");
}

PAGE_TEST(label__is_escaped)
{
    to.name = "a";
    exposition_count(&to, 1, LABELS("x", "q\"b\\s", "y", "new\nline \303\244"));
    assert_written("a{x=\"q\\\"b\\\\s\",y=\"new?line ??\"} 1\n");
}

PAGE_TEST(time__unknown_has_no_sample)
{
    to.name = "a";
    exposition_time(&to, 0, NULL);
    assert_int_equal(out.used, 0);
    exposition_time(&to, 1795261344421, LABELS("cluster", "elcap"));
    assert_written("a{cluster=\"elcap\"} 1795261344.421\n");
}

/* Buckets add up: each holds all that is not above its bound. */
PAGE_TEST(histogram__is_cumulative_and_in_seconds)
{
    struct histogram times = {0};
    to.name = "t";
    histogram_add(&times, 50);
    histogram_add(&times, 150);
    histogram_add(&times, 70000000);
    exposition_histogram(&to, &times, LABELS("kind", "list"));
    writer_text(&out, "");
    char *text = strndup(out.data, out.used);
    assert_non_null(strstr(text, "t_bucket{kind=\"list\",le=\"0.0001\"} 1\n"));
    assert_non_null(strstr(text, "t_bucket{kind=\"list\",le=\"0.00025\"} 2\n"));
    assert_non_null(strstr(text, "t_bucket{kind=\"list\",le=\"60\"} 2\n"
                                 "t_bucket{kind=\"list\",le=\"+Inf\"} 3\n"
                                 "t_sum{kind=\"list\"} 70.000200\n"
                                 "t_count{kind=\"list\"} 3\n"));
    free(text);
}

PAGE_TEST(histogram__of_sizes_is_as_it_is)
{
    struct histogram sizes = {.scale = HISTOGRAM_SIZES};
    to.name = "s";
    histogram_add(&sizes, 4096);
    exposition_histogram(&to, &sizes, NULL);
    writer_text(&out, "");
    char *text = strndup(out.data, out.used);
    assert_non_null(strstr(text, "s_bucket{le=\"1\"} 0\n"));
    assert_non_null(strstr(text, "s_bucket{le=\"4096\"} 1\ns_bucket{le=\"+Inf\"} 1\n"
                                 "s_sum 4096.000000\ns_count 1\n"));
    free(text);
}

UNIT(answered__is_counted_by_route_and_status)
{
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
UNIT(answered__without_a_time_is_only_counted)
{
    struct traffic traffic = {0};
    traffic_answered(&traffic, &routes[6], 200, -1);
    assert_int_equal(traffic.answered[6][200 - STATUS_FIRST], 1);
    assert_int_equal(traffic.times[6].count, 0);
}

UNIT(usage__sees_descriptors_open_and_close)
{
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

UNIT(usage__is_in_bytes_and_microseconds)
{
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

UNIT_RUN(NULL, NULL)
