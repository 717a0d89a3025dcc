/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/stall.h"
#include "tests/bench/turn.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The inventory of a large machine (P1): 1,024 switches with 64 ports, of which 45 are NICs'
 * places, and nodes of four NICs each in a file. mock-fm, in Python, is not what is measured: it
 * runs with the lowest priority. */

enum {
    GROUPS = 64,
    SWITCHES = 16,
    PORTS = 64,
    EDGE = 45, /* the last of a switch */
    NICS = 4,
    TOPOLOGIES = 51,
    TEXT_SIZE = 512,
    READ_MS = 300000,
    IDLEST = 19
};

static const struct report_goal worker = {.id = "P1w",
                                          .what = "inventory decoded and indexed, off the loop, s",
                                          .sense = REPORT_AT_MOST,
                                          .limit = 2};
static const struct report_goal memory = {.id = "P1m",
                                          .what = "memory of the inventory, all nodes' NICs, MB",
                                          .sense = REPORT_AT_MOST,
                                          .limit = 40};
static const struct report_goal spans = {
    .id = "P1t", .what = "topology of a job of all nodes, ms", .sense = REPORT_AT_MOST, .limit = 5};
static const char of_file[] = "the same, broker's CPU (file)";
static const char of_reports[] = "the same, broker's CPU (told)";
static const struct report_goal turn_cpu = {.id = "P1c",
                                            .what =
                                                "longest turn, the inventory is read, ms of CPU",
                                            .sense = REPORT_NEVER_ABOVE,
                                            .limit = 5};
static const struct report_goal unharmed = {
    .id = "P1r",
    .what = "reserves a second while the inventory is read / while not",
    .sense = REPORT_AT_LEAST,
    .limit = 0.8};

/* Four NICs a node, one place after the other; in 20 bits. */
static size_t address_of(size_t node, size_t nic)
{
    const size_t place = NICS * node + nic, s = place / EDGE;

    return (s / SWITCHES) << 11 | (s % SWITCHES) << 6 | (PORTS - EDGE + place % EDGE);
}

static int write_nodes(const char *folder, size_t nodes)
{
    char path[TEXT_SIZE];
    FILE *out = fopen(folder_path(path, sizeof path, folder, "genders"), "we");

    for (size_t i = 0; out && i < nodes; i++) {
        fprintf(out, "elcap%zu ", i + 1);
        for (size_t j = 0; j < NICS; j++)
            fprintf(out, "%snic%zu=0x%05zx", j > 0 ? "," : "", j, address_of(i, j));
        fputc('\n', out);
    }
    return out && fclose(out) == 0 ? 0 : -1;
}

/* Of the broker's process, while its largest answers are decoded, too; -1: not known. */
static double most_resident_mb(const struct testbed *testbed)
{
    static const char word[] = "VmHWM:";
    char path[64], line[256];
    double kb = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process_pid(testbed_broker(testbed)));
    FILE *status = fopen(path, "re");

    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, word, strlen(word)) == 0)
            kb = strtod(line + strlen(word), NULL);
    if (status)
        fclose(status);
    return kb < 0 ? -1 : kb / 1024;
}

struct reading {
    const struct testbed *testbed;
    double version;
};

static bool is_read(void *arg)
{
    const struct reading *reading = arg;
    return metric_value(reading->testbed, "mcastd_inventory_version") > reading->version;
}

static int await_version(const struct testbed *testbed, double version)
{
    struct reading reading = {testbed, version};

    if (await(is_read, &reading, READ_MS))
        return 0;
    fprintf(stderr, "the inventory is not read\n");
    return -1;
}

/* A port is down, or up again: the whole list of ports is read again. */
static int change_port(const struct testbed *testbed, bool down)
{
    struct plainhttp_reply reply;
    char body[128];
    snprintf(body, sizeof body, "{\"set\":{\"/fabric/ports/g0s0p%d\":\"%s\"}}", PORTS - 1,
             down ? "OFFLINE" : "ONLINE");
    const int status =
        plainhttp_call(testbed_fm_http(testbed), "POST", "/mock/fabric", body, &reply);

    plainhttp_reply_release(&reply);
    return status == 200 ? 0 : -1;
}

