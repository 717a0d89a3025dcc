/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps there are, and which lie below which (F19, I6). */

#include "tests/unit/unit.h"

#include "base/steppath.h"

UNIT(step__of_flux_and_slurm_is_one)
{
    static const char *const good[] = {"0",        "batch",  "1234.0",        "extern",
                                       "/fA",      "/fA/fB", "/f2Rs8/fLxs/0", "a:b@c+d-e_f.g",
                                       "/.../..a", "/a./.b", "...",           "-"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct error err = {0};
        if (steppath_check(good[i], &err) != 0)
            fail_msg("%s: %s", good[i], err.text);
        assert_true(steppath_valid(good[i]));
    }
}

UNIT(step__that_is_none_is_refused_in_words)
{
    static const struct {
        const char *step, *words;
    } bad[] = {
        {"", "the step is empty"},
        {"/", "is empty: no //"},
        {"//", "is empty: no //"},
        {"//fA", "is empty: no //"},
        {"/fA//fB", "is empty: no //"},
        {"/fA/", "is empty: no //"},
        {"0/", "several parts"},
        {"fA/fB", "several parts"},
        {".", ". or .."},
        {"..", ". or .."},
        {"/..", ". or .."},
        {"/fA/..", ". or .."},
        {"/fA/../fB", ". or .."},
        {"/fA/./fB", ". or .."},
        {"/fA/%2e%2e/fB", "byte 0x25"},
        {"/fA%2ffB", "byte 0x25"},
        {"/fA\\fB", "byte 0x5c"},
        {"/fA\"", "byte 0x22"},
        {"/fA'", "byte 0x27"},
        {"/fA fB", "byte 0x20"},
        {"/fA\n", "byte 0x0a"},
        {"/fA\x7f", "byte 0x7f"},
        {"/\xc6\x92"
         "A",
         "byte 0xc6"}, /* ƒ, which callers write as f */
        {"/\xca\x84"
         "A",
         "byte 0xca"}, /* ʄ */
        {"/\xd1\x84"
         "A",
         "byte 0xd1"}, /* ф */
        {"/\xef\xbd\x86"
         "A",
         "byte 0xef"}, /* ｆ */
        {"/fA\xe2\x88\x95"
         "fB",
         "byte 0xe2"},                /* ∕, a division sign */
        {"/fA\xc0\xaf", "byte 0xc0"}, /* an overlong slash */
        {"/fA?x", "byte 0x3f"},
        {"/fA#x", "byte 0x23"},
        {"/fA*", "byte 0x2a"},
        {"/fA,fB", "byte 0x2c"},
        {"/fA;", "byte 0x3b"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        assert_int_equal(steppath_check(bad[i].step, &err), ERROR_INVALID);
        assert_int_equal(err.code, ERROR_INVALID);
        if (!strstr(err.text, bad[i].words))
            fail_msg("%s: %s", bad[i].step, err.text);
        for (const char *c = err.text; *c != '\0'; c++)
            assert_true(*c >= ' ' && *c < 0x7f);
        assert_false(steppath_valid(bad[i].step));
    }
}

/* Of the 256 bytes exactly these may stand in a part. */
UNIT(step__has_no_other_bytes)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._:@+-";
    for (int byte = 1; byte < 256; byte++) {
        const char alone[] = {'x', (char)byte, 'x', '\0'};
        const char path[] = {'/', 'x', (char)byte, 'x', '\0'};
        bool expected = strchr(allowed, byte);
        assert_int_equal(steppath_valid(alone), expected);
        assert_int_equal(steppath_valid(path), expected || byte == '/');
    }
}

UNIT(step__has_512_bytes_at_most)
{
    char step[STEP_ID_MAX + 2] = "/";
    memset(step + 1, 'a', STEP_ID_MAX - 1);
    step[STEP_ID_MAX] = '\0';
    assert_true(steppath_valid(step));
    assert_true(steppath_within(step, step));
    step[STEP_ID_MAX] = 'a';
    step[STEP_ID_MAX + 1] = '\0';
    assert_false(steppath_valid(step));
    assert_false(steppath_within(step, step));
    assert_false(steppath_within(step, "/a"));
}

