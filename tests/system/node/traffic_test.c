/* SPDX-License-Identifier: Apache-2.0 */
/* What the NICs of a job's nodes count from its prologs to its epilogs comes to the real broker
 * with the reports that are sent anyway, and from there to people (P6, B10). */

#include "tests/system/node/realbroker.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 200 };

#define TWO_NODES "{\"uid\":0,\"nodes\":\"n[1-2]\",\"vni_count\":1}"
#define ONE_NODE "{\"uid\":0,\"nodes\":\"n1\",\"vni_count\":1}"

/* A counter of a NIC of a node, as the driver shows it. */
static void set_counter(struct fixture *fixture, const char *node, const char *device,
                        const char *name, unsigned long long value)
{
    char path[PATH_SIZE], text[64];
    const char *const parts[] = {"sysfs", node, device, "device", "telemetry"};
    size_t used = (size_t)snprintf(path, sizeof path, "%s", fixture->folder);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        used += (size_t)snprintf(path + used, sizeof path - used, "/%s", parts[i]);
        (void)mkdir(path, 0755);
    }
    snprintf(text, sizeof text, "%llu@1764300000.000000001\n", value);
    assert_int_equal(folder_write(path, name, 0644, text), 0);
}

/* All that the configuration below names. */
static void set_counters(struct fixture *fixture, const char *node, const char *device,
                         unsigned long long tx, unsigned long long rx, unsigned long long paused)
{
    set_counter(fixture, node, device, "hni_sts_tx_ok_octets", tx);
    set_counter(fixture, node, device, "hni_sts_rx_ok_octets", rx);
    set_counter(fixture, node, device, "sent_0", tx / 10);
    set_counter(fixture, node, device, "sent_1", 1);
    set_counter(fixture, node, device, "paused", paused);
}

/* Which node the next runs are. */
static void be(struct fixture *fixture, const char *node)
{
    char text[512];
    snprintf(text, sizeof text,
             "sysfs = %s/sysfs/%s\ntraffic_tx_packets = sent_[0-1]\ntraffic_rx_packets =\n"
             "traffic_paused = paused\nmissed_every = 0s\n",
             fixture->folder, node);
    fixture_set_config(fixture, text);
}

static void expect(struct testbed *testbed, const char *job, const char *words)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s/traffic", job);
    assert_int_equal(plainhttp_call(testbed_http(testbed), "GET", path, NULL, &reply), 200);
    char *text = json_dumps(reply.json, JSON_COMPACT);
    if (!strstr(text, words))
        fail_msg("%s is not in %s", words, text);
    free(text);
    plainhttp_reply_release(&reply);
}

static void release(struct testbed *testbed, const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(plainhttp_call(testbed_http(testbed), "DELETE", path, NULL, &reply), 202);
    plainhttp_reply_release(&reply);
}

static struct testbed *begin(struct fixture *fixture)
{
    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    fixture_set_cxi(fixture, "nics = 2\n");
    for (int node = 1; node <= 2; node++)
        for (int nic = 0; nic < 2; nic++) {
            char name[16], device[16];
            snprintf(name, sizeof name, "n%d", node);
            snprintf(device, sizeof device, "cxi%d", nic);
            set_counters(fixture, name, device, 1000, 2000, 30);
        }
    be(fixture, "n1");
    return testbed;
}

