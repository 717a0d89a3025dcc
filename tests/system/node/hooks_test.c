/* SPDX-License-Identifier: Apache-2.0 */
/* A job on a node: prolog, its tasks' environment, epilog (F7, F8, F9, S5, S7). */

#include "tests/system/node/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void hooks__make_a_service_on_each_of_four_nics_and_take_it_away(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 96);
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4);
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
    EXPECT_RUN(0, "env --job f17 --format slurm");
    assert_string_equal(fixture->out, "export SLINGSHOT_VNIS=1024\n"
                                      "export SLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3\n"
                                      "export SLINGSHOT_SVC_IDS=2,2,2,2\n"
                                      "export SLINGSHOT_TCS=0x0a\n");
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(0);
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n"
                        "f17/n1 destroyed 4711\n");
    assert_false(fixture_remembers(fixture));
}

static void hooks__do_the_same_with_one_nic(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 1\n");
    fixture_make_services(fixture, "f17", 4711, "1024,1025", 8);
    EXPECT_RUN(0, "env --job f17 --format slurm");
    fixture_expect_out(fixture, "SLINGSHOT_VNIS=1024,1025\n");
    fixture_expect_out(fixture, "SLINGSHOT_DEVICES=cxi0\n");
    fixture_expect_out(fixture, "SLINGSHOT_SVC_IDS=2\n");
    EXPECT_RUN_LEAVES(0, 0, "housekeeping --job f17");
}

/* NICs that are missing, smaller, or have other services: ids differ (F8). */
static void hooks__nodes_differ(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 4\n[cxi1]\npresent = no\n[cxi2]\ntxqs = 100\ntles = 600\n");
    fakebroker_set_job(fixture->broker, "f16", fixture_job("f16", 4710, "1030", 8));
    fixture_set_cxi(fixture, "nics = 3\n[cxi1]\npresent = no\n[cxi2]\ntxqs = 100\ntles = 600\n");
    EXPECT_RUN(0, "prolog --job f16");
    fixture_set_cxi(fixture, "nics = 4\n[cxi1]\npresent = no\n[cxi2]\ntxqs = 100\ntles = 600\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 96);
    fixture_expect_err(fixture,
                       "cxi2: 84 of 192 wanted transmit command queues granted, the NIC has "
                       "100: service 2 (job elcap/f16, uid 5588, VNI 1030) holds 16\n");
    fixture_expect_err(fixture, "cxi2: 80 of 96 wanted trigger list entries granted");
    assert_null(strstr(fixture->err, "cxi0"));
    EXPECT_RUN(0, "env --job f17 --format slurm");
    fixture_expect_out(fixture, "SLINGSHOT_DEVICES=cxi0,cxi2,cxi3\n");
    fixture_expect_out(fixture, "SLINGSHOT_SVC_IDS=3,3,2\n");
    EXPECT_RUN(0, "list");
    fixture_expect_out(fixture, "\ncxi0,cxi3 3,2 elcap/f17 5588   1024 0x0a  192 ");
    EXPECT_RUN_LEAVES(0, 2, "epilog --job f17"); /* the other job's */
}

static void prolog__warns_of_a_link_that_is_down(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 2\n[cxi1]\nlink = down\n");
    fixture_make_services(fixture, "f17", 4711, "1024,1025,1026,1027", 8);
    assert_string_equal(fixture->err, "mcast-node: warning: cxi1: its link is down\n");
    EXPECT_SERVICES(2);
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "SLINGSHOT_VNIS='1024,1025,1026,1027'\n");
}

static void prolog__again_does_no_harm(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    for (int i = 0; i < 3; i++) {
        EXPECT_RUN_LEAVES(0, 4, "prolog --job f17");
    }
    for (int i = 0; i < 3; i++)
        EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
}

/* Services on a node that is not the job's would be destroyed by nobody: the broker takes no word
 * of them, and the job's epilog runs elsewhere. */