UNIT(within__whole_parts_count)
{
    static const struct {
        const char *step, *scope;
        bool within;
    } cases[] = {
        {"/fA", "/fA", true},
        {"/fA/fB", "/fA", true},
        {"/fA/fB/fC", "/fA", true},
        {"/fA/fB/fC", "/fA/fB", true},
        {"/fA/fB/0", "/fA/fB", true},
        {"/fA", "/fA/fB", false},     /* above */
        {"/fAx", "/fA", false},       /* begins like it */
        {"/fA/fBx", "/fA/fB", false}, /* the same, below */
        {"/fA.0", "/fA", false},
        {"/fA-x/fB", "/fA", false},
        {"/fB", "/fA", false},
        {"/fa", "/fA", false}, /* case counts */
        {"0", "0", true},
        {"batch", "batch", true},
        {"0", "1", false},
        {"10", "1", false},
        {"1234.0", "1234", false}, /* a point is no slash */
        {"1234", "1234.0", false},
        {"fA", "/fA", false}, /* a part alone is no path */
        {"/fA", "fA", false},
        {"/fA/fB", "fB", false},
        /* What is no step is nowhere, even where it looks so. */
        {"/fA/../fB", "/fA", false},
        {"/fA/..", "/fA", false},
        {"/fA//fB", "/fA", false},
        {"/fA/", "/fA", false},
        {"/fA/%2e%2e/fB", "/fA", false},
        {"/fA/fB", "/fA/", false},
        {"/fA", "/", false},
        {"/fA", "", false},
        {"", "", false},
        {"", "/fA", false},
        {"..", "..", false},
        {"0/1", "0", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (steppath_within(cases[i].step, cases[i].scope) != cases[i].within)
            fail_msg("%s within %s", cases[i].step, cases[i].scope);
}

/* -- every text there is -- */

enum { LETTERS = 5, LONGEST = 5, TEXTS = 1 + 5 + 25 + 125 + 625 + 3125, PARTS_MAX = 8 };

/* The definition by the letter, in another way: split, then look at each part. Returns the number
 * of parts, a path's first one being the empty text before its slash; 0: no step. */
static int split(const char *text, char parts[PARTS_MAX][LONGEST + 1])
{
    int count = 0;
    for (;;) {
        size_t length = strcspn(text, "/");
        memcpy(parts[count], text, length);
        parts[count][length] = '\0';
        bool first_of_path = count == 0 && length == 0 && text[0] == '/';
        if (!first_of_path && (length == 0 || strchr(parts[count], '%') ||
                               strcmp(parts[count], ".") == 0 || strcmp(parts[count], "..") == 0))
            return 0;
        count++;
        text += length;
        if (*text == '\0')
            return count == 1 || parts[0][0] == '\0' ? count : 0;
        text++;
    }
}

static bool split_within(const char *step, const char *scope)
{
    char below[PARTS_MAX][LONGEST + 1], above[PARTS_MAX][LONGEST + 1];
    int deep = split(step, below), high = split(scope, above);
    for (int i = 0; i < high; i++)
        if (i >= deep || strcmp(below[i], above[i]) != 0)
            return false;
    return deep > 0 && high > 0;
}

static void write_text(unsigned number, char text[LONGEST + 1])
{
    static const char letters[] = "a/.%b";
    unsigned length = 0, first = 0;
    for (unsigned count = 1; number >= first + count; count *= LETTERS, length++)
        first += count;
    number -= first;
    for (unsigned i = 0; i < length; i++, number /= LETTERS)
        text[i] = letters[number % LETTERS];
    text[length] = '\0';
}

UNIT(within__is_what_splitting_says_for_every_short_text)
{
    static char texts[TEXTS][LONGEST + 1];
    unsigned steps = 0, inside = 0;
    for (unsigned i = 0; i < TEXTS; i++) {
        char parts[PARTS_MAX][LONGEST + 1];
        write_text(i, texts[i]);
        bool valid = split(texts[i], parts) > 0;
        steps += valid;
        if (steppath_valid(texts[i]) != valid)
            fail_msg("\"%s\"", texts[i]);
    }
    for (unsigned i = 0; i < TEXTS; i++) {
        for (unsigned k = 0; k < TEXTS; k++) {
            bool within = steppath_within(texts[i], texts[k]);
            inside += within;
            if (within != split_within(texts[i], texts[k]))
                fail_msg("\"%s\" within \"%s\"", texts[i], texts[k]);
        }
    }
    assert_in_range(steps, 100, TEXTS / 2); /* both kinds were there */
    assert_in_range(inside, steps + 1, steps * 5);
}

/* An order: what lies below what lies below lies below. And a tree: what two scopes share, one of
 * them holds; so of several restrictions only the deepest counts. */
UNIT(within__is_a_tree)
{
    static const char *const steps[] = {"/a",     "/a/b",   "/a/b/c", "/a/b/c/d", "/a/bb", "/ab",
                                        "/a/c",   "/a/c/b", "a",      "b",        "/b",    "/b/a",
                                        "/b/a/b", "/a/b/b", "a.b",    "/a.b"};
    enum { COUNT = sizeof steps / sizeof *steps };
    for (int i = 0; i < COUNT; i++) {
        assert_true(steppath_within(steps[i], steps[i]));
        for (int j = 0; j < COUNT; j++) {
            bool low = steppath_within(steps[i], steps[j]);
            if (i != j && low)
                assert_false(steppath_within(steps[j], steps[i]));
            for (int k = 0; k < COUNT; k++) {
                if (low && steppath_within(steps[j], steps[k]))
                    assert_true(steppath_within(steps[i], steps[k]));
                if (low && steppath_within(steps[i], steps[k]))
                    assert_true(steppath_within(steps[j], steps[k]) ||
                                steppath_within(steps[k], steps[j]));
            }
        }
    }
}

UNIT_RUN(NULL, NULL)
