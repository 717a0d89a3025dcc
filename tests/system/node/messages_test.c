/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: what hooks and people rely on. */

#include "tests/system/node/fixture.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {"prolog", "env",  "epilog", "housekeeping",
                                       "clean",  "list", "explain"};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void words__every_command_explains_itself(void **state)
{
    struct fixture *fixture = *state;
    char usage[64];
    EXPECT_RUN(0, "--help");
    for (size_t i = 0; i < COMMANDS; i++)
        fixture_expect_out(fixture, commands[i]);
    for (size_t i = 0; i < COMMANDS; i++) {
        EXPECT_RUN(0, "%s --help", commands[i]);
        snprintf(usage, sizeof usage, "Usage: mcast-node %s", commands[i]);
        fixture_expect_out(fixture, usage);
        fixture_expect_out(fixture, "Example");
        fixture_expect_out(fixture, "Common options:");
        assert_string_equal(fixture->err, "");
    }
    EXPECT_RUN(0, "--version");
    fixture_expect_out(fixture, "mcast-node ");
}

static void words__wrong_ones_do_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const char *const wrong[][2] = {
        {"", "unknown command ''"},
        {"prologue", "unknown command 'prologue'"},
        {"prolog", "--job JOB is required"},
        {"epilog", "--job JOB is required"},
        {"env", "--job JOB is required"},
        {"explain", "--cores N is required"},
        {"prolog --job f17 f18", "'f18' is not understood"},
        {"prolog --job f17 --cores 0", "--cores 0: a number from 1 to 65535"},
        {"prolog --job f17 --bogus", "see mcast-node prolog --help"},
        {"prolog --job a/b", "is not a job id"},
        {"prolog --job f17 --cluster El-Cap", "is not a cluster name"},
        {"epilog --job f17 --retry-busy 5x", "--retry-busy 5x: a duration"},
        {"epilog --job f17 --reporter /bin/true --report-within 1s",
         "--report-within and --reporter exclude each other"},
        {"housekeeping --job f17 --report-within 1s", "see mcast-node housekeeping --help"},
        {"housekeeping --job f17 --reporter /bin/true", "see mcast-node housekeeping --help"},
        {"env --inherit --clear", "only one of"},
        {"env --job f17 --format csh", "--format csh: sh, json, null or slurm"},
        {"list --config /not/there", "/not/there: it cannot be read"},
        {"prolog --job f17 --url ftp://x", "the broker's URL must be"},
        {"prolog --job f17 --url /a,https://m2", "URL 2 of the list: the broker's URL is not"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_RUN(2, "%s", wrong[i][0]);
        fixture_expect_err(fixture, wrong[i][1]);
        assert_string_equal(fixture->out, "");
    }
    assert_int_equal(fakebroker_requests(fixture->broker), 0);
    assert_false(fixture_remembers(fixture));
}

static void words__a_bad_configuration_stops_everything(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_config(fixture, "def_txqs = many\nfoo = bar\n");
    EXPECT_RUN(2, "list");
    fixture_expect_err(fixture, "node.conf:2: def_txqs must be a number from 0 to 65535\n");
    fixture_expect_err(fixture, "node.conf:3: there is no key 'foo'");
    fixture_expect_err(fixture, "the configuration has faults, so nothing is done\n");
}

/* What users wrote stands in root's log: it begins no line there, and moves no cursor. */
static void words__of_others_are_one_line(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    EXPECT_RUN(0, "prolog --job f17 --limits a\nb\x1b[2J");
    fixture_expect_err(fixture, "warning: --limits: 'a' is not understood");
    fixture_expect_err(fixture, "warning: --limits: 'b?[2J' is not understood");
    EXPECT_RUN(2, "epilog --job f17\nexport\tA=b");
    fixture_expect_err(fixture, "'f17?export?A=b' is not a job id");
}

static void words__the_cluster_comes_from_somewhere(void **state)
{
    struct fixture *fixture = *state;
    unsetenv("MCAST_CLUSTER");
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    EXPECT_RUN(2, "prolog --job f17");
    fixture_expect_err(fixture, "no cluster is given: ");
    fixture_set_config(fixture, "cluster = elcap\n");
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN_LEAVES(
        0, 4, "epilog --job f17 --cluster tuolumne"); /* that cluster's f17 is another job */
}

static void list__is_merged_for_people_and_whole_for_programs(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 2\n[nic]\ntle_pools = 8\n");
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "1025,1026", 16));
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "prolog --job f18");
    EXPECT_RUN(0, "list");
    assert_string_equal(
        fixture->out,
        "NICS      ID JOB       UID    VNIS      TCS  TXQS TGQS EQS CTS TLES PTES LES ACS\n"
        "cxi0,cxi1 1  -         system 1,10      0x0f    0    0   0   0  512    0   0   0\n"
        "cxi0,cxi1 2  elcap/f17 5588   1024      0x0a   16    8  16   8    8   48 128  16\n"
        "cxi0,cxi1 3  elcap/f18 5588   1025,1026 0x0a   32   16  32  16   16   96 256  32\n");
    EXPECT_RUN(0, "list --max");
    fixture_expect_out(fixture, "5588   1024      0x0a 1024  512 2047 2047    8 2048 16384 1022\n");
    EXPECT_RUN(0, "list --json");
    json_t *root = json_loads(fixture->out, 0, NULL);
    const json_t *services = json_object_get(root, "services");
    assert_int_equal(json_array_size(services), 6);
    const json_t *last = json_array_get(services, 5);
    assert_string_equal(json_string_value(json_object_get(last, "device")), "cxi1");
    assert_string_equal(json_string_value(json_object_get(last, "job")), "elcap/f18");
    assert_int_equal(json_array_size(json_object_get(last, "vnis")), 2);
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(json_object_get(last, "limits"), "txqs"), "res")),
                     32);
    json_decref(root);
    /* Ids that differ from NIC to NIC. */
    fixture_set_cxi(fixture, "nics = 2\n[nic]\ntle_pools = 8\n[cxi1]\npresent = no\n");
    fixture_make_services(fixture, "f19", 4713, "1027", 8);
    fixture_set_cxi(fixture, "nics = 2\n[nic]\ntle_pools = 8\n");
    fixture_make_services(fixture, "f20", 4714, "1028", 8);
    EXPECT_RUN(0, "list");
    fixture_expect_out(fixture, "cxi0,cxi1 5,4 elcap/f20");
    fixture_expect_out(fixture, "cxi0      4   elcap/f19");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(words__every_command_explains_itself), TEST(words__wrong_ones_do_nothing),
          TEST(words__a_bad_configuration_stops_everything), TEST(words__of_others_are_one_line),
          TEST(words__the_cluster_comes_from_somewhere),
          TEST(list__is_merged_for_people_and_whole_for_programs))