static void prolog__refuses_where_the_job_does_not_run(void **state)
{
    struct fixture *fixture = *state;
    const char *job = fixture_job("f17", 4711, "1024", 8);
    static const char why[] = "this node calls itself vm (--node); job elcap/f17 runs on n[1-2]: "
                              "set node in node.conf, or give --node\n";
    fakebroker_set_job(fixture->broker, "f17", job);
    EXPECT_RUN(1, "prolog --job f17 --node vm --dry-run");
    fixture_expect_err(fixture, why);
    assert_string_equal(fixture->out, "");
    EXPECT_RUN(1, "prolog --job f17 --node vm");
    fixture_expect_err(fixture, why);
    assert_int_equal(fixture_run_with(fixture, job, "prolog --job f17 --node vm --reservation -"),
                     1);
    fixture_expect_err(fixture, why);
    EXPECT_RUN_LEAVES(1, 0, "prolog --job f17 --node n1.site");
    assert_false(fixture_remembers(fixture));
    assert_string_equal(fakebroker_reports(fixture->broker), "");
    /* Where it would make nothing, there is nothing to refuse. */
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "", 8));
    EXPECT_RUN(0, "prolog --job f18 --node vm");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17");
}

/* Two nodes with one configuration: the second would speak for the first. */
static void prolog__refuses_the_name_of_another_node(void **state)
{
    struct fixture *fixture = *state;
    char command[512];
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    fixture_set_config(fixture, "node = n1\n");
    snprintf(command, sizeof command,
             "%s prolog --config %s/node.conf --job f17 2>%s/said || ! grep -q 'this node is n1 to "
             "node.conf, and n2 to Slurm: correct node in node.conf' %s/said",
             MCAST_NODE, fixture->folder, fixture->folder, fixture->folder);
    setenv("SLURMD_NODENAME", "n2", 1);
    assert_int_not_equal(system(command), 0); /* it fails, with these words */
    EXPECT_SERVICES(0);
    setenv("SLURMD_NODENAME", "n1", 1);
    assert_int_equal(system(command), 0);
    EXPECT_SERVICES(4);
    unsetenv("SLURMD_NODENAME");
}

/* What is there has to go, whatever the node is called by now (F9). */
static void epilog__destroys_under_any_name(void **state)
{
    struct fixture *fixture = *state;
    char note[128];
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    EXPECT_RUN(0, "epilog --job f17 --node vm");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(0);
    assert_non_null(strstr(fakebroker_reports(fixture->broker), "f17/n1 destroyed 4711\n"));
    /* Nor does it need to remember; but of a node that is none of the job's it tells nothing. */
    EXPECT_RUN(0, "prolog --job f17");
    snprintf(note, sizeof note, "%s/spool/4711.json", fixture->folder);
    assert_int_equal(remove(note), 0);
    EXPECT_RUN(0, "epilog --job f17 --node vm");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(0);
    assert_null(strstr(fakebroker_reports(fixture->broker), "f17/vm"));
    assert_false(fixture_remembers(fixture));
    EXPECT_RUN(0, "prolog --job f17");
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 4711, "1024"));
    EXPECT_RUN_LEAVES(0, 0, "clean --node vm");
}

static void prolog__takes_the_document_from_a_file_or_from_standard_input(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_go(fixture->broker);
    fixture_set_config(fixture, "report = no\n");
    const char *document = fixture_job("f17", 4711, "1024", 8);
    assert_int_equal(fixture_run_with(fixture, document, "prolog --job f17 --reservation -"), 0);
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_false(fixture_remembers(fixture));
    assert_int_equal(fixture_run_with(fixture, "{\"job\":", "prolog --job f17 --reservation -"), 2);
    fixture_expect_err(fixture, "- is not a reservation as mcastctl show --json prints it");
    assert_int_equal(fixture_run_with(fixture, document, "prolog --job f18 --reservation -"), 1);
    fixture_expect_err(fixture, "is of job f17, not of f18");
    EXPECT_RUN_LEAVES(2, 0, "prolog --job f17 --reservation /not/there");
}

static void prolog__needs_a_reservation_that_is_active(void **state)
{
    struct fixture *fixture = *state;
    EXPECT_RUN(3, "prolog --job f17");
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 4711, "1024"));
    EXPECT_RUN(3, "prolog --job f17");
    fixture_expect_err(fixture, "released already");
    fakebroker_go(fixture->broker);
    EXPECT_RUN(4, "prolog --job f17");
    fixture_expect_err(fixture, "cannot reach mcastd");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
}

/* Flux's hooks write the id with U+0192. */
static void prolog__takes_flux_s_form_of_an_id(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f2Rs8sydSxmd",
                       fixture_job("f2Rs8sydSxmd", 4711, "1024", 8));
    EXPECT_RUN_LEAVES(0, 4,
                      "prolog --job \xc6\x92"
                      "2Rs8sydSxmd");
    EXPECT_RUN(2, "prolog --job f17/../f18");
}

