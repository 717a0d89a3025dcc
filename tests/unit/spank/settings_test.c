/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the SPANK plugin in plugstack.conf. */

#include "deploy/slurm/spank/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static struct settings settings;
static const struct place place = {"/a/mcastctl", "/a/mcast-node", "/b/mcast-cleanup"};

static int read_one(const char *word, struct error *err)
{
    char text[256];
    char *words[] = {text, NULL};
    strcpy(text, word);
    return settings_read(&settings, &place, 1, words, err);
}

static void settings__defaults(void **state)
{
    (void)state;
    assert_int_equal(settings_read(&settings, &place, 0, NULL, NULL), 0);
    assert_string_equal(settings.grants, "/run/mcast-slurm");
    assert_null(settings.cluster);
    assert_null(settings.url);
    assert_int_equal(settings.timeout_ms, 2000);
    assert_string_equal(settings.mcastctl, "/a/mcastctl");
    assert_string_equal(settings.mcast_node, "/a/mcast-node");
    assert_string_equal(settings.mcast_cleanup, "/b/mcast-cleanup");
}

static void settings__words(void **state)
{
    (void)state;
    char cluster[] = "cluster=elcap", url[] = "url=https://a:1/?x=y", timeout[] = "timeout=60000";
    char *words[] = {cluster, url, timeout};
    assert_int_equal(settings_read(&settings, &place, 3, words, NULL), 0);
    assert_string_equal(settings.cluster, "elcap");
    assert_string_equal(settings.url, "https://a:1/?x=y");
    assert_int_equal(settings.timeout_ms, 60000);
}

/* A mistake keeps no job from running. */
static void settings__mistakes(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "timeout=0",   "timeout=60001", "timeout=-1", "timeout=2s", "timeout=", "timeout",
        "grants=",     "grants",        "cluste=a",   "",           "=",        "=x",
        "timeout= 20", "clusters=a"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error err = {0};
        assert_int_equal(read_one(wrong[i], &err), ERROR_INVALID);
        assert_non_null(strstr(err.text, wrong[i]));
        assert_int_equal(settings.timeout_ms, 2000);
        assert_string_equal(settings.grants, "/run/mcast-slurm");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings__defaults),
        cmocka_unit_test(settings__words),
        cmocka_unit_test(settings__mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
