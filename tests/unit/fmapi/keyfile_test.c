/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fmapi/wire/keyfile.h"

/* Lines and odd files are tested with passwd, which is one. */

static char folder[64], file[80];

static int place_make(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/mcast-keyfile-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(file, sizeof file, "%s/key", folder);
    return 0;
}

static int place_remove(void **state)
{
    (void)state;
    (void)unlink(file);
    return rmdir(folder);
}

static void put(const char *bytes, size_t length, mode_t mode)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(file, mode), 0);
}

static struct keyfile kind_of(enum keyfile_guard guard)
{
    return (struct keyfile){.holds = "the thing", .guard = guard, .max = 32};
}

/* F13: what each guard lets pass. */
static void keyfile__guards(void **state)
{
    (void)state;
    static const struct {
        mode_t mode;
        bool trusted, secret;
    } cases[] = {
        {0400, true, true},   {0600, true, true},   {0700, true, true},   {0644, true, false},
        {0640, true, false},  {0604, true, false},  {0755, true, false},  {0660, false, false},
        {0602, false, false}, {0620, false, false}, {0666, false, false}, {0777, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int guard = KEYFILE_PUBLIC; guard <= KEYFILE_SECRET; guard++) {
            struct keyfile kind = kind_of((enum keyfile_guard)guard);
            struct secret line;
            bool allowed = guard == KEYFILE_PUBLIC    ? true
                           : guard == KEYFILE_TRUSTED ? cases[i].trusted
                                                      : cases[i].secret;
            put("line\n", 5, cases[i].mode);
            assert_int_equal(keyfile_line(file, &kind, &line, NULL), allowed ? 0 : ERROR_REFUSED);
            assert_int_equal(secret_none(line), !allowed);
            secret_wipe(&line);
        }
    }
}

/* Only root can make a file of another user. */
static void keyfile__refuses_another_users_file(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    struct keyfile kind = kind_of(KEYFILE_TRUSTED);
    struct secret line;
    struct error err = {0};
    char words[160];
    put("line\n", 5, 0600);
    assert_int_equal(chown(file, 4711, (gid_t)-1), 0);
    assert_int_equal(keyfile_line(file, &kind, &line, &err), ERROR_REFUSED);
    (void)snprintf(words, sizeof words, "%s belongs to user 4711: chown it to user 0", file);
    assert_string_equal(err.text, words);
    kind.guard = KEYFILE_PUBLIC;
    assert_int_equal(keyfile_line(file, &kind, &line, &err), 0);
    secret_wipe(&line);
}

static void keyfile_text__keeps_every_line(void **state)
{
    (void)state;
    struct keyfile kind = kind_of(KEYFILE_SECRET);
    struct secret text;
    put("one\r\n\ttwo\n\n", 11, 0600);
    assert_int_equal(keyfile_text(file, &kind, &text, NULL), 0);
    assert_string_equal(secret_expose(text), "one\r\n\ttwo\n\n");
    secret_wipe(&text);
}

static void keyfile_text__is_bounded(void **state)
{
    (void)state;
    struct keyfile kind = kind_of(KEYFILE_SECRET);
    struct secret text;
    struct error err = {0};
    char bytes[36];
    memset(bytes, 'x', sizeof bytes);
    put(bytes, 32, 0600);
    assert_int_equal(keyfile_text(file, &kind, &text, NULL), 0);
    assert_int_equal(strlen(secret_expose(text)), 32);
    secret_wipe(&text);
    for (size_t length = 33; length <= 36; length++) {
        put(bytes, length, 0600);
        assert_int_equal(keyfile_text(file, &kind, &text, &err), ERROR_INVALID);
        assert_non_null(strstr(err.text, " is longer than the 32 bytes that the thing may have"));
    }
    put("", 0, 0600);
    assert_int_equal(keyfile_text(file, &kind, &text, &err), ERROR_INVALID);
    assert_non_null(strstr(err.text, " is empty: write the thing into it"));
    put("a\0b", 3, 0600);
    assert_int_equal(keyfile_text(file, &kind, &text, &err), ERROR_INVALID);
    assert_true(secret_none(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keyfile__guards, place_make, place_remove),
        cmocka_unit_test_setup_teardown(keyfile__refuses_another_users_file, place_make,
                                        place_remove),
        cmocka_unit_test_setup_teardown(keyfile_text__keeps_every_line, place_make, place_remove),
        cmocka_unit_test_setup_teardown(keyfile_text__is_bounded, place_make, place_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
