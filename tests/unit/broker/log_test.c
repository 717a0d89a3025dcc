/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "broker/log/log.h"
#include "tests/unit/broker/datagrams.h"

#include <sys/socket.h>
#include <unistd.h>

static const char *formatted(const char *text)
{
    static char out[LOG_LINE_MAX];
    (void)log_format(out, sizeof out, LOG_INFO, -1, text);
    return out;
}

UNIT(line__has_time_and_level)
{
    char out[256];
    size_t length = log_format(out, sizeof out, LOG_WARNING, 1714564800250, "disk full records=3");
    assert_string_equal(out, "2024-05-01T12:00:00.250Z warning disk full records=3\n");
    assert_int_equal(length, strlen(out));
}

UNIT(line__has_a_priority_for_the_journal)
{
    char out[256];
    (void)log_format(out, sizeof out, LOG_WARNING, -1, "disk full");
    assert_string_equal(out, "<4>disk full\n");
}

/* A fabric manager's words, a job's name: none of it may forge a second line or steer a terminal.
 */
UNIT(line__stays_one_line)
{
    assert_string_equal(formatted("a\nb\r\tc\x1b[2J\x7f"), "<6>a\\x0ab\\x0d\\x09c\\x1b[2J\\x7f\n");
}

UNIT(line__keeps_utf8_and_escapes_what_is_not)
{
    assert_string_equal(formatted("gone \xe2\x86\x92 released \xc3\xa9 \xf0\x9f\x8c\x8d"),
                        "<6>gone \xe2\x86\x92 released \xc3\xa9 \xf0\x9f\x8c\x8d\n");
    assert_string_equal(formatted("\xff\xc3"), "<6>\\xff\\xc3\n"); /* no UTF-8, cut short */
    assert_string_equal(formatted("\xc0\xaf"), "<6>\\xc0\\xaf\n"); /* overlong */
    assert_string_equal(formatted("\xc2\x9b"), "<6>\\xc2\\x9b\n"); /* CSI of one byte */
    assert_string_equal(formatted("\xed\xa0\x80"), "<6>\\xed\\xa0\\x80\n"); /* surrogate */
    assert_string_equal(formatted("\xf4\x90\x80\x80"), "<6>\\xf4\\x90\\x80\\x80\n");
}

UNIT(line__is_cut_and_says_so)
{
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
    log_open(LOG_JOURNAL_SOCKET);
    log_set_level(LOG_WARNING);
    log_line(LOG_INFO, "not this");
    log_line(LOG_ERR, "but this n=%d", 1);
    log_set_level(LOG_INFO);
}

UNIT(level__decides_what_is_written)
{
    char out[512];
    capture(out, sizeof out, two_levels);
    assert_null(strstr(out, "not this"));
    assert_non_null(strstr(out, "Z error but this n=1\n"));
}

static void under_the_journal(void)
{
    strcpy(datagrams_path, "/nonexistent/socket");
    datagrams_become_journal();
    log_line(LOG_NOTICE, "hello");
    setenv("JOURNAL_STREAM", "1:1", 1); /* inherited, but standard error is something else */
    log_open("/nonexistent/socket");
    log_line(LOG_NOTICE, "hello");
    unsetenv("JOURNAL_STREAM");
    log_open("/nonexistent/socket");
}

UNIT(journal__is_known_by_its_very_stream)
{
    char out[512];
    capture(out, sizeof out, under_the_journal);
    assert_memory_equal(out, "<5>hello\n", 9);
    assert_non_null(strstr(out + 9, "Z notice hello\n"));
}

/* ---- the journal's own protocol ---- */

static void two_messages(void)
{
    datagrams_become_journal();
    log_line(LOG_WARNING, "disk full n=%d", 3);
    log_text(LOG_INFO,
             &(struct log_fields){
                 .event = "lost", .cluster = "elcap", .job = "f1\nPRIORITY=0", .vni = 1024},
             NULL, "elcap/f1: lost");
}

