/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "trust/keyfile.h"

static char folder[64], file[80];

static int place_make(void **state)
{
    (void)snprintf(folder, sizeof folder, "/tmp/mcast-keyfile-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(file, sizeof file, "%s/key", folder);
    return 0;
}

static int place_remove(void **state)
{
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
    return (struct keyfile){.holds = "the thing", .guard = guard, .max = 32, .line = true};
}

#define IN_FOLDER(test) UNIT_WITH(test, place_make, place_remove)

/* F13: what each guard lets pass. */
IN_FOLDER(keyfile__guards)
{
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
            assert_int_equal(keyfile_text(file, &kind, &line, NULL), allowed ? 0 : ERROR_REFUSED);
            assert_int_equal(secret_none(line), !allowed);
            secret_wipe(&line);
        }
    }
}

/* Only root can make a file of another user. */
IN_FOLDER(keyfile__refuses_another_users_file)
{
    if (geteuid() != 0)
        skip();
    struct keyfile kind = kind_of(KEYFILE_TRUSTED);
    struct secret line;
    struct error err = {0};
    char words[160];
    put("line\n", 5, 0600);
    assert_int_equal(chown(file, 4711, (gid_t)-1), 0);
    assert_int_equal(keyfile_text(file, &kind, &line, &err), ERROR_REFUSED);
    (void)snprintf(words, sizeof words, "%s belongs to user 4711: chown it to user 0", file);
    assert_string_equal(err.text, words);
    kind.guard = KEYFILE_PUBLIC;
    assert_int_equal(keyfile_text(file, &kind, &line, &err), 0);
    secret_wipe(&line);
}

IN_FOLDER(keyfile_line__takes_one_line)
{
    static const struct {
        const char *text, *line;
    } cases[] = {{"fm-passw0rd\n", "fm-passw0rd"},
                 {"fm-passw0rd", "fm-passw0rd"},
                 {"fm-passw0rd\r\n", "fm-passw0rd"},
                 {" with: spaces \n", " with: spaces "},
                 {"k\xc3\xb6ln\n", "k\xc3\xb6ln"},
                 {"longest-0123456789abcdef01234567\r\n", "longest-0123456789abcdef01234567"}};
    struct keyfile kind = kind_of(KEYFILE_SECRET);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct secret line;
        struct error err = {0};
        put(cases[i].text, strlen(cases[i].text), 0400);
        if (keyfile_text(file, &kind, &line, &err) != 0)
            fail_msg("%s", err.text);
        assert_string_equal(secret_expose(line), cases[i].line);
        secret_wipe(&line);
    }
}

static void refuses_line(int code, const char *words)
{
    struct keyfile kind = kind_of(KEYFILE_SECRET);
    struct secret line;
    struct error err = {0};
    assert_int_equal(keyfile_text(file, &kind, &line, &err), code);
    assert_memory_equal(err.text, file, strlen(file));
    if (strncmp(err.text + strlen(file), words, strlen(words)) != 0)
        fail_msg("expected \"%s\" in: %s", words, err.text);
    assert_null(strstr(err.text, "fm-passw0rd"));
    assert_true(secret_none(line));
}

IN_FOLDER(keyfile_line__refuses_odd_files)
{
    refuses_line(ERROR_NOT_FOUND, ": No such file or directory; it should hold the thing");
    put("", 0, 0600);
    refuses_line(ERROR_INVALID, " is empty");
    put("\n\n", 2, 0600);
    refuses_line(ERROR_INVALID, " is empty");
    put("fm-passw0rd\nmore\n", 17, 0600);
    refuses_line(ERROR_INVALID, " should hold one line");
    put("fm\0passw0rd\n", 12, 0600);
    refuses_line(ERROR_INVALID, " should hold one line");
    put("too-long-0123456789abcdef01234567\n", 34, 0600);
    refuses_line(ERROR_INVALID, " is longer than the 32 bytes");
    put("fm-passw0rd\n", 12, 0604);
    refuses_line(ERROR_REFUSED, " can be read by others: chmod 0600 /tmp/");
    put("fm-passw0rd\n", 12, 0611);
    refuses_line(ERROR_REFUSED, " can be changed by others: chmod 0600 /tmp/");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkdir(file, 0700), 0);
    refuses_line(ERROR_INVALID, " is not a regular file");
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    refuses_line(ERROR_INVALID, " is not a regular file"); /* and does not wait for a writer */
}

IN_FOLDER(keyfile_text__keeps_every_line)
{
    struct keyfile kind = kind_of(KEYFILE_SECRET);
    kind.line = false;
    struct secret text;
    put("one\r\n\ttwo\n\n", 11, 0600);
    assert_int_equal(keyfile_text(file, &kind, &text, NULL), 0);
    assert_string_equal(secret_expose(text), "one\r\n\ttwo\n\n");
    secret_wipe(&text);
}

IN_FOLDER(keyfile_text__is_bounded)
{
    struct keyfile kind = kind_of(KEYFILE_SECRET);
    kind.line = false;
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

UNIT_RUN(NULL, NULL)