static void two_nodes__are_summed(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    (void)realbroker_reserve(testbed, "f17", TWO_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17");
    set_counters(fixture, "n1", "cxi0", 1500, 2700, 35);
    set_counters(fixture, "n1", "cxi1", 1100, 2100, 30);
    EXPECT_RUN(0, "prolog --job f17"); /* once more changes nothing */
    EXPECT_RUN(0, "epilog --job f17");
    expect(testbed, "f17", "\"nodes\":1,\"shared\":0,\"unclear\":0,");
    expect(testbed, "f17",
           "\"tx_octets\":600,\"rx_octets\":800,\"tx_packets\":60,\"rx_packets\":0,"
           "\"paused\":5,\"lacking\":[\"rx_packets\"]");
    be(fixture, "n2");
    EXPECT_RUN(0, "prolog --job f17 --node n2");
    set_counters(fixture, "n2", "cxi0", 1010, 2010, 30);
    set_counters(fixture, "n2", "cxi1", 9000, 2000, 99);
    EXPECT_RUN(0, "epilog --job f17 --node n2");
    EXPECT_RUN(0, "epilog --job f17 --node n2");
    release(testbed, "f17");
    expect(testbed, "f17", "\"state\":\"over\"");
    expect(testbed, "f17", "\"nodes\":2,\"shared\":0,\"unclear\":0,");
    expect(testbed, "f17", "\"tx_octets\":8610,\"rx_octets\":810,");
    expect(testbed, "f17",
           "\"slowest\":{\"node\":\"n2\",\"device\":\"cxi0\",\"octets\":20},"
           "\"congested\":{\"node\":\"n2\",\"device\":\"cxi1\",\"paused\":69}");
    testbed_destroy(testbed);
}

/* A counter that went back is no huge number. */
static void reset__is_not_told(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    (void)realbroker_reserve(testbed, "f17", ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f17");
    set_counters(fixture, "n1", "cxi0", 1100, 7, 30);
    set_counters(fixture, "n1", "cxi1", 1200, 2300, 30);
    EXPECT_RUN(0, "epilog --job f17");
    fixture_expect_err(fixture, "what 1 NIC counted is not known (cxi0: a counter was reset");
    expect(testbed, "f17", "\"nodes\":1,\"shared\":0,\"unclear\":1,");
    expect(testbed, "f17", "\"tx_octets\":200,\"rx_octets\":300,");
    testbed_destroy(testbed);
}

/* Counters are NICs': what another job sends is in them. Whichever begins or ends first. */
static void shared_node__is_told(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    static const char *const jobs[] = {"f1", "f2", "f3"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < 3; i++)
        (void)realbroker_reserve(testbed, jobs[i], ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f1");
    EXPECT_RUN(0, "prolog --job f2");
    EXPECT_RUN(0, "epilog --job f2");
    EXPECT_RUN(0, "epilog --job f1"); /* alone by now */
    EXPECT_RUN(0, "prolog --job f3");
    EXPECT_RUN(0, "epilog --job f3");
    expect(testbed, "f1", "\"nodes\":1,\"shared\":1,");
    expect(testbed, "f2", "\"nodes\":1,\"shared\":1,");
    expect(testbed, "f3", "\"nodes\":1,\"shared\":0,");
    assert_false(fixture_remembers(fixture));
    snprintf(path, sizeof path, "%s/spool/1.shared", fixture->folder);
    assert_int_equal(access(path, F_OK), -1);
    testbed_destroy(testbed);
}

static ino_t mark_of(const struct fixture *fixture, unsigned number)
{
    char path[PATH_SIZE];
    struct stat status;
    snprintf(path, sizeof path, "%s/spool/%u.shared", fixture->folder, number);
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

/* A mark is written to the disk: once, however many jobs come and go. */
static void mark__is_written_once(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    static const char *const jobs[] = {"f1", "f2", "f3"};
    for (size_t i = 0; i < 3; i++)
        (void)realbroker_reserve(testbed, jobs[i], ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f1");
    EXPECT_RUN(0, "prolog --job f2");
    const ino_t first = mark_of(fixture, 1);
    assert_true(first > 0);
    EXPECT_RUN(0, "prolog --job f3");
    assert_int_equal(mark_of(fixture, 1), first);
    EXPECT_RUN(0, "epilog --job f3");
    assert_int_equal(mark_of(fixture, 1), first);
    testbed_destroy(testbed);
}

static bool prolog_waits(void *arg)
{
    return fixture_cxi_logged(arg, "waits");
}

/* A job ends while another's prolog, which still knows of it, makes services. */
static void job__that_has_ended_is_not_marked(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    (void)realbroker_reserve(testbed, "f1", ONE_NODE, 201);
    (void)realbroker_reserve(testbed, "f2", ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f1");
    fixture_set_cxi(fixture, "nics = 2\nlog = yes\n"
                             "[fault slow]\ncall = alloc_svc\ndelay = 2s\ncount = 1\n");
    struct process *prolog = fixture_start(fixture, "prolog --job f2");
    assert_true(await(prolog_waits, fixture, AWAIT_DEADLINE_MS));
    EXPECT_RUN(0, "epilog --job f1");
    assert_int_equal(fixture_join(prolog), 0);
    assert_int_equal(mark_of(fixture, 1), 0);
    EXPECT_RUN(0, "epilog --job f2");
    testbed_destroy(testbed);
}

/* No further request, and the same report when it comes later. */
static void report__that_is_late_tells_it(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    (void)realbroker_reserve(testbed, "f17", ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f17");
    testbed_kill_broker(testbed);
    set_counters(fixture, "n1", "cxi0", 1001, 2000, 30);
    EXPECT_RUN(0, "epilog --job f17");
    set_counters(fixture, "n1", "cxi0", 5000, 2000, 30); /* another's */
    assert_int_equal(testbed_start_broker(testbed), 0);
    EXPECT_RUN(0, "tend");
    expect(testbed, "f17", "\"nodes\":1,");
    expect(testbed, "f17", "\"tx_octets\":1,\"rx_octets\":0,");
    testbed_destroy(testbed);
}

static void node__without_counters_tells_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    char path[PATH_SIZE];
    (void)realbroker_reserve(testbed, "f17", ONE_NODE, 201);
    be(fixture, "no-such-node");
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "epilog --job f17");
    expect(testbed, "f17", "\"nodes\":0,");
    EXPECT_RUN(0, "traffic --over 0ms");
    fixture_expect_err(fixture, "none of the counters that node.conf names is in");
    (void)realbroker_reserve(testbed, "f18", ONE_NODE, 201);
    be(fixture, "n1");
    fixture_set_config(fixture, "traffic = no\n");
    EXPECT_RUN(0, "prolog --job f18");
    snprintf(path, sizeof path, "%s/spool", fixture->folder);
    assert_false(fixture_edit_spool(fixture, "2", "traffic", NULL));
    EXPECT_RUN(0, "epilog --job f18");
    expect(testbed, "f18", "\"nodes\":0,");
    testbed_destroy(testbed);
}

static void commands__show_it(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    char command[PATH_SIZE + 64], out[4096] = "";
    (void)realbroker_reserve(testbed, "f17", ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f17");
    set_counters(fixture, "n1", "cxi0", 1500, 2000, 30);
    EXPECT_RUN(0, "epilog --job f17");
    snprintf(command, sizeof command,
             "%s traffic f17; PATH=/nonexistent %s traffic --live f17 2>&1; echo =$?", MCASTCTL,
             MCASTCTL);
    FILE *file = popen(command, "re");
    assert_non_null(file);
    out[fread(out, 1, sizeof out - 1, file)] = '\0';
    assert_int_equal(pclose(file), 0);
    assert_non_null(strstr(out, "500"));
    assert_non_null(strstr(out, "n1 cxi1, 0 sent and received"));
    assert_non_null(strstr(out, "without nodes that cannot count it"));
    assert_non_null(strstr(out, "none: no NIC was paused"));
    assert_non_null(
        strstr(out, "srun --jobid f17 --overlap --nodes 1 --ntasks-per-node 1 mcast-node"));
    assert_non_null(strstr(out, "=1\n"));
    EXPECT_RUN(0, "traffic --over 0ms");
    fixture_expect_out(fixture, "n1               cxi0                    0                0"
                                "                0                -                0");
    EXPECT_RUN(0, "traffic --over 0ms --json");
    fixture_expect_out(fixture, "{\"device\":\"cxi1\",\"tx_octets\":0,\"rx_octets\":0,"
                                "\"tx_packets\":0,\"paused\":0}");
    testbed_destroy(testbed);
}

/* ---- while the job runs ---- */

struct watch {
    struct fixture *fixture;
    struct process *process;
    const char *words;
    unsigned long long tx;
};

static bool log_has(void *arg)
{
    struct watch *watch = arg;
    char path[PATH_SIZE], text[FIXTURE_TEXT_SIZE] = "";
    set_counters(watch->fixture, "n1", "cxi0", watch->tx += 1000000, 2000, 30);
    FILE *file = fopen(folder_path(path, sizeof path, watch->fixture->folder, "live"), "re");
    if (!file)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return strstr(text, watch->words);
}

static bool live_has_ended(void *arg)
{
    const struct watch *watch = arg;
    return !process_alive(watch->process);
}

/* mcastctl, with a resource manager that knows one node: this one. */
static void start_live(struct watch *watch, const char *option)
{
    struct fixture *fixture = watch->fixture;
    char path[PATH_SIZE], text[1024], paths[PATH_SIZE * 2];
    snprintf(
        text, sizeof text,
        "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n"
        "[ \"$1 $2 $3 $4\" = '--jobid=f17 --overlap --nodes=1 --ntasks-per-node=1' ] || exit 9\n"
        "echo $$ >%s/pid\nshift 6\n"
        "exec %s traffic --config %s/node.conf --node n1 \"$@\"\n",
        fixture->folder, MCAST_NODE, fixture->folder);
    assert_int_equal(folder_write(fixture->folder, "srun", 0755, text), 0);
    snprintf(paths, sizeof paths, "%s:/usr/bin:/bin", fixture->folder);
    setenv("PATH", paths, 1);
    unsetenv("FLUX_URI");
    const char *const argv[] = {MCASTCTL, "traffic", "--live", "--every",
                                "500ms",  "f17",     option,   NULL};
    (void)unlink(folder_path(path, sizeof path, fixture->folder, "live"));
    watch->process = process_start(argv, path);
    assert_non_null(watch->process);
}

static void await_words(struct watch *watch, const char *words)
{
    watch->words = words;
    if (!await(log_has, watch, AWAIT_DEADLINE_MS))
        fail_msg("mcastctl traffic --live does not say: %s", words);
}

static void live__goes_on_until_the_job_is_over(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    struct watch watch = {.fixture = fixture, .tx = 1000};
    char path[PATH_SIZE];
    int pid = 0;
    (void)realbroker_reserve(testbed, "f17", ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f17");
    /* Ctrl-C ends it, and what it started. */
    start_live(&watch, "--json");
    await_words(&watch, "{\"node\":\"n1\",\"over_ms\":500,\"nics\":[{\"device\":\"cxi0\"");
    process_signal(watch.process, SIGINT);
    assert_true(await(live_has_ended, &watch, AWAIT_DEADLINE_MS));
    assert_int_equal(process_exit_status(watch.process), 0);
    process_kill(watch.process);
    FILE *file = fopen(folder_path(path, sizeof path, fixture->folder, "pid"), "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    assert_int_equal(kill(pid, 0), -1);
    /* Lines, as this is no terminal; and the end of the job. */
    start_live(&watch, NULL);
    await_words(&watch, "  1 nodes, octets/s: ");
    await_words(&watch, " M sent, 0 received; 0 cycles/s paused\n");
    release(testbed, "f17");
    assert_true(await(live_has_ended, &watch, AWAIT_DEADLINE_MS));
    assert_int_equal(process_exit_status(watch.process), 0);
    process_kill(watch.process);
    await_words(&watch, "job elcap/f17 is over");
    start_live(&watch, NULL);
    assert_true(await(live_has_ended, &watch, AWAIT_DEADLINE_MS));
    assert_int_equal(process_exit_status(watch.process), 1);
    process_kill(watch.process);
    await_words(&watch, "does not run any more");
    EXPECT_RUN(0, "epilog --job f17");
    testbed_destroy(testbed);
}

/* A step that cannot start, a terminal. */
static void live__says_why_there_is_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = begin(fixture);
    struct watch watch = {.fixture = fixture, .tx = 1000};
    (void)realbroker_reserve(testbed, "f17", ONE_NODE, 201);
    be(fixture, "n1");
    start_live(&watch, "--through=flux");
    assert_true(await(live_has_ended, &watch, AWAIT_DEADLINE_MS));
    assert_int_equal(process_exit_status(watch.process), 1);
    process_kill(watch.process);
    await_words(&watch, "the broker does not reach nodes");
    fixture_set_config(fixture, "this is wrong\n");
    start_live(&watch, NULL);
    assert_true(await(live_has_ended, &watch, AWAIT_DEADLINE_MS));
    assert_int_equal(process_exit_status(watch.process), 1);
    process_kill(watch.process);
    await_words(&watch, "the nodes tell nothing any more: mcast-node");
    testbed_destroy(testbed);
}

/* The same with the tree that mock-cxi writes, and the names that node.conf has by default. */
static void counters__of_the_default_names_are_read(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    char text[PATH_SIZE];
    snprintf(text, sizeof text, "sysfs = %s/cxi/sysfs\nmissed_every = 0s\n", fixture->folder);
    fixture_set_config(fixture, text);
    fixture_set_cxi(fixture, "nics = 2\nsysfs = yes\n[nic]\ntx_octets = 1000\npaused = 7\n");
    (void)realbroker_reserve(testbed, "f17", ONE_NODE, 201);
    EXPECT_RUN(0, "prolog --job f17");
    fixture_set_cxi(fixture, "nics = 2\nsysfs = yes\n[nic]\ntx_octets = 1000\npaused = 7\n"
                             "[cxi1]\ntx_octets = 4000\nrx_octets = 9\ntx_packets = 5\n"
                             "rx_packets = 6\npaused = 8\n");
    EXPECT_RUN(0, "list"); /* the mock writes its files */
    EXPECT_RUN(0, "epilog --job f17");
    expect(testbed, "f17",
           "\"tx_octets\":3000,\"rx_octets\":9,\"tx_packets\":5,\"rx_packets\":6,"
           "\"paused\":1,\"lacking\":[]");
    expect(testbed, "f17", "\"congested\":{\"node\":\"n1\",\"device\":\"cxi1\",\"paused\":1}");
    testbed_destroy(testbed);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, fixture_create, fixture_destroy)
UNIT_MAIN(WITH(two_nodes__are_summed), WITH(reset__is_not_told), WITH(shared_node__is_told),
          WITH(mark__is_written_once), WITH(job__that_has_ended_is_not_marked),
          WITH(report__that_is_late_tells_it), WITH(node__without_counters_tells_nothing),
          WITH(commands__show_it), WITH(live__goes_on_until_the_job_is_over),
          WITH(live__says_why_there_is_nothing), WITH(counters__of_the_default_names_are_read))
