#include "broker/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *formatted(const char *text)
{
    static char out[LOG_LINE_MAX];
    (void)log_format(out, sizeof out, LOG_INFO, -1, text);
    return out;
}

static void line__has_time_and_level(void **state)
{
    (void)state;
    char out[256];
    size_t length = log_format(out, sizeof out, LOG_WARNING, 1714564800250, "disk full records=3");
    assert_string_equal(out, "2024-05-01T12:00:00.250Z warning disk full records=3\n");
    assert_int_equal(length, strlen(out));
}

static void line__has_a_priority_for_the_journal(void **state)
{
    (void)state;
    char out[256];
    (void)log_format(out, sizeof out, LOG_WARNING, -1, "disk full");
    assert_string_equal(out, "<4>disk full\n");
}

/* A fabric manager's words, a job's name: none of it may forge a second line or steer a terminal.
 */
static void line__stays_one_line(void **state)
{
    (void)state;
    assert_string_equal(formatted("a\nb\r\tc\x1b[2J\x7f"), "<6>a\\x0ab\\x0d\\x09c\\x1b[2J\\x7f\n");
}

static void line__keeps_utf8_and_escapes_what_is_not(void **state)
{
    (void)state;
    assert_string_equal(formatted("gone \xe2\x86\x92 released \xc3\xa9 \xf0\x9f\x8c\x8d"),
                        "<6>gone \xe2\x86\x92 released \xc3\xa9 \xf0\x9f\x8c\x8d\n");
    assert_string_equal(formatted("\xff\xc3"), "<6>\\xff\\xc3\n"); /* no UTF-8, cut short */
    assert_string_equal(formatted("\xc0\xaf"), "<6>\\xc0\\xaf\n"); /* overlong */
    assert_string_equal(formatted("\xc2\x9b"), "<6>\\xc2\\x9b\n"); /* CSI of one byte */
    assert_string_equal(formatted("\xed\xa0\x80"), "<6>\\xed\\xa0\\x80\n"); /* surrogate */
    assert_string_equal(formatted("\xf4\x90\x80\x80"), "<6>\\xf4\\x90\\x80\\x80\n");
}

static void line__is_cut_and_says_so(void **state)
{
    (void)state;
    char text[5000], out[LOG_LINE_MAX];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    size_t length = log_format(out, sizeof out, LOG_ERR, 0, text);
    assert_true(length < sizeof out);
    assert_int_equal(length, strlen(out));
    assert_string_equal(out + length - 8, "x [cut]\n");

    memset(text, '\n', sizeof text - 1);
    length = log_format(out, sizeof out, LOG_ERR, 0, text);
    assert_true(length < sizeof out);
    assert_string_equal(out + length - 11, "\\x0a [cut]\n");
}

/* Runs log_line with standard error being a file; its content is put into out. */
static void capture(char *out, size_t size, void (*run)(void))
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int saved = dup(STDERR_FILENO);
    (void)dup2(fileno(file), STDERR_FILENO);
    run();
    (void)dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void two_levels(void)
{
    unsetenv("JOURNAL_STREAM");
    log_open();
    log_set_level(LOG_WARNING);
    log_line(LOG_INFO, "not this");
    log_line(LOG_ERR, "but this n=%d", 1);
    log_set_level(LOG_INFO);
}

static void level__decides_what_is_written(void **state)
{
    (void)state;
    char out[512];
    capture(out, sizeof out, two_levels);
    assert_null(strstr(out, "not this"));
    assert_non_null(strstr(out, "Z error but this n=1\n"));
}

static void under_the_journal(void)
{
    struct stat self;
    char stream[64];
    assert_int_equal(fstat(STDERR_FILENO, &self), 0);
    (void)snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)self.st_dev,
                   (uintmax_t)self.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    log_open();
    log_line(LOG_NOTICE, "hello");
    setenv("JOURNAL_STREAM", "1:1", 1); /* inherited, but standard error is something else */
    log_open();
    log_line(LOG_NOTICE, "hello");
    unsetenv("JOURNAL_STREAM");
    log_open();
}

static void journal__is_known_by_its_very_stream(void **state)
{
    (void)state;
    char out[512];
    capture(out, sizeof out, under_the_journal);
    assert_memory_equal(out, "<5>hello\n", 9);
    assert_non_null(strstr(out + 9, "Z notice hello\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line__has_time_and_level),
        cmocka_unit_test(line__has_a_priority_for_the_journal),
        cmocka_unit_test(line__stays_one_line),
        cmocka_unit_test(line__keeps_utf8_and_escapes_what_is_not),
        cmocka_unit_test(line__is_cut_and_says_so),
        cmocka_unit_test(level__decides_what_is_written),
        cmocka_unit_test(journal__is_known_by_its_very_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
