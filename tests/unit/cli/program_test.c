/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program.h"
#include "tests/unit/unit.h"

UNIT(program__keeps_what_is_said_and_its_exit_status)
{
    char out[64];
    const char *const echo[] = {"echo", "one", "two", NULL};
    assert_int_equal(program_run(echo, NULL, out, sizeof out), 0);
    assert_string_equal(out, "one two\n");
    const char *const cat[] = {"/bin/cat", NULL};
    assert_int_equal(program_run(cat, "from here", out, sizeof out), 0);
    assert_string_equal(out, "from here");
    assert_int_equal(program_run(cat, NULL, out, sizeof out), 0);
    assert_string_equal(out, "");
    const char *const no[] = {"false", NULL};
    assert_int_equal(program_run(no, NULL, out, sizeof out), 1);
}

UNIT(program__keeps_standard_error_too)
{
    char out[128];
    const char *const cat[] = {"cat", "/nonexistent", NULL};
    assert_true(program_run(cat, NULL, out, sizeof out) > 0);
    assert_non_null(strstr(out, "/nonexistent"));
}

UNIT(program__cuts_what_is_too_long)
{
    char out[100];
    const char *const seq[] = {"seq", "1", "100000", NULL};
    assert_int_equal(program_run(seq, NULL, out, sizeof out), 0);
    assert_int_equal(strlen(out), sizeof out - 1);
    assert_int_equal(strncmp(out, "1\n2\n3\n", 6), 0);
}

UNIT(program__that_is_not_there)
{
    char out[16];
    const char *const none[] = {"mcast-no-such-program", NULL};
    const char *const path[] = {"/nonexistent/program", NULL};
    const char *const folder[] = {"/etc", NULL};
    assert_int_equal(program_run(none, NULL, out, sizeof out), PROGRAM_NOT_FOUND);
    assert_int_equal(program_run(path, NULL, out, sizeof out), PROGRAM_NOT_FOUND);
    assert_int_equal(program_run(folder, NULL, out, sizeof out), PROGRAM_NOT_FOUND);
}

/* Words are words: no shell reads them. */
UNIT(program__asks_no_shell)
{
    char out[64];
    const char *const echo[] = {"echo", "$HOME; `id`", NULL};
    assert_int_equal(program_run(echo, NULL, out, sizeof out), 0);
    assert_string_equal(out, "$HOME; `id`\n");
}

UNIT_RUN(NULL, NULL)
