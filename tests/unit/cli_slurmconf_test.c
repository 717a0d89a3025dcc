/* Slurm's configuration, as scontrol shows it and as it stands in slurm.conf. */

#include "cli/slurm/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

static struct slurmconf *conf;

static int setup(void **state)
{
    (void)state;
    conf = slurmconf_create();
    return conf ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    slurmconf_destroy(conf);
    return 0;
}

/* From Slurm 22.05, and the numbered keys of 24.05. */
static void slurmconf__what_scontrol_shows(void **state)
{
    (void)state;
    slurmconf_take_shown(conf, "Configuration data as of 2026-11-21T21:21:55\n"
                               "AuthInfo                = socket=/run/munge/s\n"
                               "PrologFlags             = Alloc,Contain\r\n"
                               "Prolog[0]               = /a/prolog\n"
                               "Prolog[1]               = /b/prolog  \n"
                               "TaskProlog              = (null)\n"
                               "TaskPluginParam         = (null type)\n"
                               "InteractiveStepOptions  = --interactive --pty $SHELL\n"
                               "Empty                   = \n"
                               "\n"
                               "Slurmctld(primary) at vm is UP");
    assert_string_equal(slurmconf_get(conf, "authinfo", 0), "socket=/run/munge/s");
    assert_string_equal(slurmconf_get(conf, "PROLOG", 0), "/a/prolog");
    assert_string_equal(slurmconf_get(conf, "Prolog", 1), "/b/prolog");
    assert_null(slurmconf_get(conf, "Prolog", 2));
    assert_string_equal(slurmconf_get(conf, "InteractiveStepOptions", 0),
                        "--interactive --pty $SHELL");
    assert_null(slurmconf_get(conf, "TaskProlog", 0));
    assert_null(slurmconf_get(conf, "TaskPluginParam", 0));
    assert_null(slurmconf_get(conf, "Empty", 0));
    assert_true(slurmconf_has(conf, "PrologFlags", "contain"));
    assert_true(slurmconf_has(conf, "PrologFlags", "Alloc"));
    assert_false(slurmconf_has(conf, "PrologFlags", "All"));
    assert_false(slurmconf_has(conf, "PrologFlags", "X11"));
    assert_false(slurmconf_has(conf, "Nothing", "X11"));
}

static void slurmconf__a_file(void **state)
{
    (void)state;
    slurmconf_take_file(conf, "# Prolog=/no\n"
                              "ClusterName=elcap SlurmctldHost=a(10.0.0.1)#Epilog=/no\n"
                              "\tSlurmctldHost=b\r\n"
                              "Prolog=\"/with a/blank\" Epilog=/e\n"
                              "NodeName=n[1-2] \\\n"
                              "   CPUs=8 \\\r\n"
                              "   State=UP\n"
                              "Nothing=\n"
                              "include other.conf\n"
                              "=x a= b==c\n"
                              "Last=one\\");
    assert_string_equal(slurmconf_get(conf, "ClusterName", 0), "elcap");
    assert_string_equal(slurmconf_get(conf, "SlurmctldHost", 0), "a(10.0.0.1)");
    assert_string_equal(slurmconf_get(conf, "SlurmctldHost", 1), "b");
    assert_string_equal(slurmconf_get(conf, "Prolog", 0), "/with a/blank");
    assert_string_equal(slurmconf_get(conf, "Epilog", 0), "/e");
    assert_null(slurmconf_get(conf, "Epilog", 1));
    assert_string_equal(slurmconf_get(conf, "CPUs", 0), "8");
    assert_string_equal(slurmconf_get(conf, "State", 0), "UP");
    assert_null(slurmconf_get(conf, "Nothing", 0));
    assert_string_equal(slurmconf_get(conf, "b", 0), "=c");
    assert_string_equal(slurmconf_get(conf, "Last", 0), "one\\");
}

/* A quote that does not end takes the rest of its line, and no more. */
static void slurmconf__broken_files(void **state)
{
    (void)state;
    slurmconf_take_file(conf, "A=\"x y\nB=1\n\"C=2\n\\\n\\\\\nD=3\n");
    assert_string_equal(slurmconf_get(conf, "A", 0), "x y");
    assert_string_equal(slurmconf_get(conf, "B", 0), "1");
    assert_string_equal(slurmconf_get(conf, "C", 0), "2");
    slurmconf_take_file(conf, "");
    slurmconf_take_file(conf, "=");
    slurmconf_take_file(conf, "\\");
    slurmconf_take_shown(conf, "=");
    slurmconf_take_shown(conf, " = x\n[0] = y\n]=z");
    assert_null(slurmconf_get(conf, "", 0));
}

static void slurmconf__many(void **state)
{
    (void)state;
    for (int i = 0; i < SLURMCONF_MAX + 10; i++)
        slurmconf_take_file(conf, "Key=1");
    assert_non_null(slurmconf_get(conf, "Key", SLURMCONF_MAX - 1));
    assert_null(slurmconf_get(conf, "Key", SLURMCONF_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slurmconf__what_scontrol_shows, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmconf__a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmconf__broken_files, setup, teardown),
        cmocka_unit_test_setup_teardown(slurmconf__many, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
