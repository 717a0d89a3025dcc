/* SPDX-License-Identifier: Apache-2.0 */
#include "client/handle.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/mcast-credentials-XXXXXX";
static char pem[64];

static int make_file(void **state)
{
    unsetenv("MCAST_CACERT");
    unsetenv("MCAST_CERT");
    unsetenv("MCAST_KEY");
    unsetenv("MCAST_MUNGE_SOCKET");
    if (!mkdtemp(folder))
        return -1;
    snprintf(pem, sizeof pem, "%s/x.pem", folder);
    FILE *file = fopen(pem, "w");
    return file && fclose(file) == 0 && chmod(pem, 0600) == 0 ? 0 : -1;
}

static int remove_file(void **state)
{
    return unlink(pem) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

UNIT(credentials__empty_ones_are_fine_and_want_munge)
{
    struct mcast own = {0};
    struct credentials *mine = &own.broker.peer.credentials;
    assert_int_equal(credentials_settle(mine, NULL), 0);
    assert_int_equal(credentials_check(mine, NULL), 0);
    assert_true(credentials_want_munge(mine));
    credentials_release(mine);
}

/* A certificate is a proof already; two that disagree would only confuse. */
UNIT(credentials__certificate_or_munge)
{
    struct mcast own = {0};
    struct credentials *mine = &own.broker.peer.credentials;
    assert_int_equal(mcast_set_certificate(&own, pem, pem, NULL), 0);
    assert_false(credentials_want_munge(mine));
    assert_int_equal(mcast_set_munge(&own, MCAST_MUNGE_ALWAYS, NULL, NULL), 0);
    assert_true(credentials_want_munge(mine));
    assert_int_equal(mcast_set_munge(&own, MCAST_MUNGE_NEVER, NULL, NULL), 0);
    assert_int_equal(mcast_set_certificate(&own, NULL, NULL, NULL), 0);
    assert_false(credentials_want_munge(mine));
    credentials_release(mine);
}

/* It becomes a line of a header. */
UNIT(credentials__node_is_a_name)
{
    struct mcast own = {0};
    struct credentials *mine = &own.broker.peer.credentials;
    struct mcast_error error;
    assert_int_equal(mcast_set_node(&own, "elcap7", NULL), 0);
    assert_string_equal(mine->is[NODE], "elcap7");
    assert_int_equal(mcast_set_node(&own, "elcap7\r\nX: y", &error), MCAST_USAGE);
    assert_int_equal(mcast_set_node(&own, "elcap 7", &error), MCAST_USAGE);
    assert_string_equal(mine->is[NODE], "elcap7");
    assert_int_equal(mcast_set_node(&own, NULL, NULL), 0);
    assert_null(mine->is[NODE]);
    credentials_release(mine);
}

UNIT(credentials__what_is_set_goes_before_the_environment)
{
    struct mcast own = {0};
    struct credentials *mine = &own.broker.peer.credentials;
    setenv("MCAST_CACERT", "/env/ca", 1);
    setenv("MCAST_CERT", "/env/cert", 1);
    setenv("MCAST_KEY", "/env/key", 1);
    setenv("MCAST_MUNGE_SOCKET", "/env/munge", 1);
    assert_int_equal(mcast_set_cacert(&own, "/set/ca", NULL), 0);
    assert_int_equal(mcast_set_munge(&own, MCAST_MUNGE_AUTO, "/set/munge", NULL), 0);
    assert_int_equal(credentials_settle(mine, NULL), 0);
    assert_string_equal(mine->is[CACERT], "/set/ca");
    assert_string_equal(mine->is[MUNGE_SOCKET], "/set/munge");
    assert_string_equal(mine->is[CERT], "/env/cert");
    assert_string_equal(mine->is[KEY], "/env/key");
    setenv("MCAST_CERT", "/other/cert", 1);
    assert_int_equal(credentials_settle(mine, NULL), 0); /* once is enough */
    assert_string_equal(mine->is[CERT], "/env/cert");
    credentials_release(mine);
    unsetenv("MCAST_CACERT");
    unsetenv("MCAST_CERT");
    unsetenv("MCAST_KEY");
    unsetenv("MCAST_MUNGE_SOCKET");
}

UNIT(credentials__a_certificate_needs_its_key)
{
    struct mcast own = {0};
    struct credentials *mine = &own.broker.peer.credentials;
    struct mcast_error error;
    assert_int_equal(mcast_set_certificate(&own, pem, NULL, &error), MCAST_USAGE);
    assert_int_equal(mcast_set_certificate(&own, NULL, pem, &error), MCAST_USAGE);
    setenv("MCAST_KEY", pem, 1);
    assert_int_equal(credentials_settle(mine, &error), MCAST_USAGE);
    assert_non_null(strstr(error.text, "MCAST_CERT"));
    unsetenv("MCAST_KEY");
    assert_int_equal(credentials_settle(mine, &error), 0); /* and can be mended */
    credentials_release(mine);
}

/* Whoever can read the key can pretend to be its owner. */
UNIT(credentials__refuse_a_key_that_is_open_to_others)
{
    static const mode_t open_modes[] = {0640, 0604, 0620, 0602, 0610, 0601, 0644, 0777};
    struct mcast own = {0};
    struct credentials *mine = &own.broker.peer.credentials;
    struct mcast_error error;
    assert_int_equal(mcast_set_certificate(&own, pem, pem, NULL), 0);
    for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
        assert_int_equal(chmod(pem, open_modes[i]), 0);
        assert_int_equal(credentials_check(mine, &error), MCAST_USAGE);
        assert_non_null(strstr(error.text, pem));
        assert_non_null(strstr(error.text, "chmod 0600"));
    }
    assert_int_equal(chmod(pem, 0400), 0);
    assert_int_equal(credentials_check(mine, &error), 0);
    assert_int_equal(chmod(pem, 0600), 0);
    assert_int_equal(credentials_check(mine, &error), 0);
    credentials_release(mine);
}

UNIT(credentials__name_a_file_that_will_not_do)
{
    struct mcast own = {0};
    struct credentials *mine = &own.broker.peer.credentials;
    struct mcast_error error;
    assert_int_equal(mcast_set_certificate(&own, folder, pem, NULL), 0);
    assert_int_equal(credentials_check(mine, &error), MCAST_USAGE);
    assert_non_null(strstr(error.text, "is not a file"));
    assert_int_equal(mcast_set_certificate(&own, pem, "/nonexistent/key", NULL), 0);
    assert_int_equal(credentials_check(mine, &error), MCAST_USAGE);
    assert_non_null(strstr(error.text, "/nonexistent/key"));
    assert_int_equal(mcast_set_certificate(&own, NULL, NULL, NULL), 0);
    assert_int_equal(mcast_set_cacert(&own, folder, NULL), 0); /* a hashed folder will */
    assert_int_equal(credentials_check(mine, &error), 0);
    assert_int_equal(mcast_set_cacert(&own, "/dev/null", NULL), 0);
    assert_int_equal(credentials_check(mine, &error), MCAST_USAGE);
    credentials_release(mine);
}

UNIT_RUN(make_file, remove_file)