/* What a node tells of its NICs: the same as the file. */
static void report_nics(size_t index, struct load_request *out)
{
    size_t used;
    out->method = "PUT";
    snprintf(out->path, sizeof out->path, "/v1/nodes/elcap%zu/inventory", index + 1);
    used = (size_t)snprintf(out->body, sizeof out->body, "{\"order\":1,\"nics\":[");
    for (size_t j = 0; j < NICS; j++)
        used += (size_t)snprintf(
            out->body + used, sizeof out->body - used,
            "%s{\"device\":\"cxi%zu\",\"address\":%zu,\"speed\":200000,\"link\":\"up\","
            "\"serial\":\"GR21%08zu\",\"firmware\":\"1.5.41\"}",
            j > 0 ? "," : "", j, address_of(index, j), NICS * index + j);
    snprintf(out->body + used, sizeof out->body - used, "]}");
}

static int reserve_whole(const struct bench *bench, const struct testbed *testbed)
{
    struct plainhttp_reply reply;
    char body[128];
    snprintf(body, sizeof body, "{\"uid\":5588,\"nodes\":\"elcap[1-%zu]\"}", bench->nodes);
    const int status =
        plainhttp_call(testbed_http(testbed), "PUT", "/v1/clusters/elcap/jobs/whole", body, &reply);

    plainhttp_reply_release(&reply);
    return status == 201 ? 0 : -1;
}

/* Its answer, and the broker's processor time for it; both in ms. */
static int measure_topology(const struct bench *bench, const struct testbed *testbed,
                            const char *key, const char *cpu_key)
{
    static int64_t times[TOPOLOGIES];
    struct plainhttp *http = testbed_http(testbed);
    struct plainhttp_reply reply;
    int status = 0;
    const long long before = process_cpu_ns(testbed_broker(testbed));

    for (int i = 0; status < 300 && i < TOPOLOGIES; i++) {
        const int64_t begin = await_now_ns();

        status =
            plainhttp_call(http, "GET", "/v1/clusters/elcap/jobs/whole/topology", NULL, &reply);
        times[i] = await_now_ns() - begin;
        if (json_integer_value(json_object_get(reply.json, "placed")) != (json_int_t)bench->nodes)
            status = 500;
        plainhttp_reply_release(&reply);
    }
    if (status >= 300) {
        fprintf(stderr, "the topology of a job: HTTP %d\n", status);
        return -1;
    }
    const long long used = process_cpu_ns(testbed_broker(testbed)) - before;
    sample_sort(times, TOPOLOGIES);
    const int64_t median = times[TOPOLOGIES / 2];
    report_figure(bench->report, key, "ms", (double)median / 1e6);
    report_figure(bench->report, cpu_key, "ms", (double)used / TOPOLOGIES / 1e6);
    if (cpu_key == of_reports) /* the slower way */
        report_goal(bench->report, &spans, (double)median / 1e6);
    return 0;
}

/* From the file alone, and when all nodes have told their NICs. */
static int measure_topologies(const struct bench *bench, struct testbed *testbed)
{
    const struct load load = {.socket = testbed_socket(testbed),
                              .connections = 64,
                              .count = bench->nodes,
                              .make = report_nics,
                              .expected = 200};
    struct turn told;

    if (reserve_whole(bench, testbed) < 0 ||
        measure_topology(bench, testbed, "topology of a job, nodes are in a file", of_file) < 0 ||
        turn_measure(testbed_broker(testbed), &load, &told) < 0)
        return -1;
    report_figure(bench->report, "a node's report of its NICs, broker's CPU", "µs", told.cpu_us);
    return measure_topology(bench, testbed, "topology of a job, nodes have told it", of_reports);
}

static int reserve_some(const struct bench *bench, struct testbed *testbed, size_t *first,
                        struct turn *out)
{
    const struct load load = {.socket = testbed_socket(testbed),
                              .connections = 64,
                              .first = *first,
                              .count = bench->requests,
                              .make = request_reserve_without_vni,
                              .expected = 201};
    *first += bench->requests;
    return turn_measure(testbed_broker(testbed), &load, out);
}