static void prolog__without_vnis_makes_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "", 8);
    EXPECT_SERVICES(0);
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "unset SLINGSHOT_SVC_IDS\n");
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(fakebroker_reports(fixture->broker), "");
}

/* A site's choice for jobs on one node (F2). */
static void prolog__single_node_jobs_as_the_site_says(void **state)
{
    struct fixture *fixture = *state;
    static const char job[] =
        "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":\"active\",\"uid\":5588,"
        "\"nodes\":\"n1\",\"node_count\":1,\"vnis\":[1024],\"traffic_classes\":[]}";
    fakebroker_set_job(fixture->broker, "f17", job);
    fixture_set_config(fixture, "single_node = no\n");
    EXPECT_RUN_LEAVES(0, 0, "prolog --job f17");
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "unset SLINGSHOT_VNIS\n");
    /* Its VNI waits for this node all the same. */
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(fakebroker_reports(fixture->broker), "f17/n1 destroyed 4711\n");
    fixture_set_config(fixture, "");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --cores 4");
}

static void prolog__gives_the_classes_that_the_site_allows(void **state)
{
    struct fixture *fixture = *state;
    static const char job[] =
        "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":\"active\",\"uid\":5588,"
        "\"nodes\":\"n[1-2]\",\"node_count\":2,\"vnis\":[1024],\"traffic_classes\":"
        "[\"dedicated_access\",\"best_effort\"]}";
    fakebroker_set_job(fixture->broker, "f17", job);
    fixture_set_config(fixture, "traffic_classes = bulk_data\n");
    EXPECT_RUN(6, "prolog --job f17 --dry-run");
    EXPECT_RUN(6, "prolog --job f17");
    fixture_expect_err(fixture, "none of the job's traffic classes is allowed on this node");
    EXPECT_SERVICES(0);
    fixture_set_config(fixture, "");
    EXPECT_RUN(0, "prolog --job f17");
    fixture_expect_err(fixture, "traffic class dedicated_access is not allowed on this node");
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "SLINGSHOT_TCS='0x08'");
    EXPECT_RUN(0, "epilog --job f17");
    fixture_set_config(fixture, "traffic_classes = dedicated_access low_latency best_effort\n");
    EXPECT_RUN(0, "prolog --job f17");
    assert_string_equal(fixture->err, "");
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "SLINGSHOT_TCS='0x09'");
}

static void prolog__limits_are_the_site_s(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 10));
    fixture_set_config(fixture, "def_txqs = 3\nres_eqs = 77\nmax_acs = 5\ndef_tles = 0\n");
    EXPECT_RUN(0, "prolog --job f17 --dry-run");
    fixture_expect_out(fixture,
                       "cxi3: would create a service for uid 5588, VNIs 1024, traffic classes "
                       "0x0a, txqs 30/1024 tgqs 10/512 eqs 77/2047 cts 10/2047 tles 0/0 ptes "
                       "60/2048 les 160/16384 acs 5/5\n");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "list");
    fixture_expect_out(fixture, "5588   1024 0x0a   30   10  77  10    0   60 160   5\n");
    EXPECT_RUN(0, "prolog --job f17 --dry-run");
    fixture_expect_out(fixture, "cxi0: would keep service 2\n");
}

static void node__without_nics_is_an_error_only_where_one_is_needed(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 0\n");
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    EXPECT_RUN(1, "prolog --job f17");
    fixture_expect_err(fixture, "the node has 0 NICs, and a job with VNIs needs at least 1 here");
    EXPECT_RUN(0, "epilog --job f17");
    fixture_set_config(fixture, "min_nics = 0\n");
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "unset SLINGSHOT_DEVICES\n");
    fixture_set_config(fixture, "min_nics = 4\n");
    fixture_set_cxi(fixture, "nics = 3\n");
    EXPECT_RUN(1, "prolog --job f17");
    fixture_expect_err(fixture, "3 NICs");
}

static void node__without_libcxi_says_so(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    fixture_set_config(fixture, "libcxi = libcxi-that-is-nowhere.so.1\n");
    EXPECT_RUN(1, "prolog --job f17");
    fixture_expect_err(fixture, "libcxi-that-is-nowhere.so.1 is not installed; it comes with the "
                                "Slingshot Host Software (node.conf: libcxi)\n");
    EXPECT_RUN(1, "list");
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(fakebroker_reports(fixture->broker), "f17/n1 destroyed 4711\n");
    fixture_set_config(fixture, "libcxi = libcxi-that-is-nowhere.so.1\nmin_nics = 0\n");
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "unset SLINGSHOT_VNIS\n");
    fixture_set_config(fixture, "libcxi = libjansson.so.4\n");
    EXPECT_RUN(1, "prolog --job f17");
    fixture_expect_err(fixture, "libjansson.so.4 has no cxil_get_device_list; is it HPE's libcxi?");
}

