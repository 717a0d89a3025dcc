/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/call.h"
#include "tests/unit/unit.h"

UNIT(names__cluster)
{
    struct mcast_error error;
    assert_int_equal(names_check_cluster("elcap_2", &error), 0);
    assert_int_equal(names_check_cluster("abcdefghijklmnopqrstuvwxyz012345", &error), 0);
    static const char *const bad[] = {NULL,  "",   "El",  "a-b",
                                      "a/b", "..", "a b", "abcdefghijklmnopqrstuvwxyz0123456"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(names_check_cluster(bad[i], &error), MCAST_USAGE);
}

UNIT(names__job)
{
    char longest[130];
    struct mcast_error error;
    assert_int_equal(names_check_job("f2Rs8sydSxmd", &error), 0);
    assert_int_equal(names_check_job("12_3.batch:0@x+y-z", &error), 0);
    memset(longest, 'j', sizeof longest);
    longest[128] = '\0';
    assert_int_equal(names_check_job(longest, &error), 0);
    longest[128] = 'j';
    longest[129] = '\0';
    assert_int_equal(names_check_job(longest, &error), MCAST_USAGE);
    static const char *const bad[] = {NULL, "", "a/b", "a%2fb", "a?b", "a b", "a\nb", "ƒx"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(names_check_job(bad[i], &error), MCAST_USAGE);
}

UNIT(names__step)
{
    struct mcast_error error;
    assert_int_equal(names_check_step("0", &error), 0);
    assert_int_equal(names_check_step("/fA/fB", &error), 0);
    static const char *const bad[] = {"", "a b", "a\"b", "a\\b", "a\tb", "a\x7f", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(names_check_step(bad[i], &error), MCAST_USAGE);
}

UNIT(names__node)
{
    char longest[257];
    struct mcast_error error;
    assert_int_equal(names_check_node("elcap17", &error), 0);
    assert_int_equal(names_check_node("N-1.site_x", &error), 0);
    memset(longest, 'n', sizeof longest);
    longest[255] = '\0';
    assert_int_equal(names_check_node(longest, &error), 0);
    longest[255] = 'n';
    longest[256] = '\0';
    assert_int_equal(names_check_node(longest, &error), MCAST_USAGE);
    static const char *const bad[] = {NULL, "", "a/b", "elcap[1-2]", "a,b", "a b", "a:1", "ä"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(names_check_node(bad[i], &error), MCAST_USAGE);
}

/* A control character in a name must not reach a terminal through the message. */
UNIT(names__messages_are_harmless)
{
    struct mcast_error error;
    assert_int_equal(names_check_job("\x1b[2J", &error), MCAST_USAGE);
    assert_null(strchr(error.text, '\x1b'));
}

UNIT_RUN(NULL, NULL)
