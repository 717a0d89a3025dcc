/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/storm.h"

#include "tests/bench/sample.h"
#include "tests/bench/stall.h"
#include "tests/bench/metric.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"
#include "tests/system/rig/wire.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECTIONS = 512,
    STALLED_MS = 60000,
    RESERVES_MAX = 4096, /* of which the time is kept */
    PATH_SIZE = 256,
    BODY_SIZE = 512,
    LIST_SIZE = 65536 + 1 /* the longest that is taken */
};

static const uint64_t tag_of_reserve = UINT64_MAX;

/* The job whose nodes report. */
struct job {
    const char *name;
    uint64_t number;
    size_t nodes;
};

/* One wave on its way. */
struct wave {
    const struct job *job;
    const char *state;
    size_t sent, answered, in_flight;
    bool reserving, failed;
    size_t reserves;
    int64_t reserve_ns[RESERVES_MAX];
};

/* ---- what is asked ---- */

static size_t node_number(size_t index)
{
    return 2 * index + 1;
}

static void make_report(const struct wave *wave, size_t index, char *path, char *body)
{
    static const char services[] = ",\"services\":[{\"device\":\"cxi0\",\"id\":12},"
                                   "{\"device\":\"cxi1\",\"id\":12},{\"device\":\"cxi2\",\"id\":12}"
                                   ",{\"device\":\"cxi3\",\"id\":12}]";
    static const char traffic[] =
        ",\"traffic\":{\"seconds\":3600,\"tx_octets\":123456789012,\"rx_octets\":123456789012,"
        "\"tx_packets\":1234567890,\"rx_packets\":1234567890,\"paused\":1234567890,"
        "\"unclear\":0,\"shared\":false,\"slowest\":{\"device\":\"cxi2\",\"octets\":1234567890},"
        "\"congested\":{\"device\":\"cxi1\",\"paused\":123456789}}";
    const bool created = strcmp(wave->state, "created") == 0;

    snprintf(path, PATH_SIZE, "/v1/clusters/elcap/jobs/%s/nodes/elcap%zu", wave->job->name,
             node_number(index));
    snprintf(body, BODY_SIZE, "{\"state\":\"%s\",\"number\":%" PRIu64 ",\"order\":%zu%s}",
             wave->state, wave->job->number, created ? (size_t)1 : (size_t)2,
             created ? services : traffic);
}

static int send_report(struct wave *wave, struct wire *wire)
{
    char path[PATH_SIZE], body[BODY_SIZE];

    make_report(wave, wave->sent, path, body);
    wave->in_flight++;
    return wire_send(wire, wave->sent++, "PUT", path, body);
}

static int send_reserve(struct wave *wave, struct wire *wire)
{
    char path[PATH_SIZE];

    wave->reserving = true;
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s-%s-%zu", wave->job->name, wave->state,
             wave->reserves);
    return wire_send(wire, tag_of_reserve, "PUT", path,
                     "{\"uid\":5588,\"nodes\":\"other[1-16]\",\"vni_count\":1}");
}

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct wave *wave = arg;
    const bool reserve = tag == tag_of_reserve;

    if (reply->status != (reserve ? 201 : 200) && !wave->failed) {
        fprintf(stderr, "a %s was answered %d: %.300s\n", reserve ? "reserve" : "node's report",
                reply->status, reply->body ? reply->body : "");
        wave->failed = true;
    }
    if (reserve) {
        if (wave->reserves < RESERVES_MAX)
            wave->reserve_ns[wave->reserves++] = reply->latency_ns;
        wave->reserving = false;
    } else {
        wave->in_flight--;
        wave->answered++;
    }
}

/* ---- one wave ---- */

static int drive(struct wave *wave, struct wire *wire)
{
    const size_t nodes = wave->job->nodes;

    while (wave->answered < nodes || wave->reserving) {
        int result = 0;

        if (!wave->reserving && wave->answered < nodes)
            result = send_reserve(wave, wire);
        while (result == 0 && wave->sent < nodes && wave->in_flight < CONNECTIONS)
            result = send_report(wave, wire);
        if (result < 0) {
            perror("the broker's socket");
            return -1;
        }
        if (wire_turn(wire, STALLED_MS) == 0) {
            fprintf(stderr, "no answer for %d s\n", STALLED_MS / 1000);
            return -1;
        }
        if (wave->failed)
            return -1;
    }
    return 0;
}

static double time_us(const struct wave *wave, size_t at)
{
    return (double)wave->reserve_ns[at] / 1e3;
}

static int run(struct testbed *testbed, struct wave *wave, struct storm_wave *out)
{
    const struct wire_options options = {.socket = testbed_socket(testbed),
                                         .connections = CONNECTIONS + 1, /* one for reserves */
                                         .depth = 1,
                                         .done = on_reply,
                                         .arg = wave};
    struct wire *wire = wire_create(&options);
    const double commits = metric_value(testbed, "mcastd_commits_total");
    const long long cpu = process_cpu_ns(testbed_broker(testbed));
    const int64_t began = await_now_ns();
    const int result = wire && commits >= 0 ? drive(wave, wire) : -1;

    wire_destroy(wire);
    if (result < 0)
        return -1;
    out->seconds = (double)(await_now_ns() - began) / 1e9;
    out->cpu_us =
        (double)(process_cpu_ns(testbed_broker(testbed)) - cpu) / 1e3 / (double)wave->answered;
    out->commits = metric_value(testbed, "mcastd_commits_total") - commits;
    sample_sort(wave->reserve_ns, wave->reserves);
    out->reserve_median_us = time_us(wave, wave->reserves / 2);
    out->reserve_p99_us = time_us(wave, wave->reserves - wave->reserves / 100 - 1);
    return 0;
}