#define JOURNAL_TEST(name) UNIT_WITH(name, datagrams_open, datagrams_close)

/* Nothing that a client says can forge a field, or a second message. */
JOURNAL_TEST(journal__gets_fields)
{
    char out[512];
    capture(out, sizeof out, two_messages);
    assert_string_equal(out, "");
    assert_string_equal(datagrams_next(),
                        "MESSAGE=disk full n=3\nPRIORITY=4\nSYSLOG_IDENTIFIER=mcastd\n");
    assert_string_equal(datagrams_next(),
                        "MESSAGE=elcap/f1: lost\nPRIORITY=6\nSYSLOG_IDENTIFIER=mcastd\n"
                        "MCASTD_EVENT=lost\nMCASTD_CLUSTER=elcap\n"
                        "MCASTD_JOB=f1\\x0aPRIORITY=0\nMCASTD_VNI=1024\n");
    assert_string_equal(datagrams_next(), "");
}

static void a_long_message(void)
{
    char text[5000];
    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    datagrams_become_journal();
    log_line(LOG_ERR, "%s", text);
}

JOURNAL_TEST(journal__gets_long_messages_cut)
{
    char out[512];
    capture(out, sizeof out, a_long_message);
    const char *message = datagrams_next();
    assert_memory_equal(message, "MESSAGE=\\x0a\\x0a", 16);
    assert_non_null(strstr(message, " [cut]\nPRIORITY=3\nSYSLOG_IDENTIFIER=mcastd\n"));
}

static void one_message(void)
{
    datagrams_become_journal();
    (void)unlink(datagrams_path); /* the journal is away */
    log_line(LOG_NOTICE, "hello");
}

JOURNAL_TEST(journal_that_is_away__is_told_on_stderr)
{
    char out[512];
    capture(out, sizeof out, one_message);
    assert_string_equal(out, "<5>hello\n");
}

enum { FLOOD = 3000 };

static void a_flood(void)
{
    datagrams_become_journal();
    for (int i = 0; i < FLOOD; i++)
        log_text(LOG_INFO, NULL, NULL, "a message of a flood without limit");
}

/* It never waits: the queue of the journal's socket is short (net.unix.max_dgram_qlen). */
JOURNAL_TEST(journal_that_is_busy__is_not_waited_for)
{
    char out[512];
    unsigned taken = 0, lost = 0;
    capture(out, sizeof out, a_flood);
    assert_string_equal(out, "");
    while (*datagrams_next() != '\0')
        taken++;
    assert_in_range(taken, 1, FLOOD - 1);
    log_settle();
    assert_int_equal(
        sscanf(datagrams_next(), "MESSAGE=the journal was too busy for %u lines", &lost), 1);
    assert_int_equal(taken + lost, FLOOD);
    log_settle();
    assert_string_equal(datagrams_next(), "");
}

/* ---- floods ---- */

static void a_flood_and_one_more(void)
{
    unsetenv("JOURNAL_STREAM");
    log_open(LOG_JOURNAL_SOCKET);
    log_set_level(LOG_DEBUG);
    for (int i = 0; i < 1000; i++) {
        log_line(LOG_WARNING, "flood %d", i);
        log_line(LOG_DEBUG, "detail %d", i);
    }
    log_line(LOG_ERR, "this happens once");
    log_set_level(LOG_INFO);
}

static unsigned count(const char *text, const char *words)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        n++;
    return n;
}

UNIT(flood__is_cut_but_for_debug)
{
    static char out[256 * 1024];
    capture(out, sizeof out, a_flood_and_one_more);
    assert_in_range(count(out, " warning flood "), 100, 500);
    assert_int_equal(count(out, " debug detail "), 1000);
    assert_int_equal(count(out, "this happens once"), 1);
}

UNIT(levels__have_words)
{
    for (int level = LOG_ERR; level <= LOG_DEBUG; level++)
        assert_int_equal(log_level_of(log_level_word(level)), level);
    assert_int_equal(log_level_of("loud"), -1);
}

UNIT_RUN(NULL, NULL)
