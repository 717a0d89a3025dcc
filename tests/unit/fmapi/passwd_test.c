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

#include "fmapi/login/loginfiles.h"

struct place {
    char folder[64];
    char file[80];
};

static int place_make(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL)
        return -1;
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/mcast-passwd-XXXXXX");
    if (mkdtemp(place->folder) == NULL)
        return -1;
    (void)snprintf(place->file, sizeof place->file, "%s/passwd", place->folder);
    *state = place;
    return 0;
}

static int place_remove(void **state)
{
    struct place *place = *state;
    (void)unlink(place->file);
    (void)rmdir(place->file);
    int code = rmdir(place->folder);
    free(place);
    return code;
}

static void put(const struct place *place, const char *bytes, size_t length, mode_t mode)
{
    FILE *file = fopen(place->file, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(place->file, mode), 0);
}

static void reads(const struct place *place, const char *text, const char *expected)
{
    char password[PASSWD_MAX + 1];
    struct error err = {0};
    put(place, text, strlen(text), 0600);
    if (passwd_read(place->folder, password, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(password, expected);
}

static void refuses(const struct place *place, int code, const char *words)
{
    char password[PASSWD_MAX + 1];
    char expected[ERROR_TEXT_SIZE];
    struct error err = {0};
    (void)snprintf(expected, sizeof expected, "%s%s", place->file, words);
    assert_int_equal(passwd_read(place->folder, password, &err), code);
    assert_memory_equal(err.text, expected, strlen(expected));
    assert_null(strstr(err.text, "fm-passw0rd"));
}

static void passwd_read__takes_one_line(void **state)
{
    reads(*state, "fm-passw0rd\n", "fm-passw0rd");
    reads(*state, "fm-passw0rd", "fm-passw0rd");
    reads(*state, "fm-passw0rd\r\n", "fm-passw0rd");
    reads(*state, " with: spaces \n", " with: spaces ");
    reads(*state, "k\xc3\xb6ln\n", "k\xc3\xb6ln");
}

static void passwd_read__refuses_odd_files(void **state)
{
    const struct place *place = *state;
    char longest[PASSWD_MAX + 2];
    memset(longest, 'x', sizeof longest);

    refuses(place, ERROR_NOT_FOUND, ": No such file or directory; it should hold");
    put(place, "", 0, 0600);
    refuses(place, ERROR_INVALID, " is empty");
    put(place, "\n\n", 2, 0600);
    refuses(place, ERROR_INVALID, " is empty");
    put(place, "fm-passw0rd\nmore\n", 17, 0600);
    refuses(place, ERROR_INVALID, " should hold one line");
    put(place, "fm\0passw0rd\n", 12, 0600);
    refuses(place, ERROR_INVALID, " should hold one line");
    put(place, longest, PASSWD_MAX + 1, 0600);
    refuses(place, ERROR_INVALID, " is longer than the 1024 bytes");
}

static void passwd_read__takes_the_longest(void **state)
{
    char longest[PASSWD_MAX + 2];
    memset(longest, 'x', PASSWD_MAX);
    longest[PASSWD_MAX] = '\n';
    longest[PASSWD_MAX + 1] = '\0';
    char password[PASSWD_MAX + 1];
    struct place *place = *state;
    put(place, longest, PASSWD_MAX + 1, 0400);
    assert_int_equal(passwd_read(place->folder, password, NULL), 0);
    assert_int_equal(strlen(password), PASSWD_MAX);
}

/* F13: credentials only the service user can read. */
static void passwd_read__refuses_what_others_can_read(void **state)
{
    struct place *place = *state;
    static const mode_t readable[] = {0644, 0640, 0604, 0664, 0777};
    static const mode_t writable[] = {0620, 0602, 0611};
    char words[160];

    (void)snprintf(words, sizeof words, " can be read by others: chmod 0600 %s", place->file);
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        put(place, "fm-passw0rd\n", 12, readable[i]);
        refuses(place, ERROR_REFUSED, words);
    }
    (void)snprintf(words, sizeof words, " can be changed by others: chmod 0600 %s", place->file);
    for (size_t i = 0; i < sizeof writable / sizeof writable[0]; i++) {
        put(place, "fm-passw0rd\n", 12, writable[i]);
        refuses(place, ERROR_REFUSED, words);
    }
}

static void passwd_read__refuses_what_is_no_file(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkdir(place->file, 0700), 0);
    refuses(place, ERROR_INVALID, " is not a regular file");
    assert_int_equal(rmdir(place->file), 0);
    assert_int_equal(mkfifo(place->file, 0600), 0);
    refuses(place, ERROR_INVALID, " is not a regular file"); /* and does not wait for a writer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(passwd_read__takes_one_line, place_make, place_remove),
        cmocka_unit_test_setup_teardown(passwd_read__refuses_odd_files, place_make, place_remove),
        cmocka_unit_test_setup_teardown(passwd_read__takes_the_longest, place_make, place_remove),
        cmocka_unit_test_setup_teardown(passwd_read__refuses_what_others_can_read, place_make,
                                        place_remove),
        cmocka_unit_test_setup_teardown(passwd_read__refuses_what_is_no_file, place_make,
                                        place_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