static int tell(struct testbed *testbed, const struct job *job, const char *state,
                struct storm_wave *out)
{
    struct wave *wave = calloc(1, sizeof *wave);
    int result = -1;

    if (wave) {
        wave->job = job;
        wave->state = state;
        result = run(testbed, wave, out);
    }
    free(wave);
    return result;
}

/* ---- the job ---- */

/* Every second node of a row, so that no range makes the list shorter: that of a whole El Capitan
 * is nearly as long as a reserve takes. */
static void make_list(size_t nodes, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "elcap[%zu", node_number(0));

    for (size_t i = 1; i < nodes && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, ",%zu", node_number(i));
    if (used < size)
        snprintf(out + used, size - used, "]");
}

static int start(struct testbed *testbed, struct job *job)
{
    char path[PATH_SIZE], list[LIST_SIZE], body[LIST_SIZE + BODY_SIZE];
    struct plainhttp_reply reply;

    make_list(job->nodes, list, sizeof list);
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job->name);
    snprintf(body, sizeof body, "{\"uid\":5588,\"nodes\":\"%s\",\"cores_per_node\":96}", list);
    const int status = plainhttp_call(testbed_http(testbed), "PUT", path, body, &reply);
    if (status == 201)
        job->number = (uint64_t)json_integer_value(json_object_get(reply.json, "number"));
    else
        fprintf(stderr, "the reserve of %zu nodes was answered %d: %.300s\n", job->nodes, status,
                reply.text ? reply.text : "");
    plainhttp_reply_release(&reply);
    return status == 201 ? 0 : -1;
}

/* Whether the broker answers a call that is about the job itself like this. */
static int expect(struct testbed *testbed, const struct job *job, const char *method, int status)
{
    char path[PATH_SIZE];
    struct plainhttp_reply reply;

    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job->name);
    const int got = plainhttp_call(testbed_http(testbed), method, path, NULL, &reply);
    if (got != status)
        fprintf(stderr, "%s %s: %d instead of %d\n", method, path, got, status);
    plainhttp_reply_release(&reply);
    return got == status ? 0 : -1;
}

/* ---- what it takes ---- */

/* Pages of the ledger that are in use, in the file or in its log; -1 with a word on stderr. */
static double ledger_bytes(const struct testbed *testbed)
{
    static const char sql[] = "SELECT (page_count - freelist_count) * page_size FROM"
                              " pragma_page_count, pragma_freelist_count, pragma_page_size";
    char path[PATH_SIZE];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    double bytes = -1;

    folder_path(path, sizeof path, testbed_folder(testbed), "state.db");
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        bytes = sqlite3_column_double(statement, 0);
    else
        fprintf(stderr, "%s: %s\n", path, db ? sqlite3_errmsg(db) : "out of memory");
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return bytes;
}

/* ---- the whole of it ---- */

static int begin(struct testbed *testbed, struct job *job, struct storm *out)
{
    const double memory = metric_value(testbed, "process_resident_memory_bytes");
    const double ledger = ledger_bytes(testbed);

    if (memory < 0 || ledger < 0 || start(testbed, job) < 0 ||
        tell(testbed, job, "created", &out->created) < 0)
        return -1;
    out->memory_bytes =
        (metric_value(testbed, "process_resident_memory_bytes") - memory) / (double)job->nodes;
    out->ledger_bytes = (ledger_bytes(testbed) - ledger) / (double)job->nodes;
    return 0;
}

/* What the reports changed shows in the end: their job is there until the last of them, and then no
 * more. */
static int end(struct testbed *testbed, const struct job *job, struct storm *out)
{
    if (expect(testbed, job, "DELETE", 202) < 0 || expect(testbed, job, "GET", 200) < 0)
        return -1;
    return tell(testbed, job, "destroyed", &out->destroyed) < 0 ? -1
                                                                : expect(testbed, job, "GET", 404);
}

int storm_measure(const struct storm_options *options, struct storm *out)
{
    /* No VNI comes free by the time alone. */
    const struct testbed_options testbed_options = {.mcastd = options->mcastd,
                                                    .vni = "hold = 1h\n"};
    struct testbed *testbed = testbed_create(&testbed_options);
    struct job first = {.name = "first", .nodes = options->nodes / 4},
               whole = {.name = "whole", .nodes = options->nodes};
    struct storm_wave warm_up;
    int result = -1;

    if (testbed && testbed_start_broker(testbed) == 0 && start(testbed, &first) == 0 &&
        tell(testbed, &first, "created", &warm_up) == 0 && begin(testbed, &whole, out) == 0 &&
        end(testbed, &whole, out) == 0 &&
        absence_note(options->report, testbed, "loop away, nodes report") == 0)
        result = testbed_stop_broker(testbed);
    testbed_destroy(testbed);
    return result;
}