/* Reserves while nothing is read, and while the list of ports is. */
static int measure_reserves(const struct bench *bench, struct testbed *testbed, size_t *first)
{
    const double version = metric_value(testbed, "mcastd_inventory_version");
    struct turn quiet, amid;

    if (reserve_some(bench, testbed, first, &quiet) < 0 ||
        change_port(testbed, (int)version % 2 == 1) < 0 ||
        reserve_some(bench, testbed, first, &amid) < 0 || await_version(testbed, version) < 0)
        return -1;
    report_goal(bench->report, &unharmed, amid.rate / quiet.rate);
    report_figure(bench->report, "reserves while no inventory is read", "/s", quiet.rate);
    report_figure(bench->report, "reserves while the inventory is read", "/s", amid.rate);
    report_figure(bench->report, "a reserve while none is read, 99 % within", "µs", quiet.p99_us);
    report_figure(bench->report, "a reserve while it is read, 99 % within", "µs", amid.p99_us);
    return 0;
}

static int start(struct testbed *testbed)
{
    if (testbed_start_fm(testbed) < 0 || testbed_start_broker(testbed) < 0 ||
        testbed_await_link(testbed) < 0)
        return -1;
    (void)setpriority(PRIO_PROCESS, (id_t)testbed_fm_pid(testbed), IDLEST);
    return 0;
}

static int measure(const struct bench *bench, struct testbed *testbed, double without_mb)
{
    size_t first = 0;

    if (start(testbed) < 0 || await_version(testbed, 0) < 0)
        return -1;
    report_goal(bench->report, &worker, metric_value(testbed, "mcastd_inventory_worker_seconds"));
    report_figure(bench->report, "the same with the answers of mock-fm", "s",
                  metric_value(testbed, "mcastd_inventory_read_duration_seconds"));
    report_goal(bench->report, &memory, most_resident_mb(testbed) - without_mb);
    report_figure(bench->report, "memory of the broker without an inventory", "MB", without_mb);
    report_figure(bench->report, "kept of the fabric manager's lists", "MB",
                  metric_value(testbed, "mcastd_inventory_memory_bytes") / 1e6);
    report_figure(bench->report, "longest turn, nothing but the inventory is read, CPU", "ms",
                  1e3 * metric_value(testbed, "mcastd_loop_cpu_max_seconds"));
    if (measure_topologies(bench, testbed) < 0 ||
        absence_note(bench->report, testbed, "loop away, the inventory is read") < 0)
        return -1;
    for (size_t i = 0; i < bench->repetitions; i++) {
        printf("P1, inventory, repetition %zu of %zu\n", i + 1, bench->repetitions);
        fflush(stdout);
        if (measure_reserves(bench, testbed, &first) < 0)
            return -1;
    }
    report_goal(bench->report, &turn_cpu,
                1e3 * metric_value(testbed, "mcastd_loop_cpu_max_seconds"));
    return absence_note(bench->report, testbed, "loop away, reserves and the inventory") < 0
               ? -1
               : testbed_stop_broker(testbed);
}

/* What the broker has without: the difference is the inventory's. */
static int measure_without(const struct testbed_options *options, double *mb)
{
    struct testbed_options bare = *options;
    bare.inventory = NULL;
    struct testbed *testbed = testbed_create(&bare);
    int result = testbed ? start(testbed) : -1;

    *mb = result == 0 ? most_resident_mb(testbed) : 0;
    if (result == 0)
        result = testbed_stop_broker(testbed);
    testbed_destroy(testbed);
    return result;
}

int part_inventory(const struct bench *bench)
{
    static const char *const mock_args[] = {"--fabric", "64x16x64", NULL};
    char folder[FOLDER_PATH_SIZE], inventory[TEXT_SIZE];
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .mock_fm = bench->mock_fm,
                                            .mock_args = mock_args,
                                            .inventory = inventory,
                                            .vni = "hold = 0s\n",
                                            .hwcoll = request_hwcoll};
    double without = 0;

    if (folder_create(folder) < 0)
        return -1;
    snprintf(inventory, sizeof inventory, "poll = 1s\nfile = %s/genders\n", folder);
    struct testbed *testbed = NULL;
    int result = write_nodes(folder, bench->nodes);
    if (result == 0)
        result = measure_without(&options, &without);
    if (result == 0)
        testbed = testbed_create(&options);
    if (testbed)
        result = measure(bench, testbed, without);
    testbed_destroy(testbed);
    folder_destroy(folder);
    return testbed ? result : -1;
}
