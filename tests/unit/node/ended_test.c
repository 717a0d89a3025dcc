/* SPDX-License-Identifier: Apache-2.0 */
/* What has ended on the node is remembered for as long as a launch document of it can be good, also
 * when the time of day is set meanwhile (S5, I1). */

#include "node/record/launched.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <time.h>

static char folder[64];
static struct statedir dir;

static int set_up(void **state)
{
    struct error err;
    char path[80];
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/node_ended_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/spool", folder);
    return statedir_open(&dir, path, true, &err);
}

static int tear_down(void **state)
{
    char command[96];
    (void)state;
    statedir_close(&dir);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct claim example(uint64_t number, int64_t until_s)
{
    return (struct claim){.cluster = "elcap", .number = number, .launched_until_s = until_s};
}

/* Whether the number is remembered when the file has this and one more has ended. */
static bool is_kept(const char *text, uint64_t number)
{
    const struct claim other = example(4712, (int64_t)time(NULL) + 600);
    const struct claim claim = example(number, 0);
    assert_int_equal(statedir_write(&dir, "ended", text, NULL), 0);
    assert_int_equal(ended_add(&dir, &other, NULL), 0);
    assert_true(ended_has(&dir, &other));
    return ended_has(&dir, &claim);
}

UNIT_WITH(ended__is_forgotten_when_both_clocks_say_so, set_up, tear_down)
{
    char text[128];
    const int64_t now_s = (int64_t)time(NULL), boot_s = note_clock_ms() / 1000;
    struct error err;
    const struct {
        int64_t until_s, boot_until_s; /* from now; 0: of an older release */
        bool kept;
    } cases[] = {{600, 600, true},
                 {-600, 600, true},                       /* set forward since */
                 {600, -600, true},                       /* and back */
                 {-600, LAUNCHED_LONGEST_S + 600, false}, /* of a boot before */
                 {-600, -600, false},
                 {600, 0, true},
                 {-600, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int length = snprintf(text, sizeof text, "number 4711 %" PRId64, now_s + cases[i].until_s);
        if (cases[i].boot_until_s)
            length += snprintf(text + length, sizeof text - (size_t)length, " +%" PRId64,
                               boot_s + cases[i].boot_until_s);
        snprintf(text + length, sizeof text - (size_t)length, "\n");
        assert_int_equal(is_kept(text, 4711), cases[i].kept);
    }
    /* A job of any name, too, and what is cut off is none. */
    assert_int_equal(statedir_write(&dir, "ended", "", &err), 0);
    assert_int_equal(ended_add_job(&dir, NULL, "+1", &err), 0);
    assert_false(is_kept("number 4711 99999999999 +99", 4711));
}

/* A job that ends while the time of day is wrong: the document may be good when it is right. */
UNIT_WITH(ended__by_a_wrong_clock_counts_for_the_longest, set_up, tear_down)
{
    const int64_t wrong_s[] = {-600, 30 * 86400};
    const int64_t now_s = (int64_t)time(NULL);
    for (size_t i = 0; i < sizeof wrong_s / sizeof wrong_s[0]; i++) {
        const struct claim claim = example(4711, now_s + wrong_s[i]);
        const int64_t before_s = note_clock_ms() / 1000;
        char *text = NULL, *plus;
        assert_int_equal(statedir_write(&dir, "ended", "", NULL), 0);
        assert_int_equal(ended_add(&dir, &claim, NULL), 0);
        const int64_t after_s = note_clock_ms() / 1000;
        assert_int_equal(statedir_read(&dir, "ended", &text, NULL), 0);
        assert_non_null(plus = strchr(text, '+'));
        assert_in_range(strtoll(plus, NULL, 10), before_s + LAUNCHED_LONGEST_S,
                        after_s + LAUNCHED_LONGEST_S);
        free(text);
    }
}

UNIT_RUN(NULL, NULL)