/* Through as many levels as one likes (F6). */
static void env__is_inherited_and_checked(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    EXPECT_RUN(0, "env --inherit");
    fixture_expect_out(fixture, "unset SLINGSHOT_VNIS\n");
    EXPECT_RUN(0, "prolog --job f17");
    setenv("SLINGSHOT_VNIS", "1024", 1);
    setenv("SLINGSHOT_DEVICES", "cxi0,cxi1,cxi2,cxi3", 1);
    setenv("SLINGSHOT_SVC_IDS", "2,2,2,2", 1);
    for (int level = 0; level < 2; level++) {
        EXPECT_RUN(0, "env --inherit --format slurm");
        assert_string_equal(fixture->out, "export SLINGSHOT_VNIS=1024\n"
                                          "export SLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3\n"
                                          "export SLINGSHOT_SVC_IDS=2,2,2,2\n"
                                          "export SLINGSHOT_TCS=0x0a\n");
        setenv("SLINGSHOT_TCS", "0x0a", 1);
    }
    setenv("SLINGSHOT_VNIS", "1025", 1);
    EXPECT_RUN(1, "env --inherit");
    assert_string_equal(fixture->out, "");
    fixture_expect_err(fixture, "service 2 of cxi0 is another's (uid 5588, VNI 1024)");
    setenv("SLINGSHOT_VNIS", "1024", 1);
    EXPECT_RUN(0, "epilog --job f17");
    EXPECT_RUN(1, "env --inherit");
    fixture_expect_err(fixture, "cxi0 has no service 2; the outer job's services are gone");
    EXPECT_RUN(0, "env --clear");
    fixture_expect_out(fixture, "unset SLINGSHOT_TCS\n");
}

/* Hooks may run with any umask. What is remembered is for nobody else to read (B8). */
static void env__of_what_is_remembered_asks_nobody(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    struct stat status;
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    mode_t before = umask(0);
    EXPECT_RUN(0, "prolog --job f17");
    umask(before);
    snprintf(path, sizeof path, "%s/spool", fixture->folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    snprintf(path, sizeof path, "%s/spool/4711.json", fixture->folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    /* The broker is not asked: a task more is no request more. */
    unsigned int requests = fakebroker_requests(fixture->broker);
    EXPECT_RUN(0, "env --job f17");
    assert_int_equal(fakebroker_requests(fixture->broker), requests);
}

static void env__says_when_services_are_missing(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    EXPECT_RUN(1, "env --job f17");
    assert_string_equal(fixture->out, "");
    fixture_expect_err(fixture, "has mcast-node prolog run here?");
    EXPECT_RUN(0, "prolog --job f17");
    /* The NIC with one of them has gone since. */
    fixture_set_cxi(fixture, "nics = 4\n[cxi2]\npresent = no\n");
    EXPECT_RUN(1, "env --job f17");
    fixture_expect_err(fixture,
                       "service 2 of cxi2, which was made for job f17, is not there any more");
    EXPECT_RUN(3, "env --job f18");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(hooks__make_a_service_on_each_of_four_nics_and_take_it_away),
          TEST(hooks__do_the_same_with_one_nic), TEST(hooks__nodes_differ),
          TEST(prolog__warns_of_a_link_that_is_down), TEST(prolog__again_does_no_harm),
          TEST(prolog__refuses_the_name_of_another_node),
          TEST(prolog__refuses_where_the_job_does_not_run), TEST(epilog__destroys_under_any_name),
          TEST(prolog__takes_the_document_from_a_file_or_from_standard_input),
          TEST(prolog__needs_a_reservation_that_is_active),
          TEST(prolog__takes_flux_s_form_of_an_id), TEST(prolog__without_vnis_makes_nothing),
          TEST(prolog__single_node_jobs_as_the_site_says),
          TEST(prolog__gives_the_classes_that_the_site_allows), TEST(prolog__limits_are_the_site_s),
          TEST(node__without_nics_is_an_error_only_where_one_is_needed),
          TEST(node__without_libcxi_says_so), TEST(env__is_inherited_and_checked),
          TEST(env__of_what_is_remembered_asks_nobody), TEST(env__says_when_services_are_missing))
