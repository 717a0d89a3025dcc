/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/parts.h"
#include "tests/system/http/testcert.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A join through the broker, over TLS on a kept connection, beside one at the fabric manager
 * itself, on a kept connection too. They take turns, a tree each, which goes at once. */

#define TREES "/fabric/collectives/multicasts"
enum { TEXT_SIZE = 4096, NODES = 128, EACH_MAX = 2000 };

static const struct report_goal g25 = {.id = "G25",
                                       .what = "what the broker adds to a join, over TLS, ms",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 2};

static const char clusters[] = "[cluster \"direct\"]\nusers = root\nthrough = direct\n";

struct side { /* a job, and where it makes its trees */
    const char *cluster, *name;
    struct plainhttp *task;
    char body[TEXT_SIZE];
    int64_t times[EACH_MAX];
};

static const char *env_of(const struct plainhttp_reply *reply, const char *name)
{
    return json_string_value(json_object_get(json_object_get(reply->json, "env"), name));
}

static int start_job(const struct testbed *testbed, struct side *side, const char *base)
{
    static const char job[] = "{\"uid\":5588,\"node_count\":128}";
    char path[TEXT_SIZE];
    struct plainhttp_reply reply;

    snprintf(path, sizeof path, "/v1/clusters/%s/jobs/1", side->cluster);
    const int status = plainhttp_call(testbed_http(testbed), "PUT", path, job, &reply);
    const char *token = env_of(&reply, "FI_CXI_COLL_MCAST_TOKEN");
    const json_t *vni = json_array_get(json_object_get(reply.json, "vnis"), 0);
    int used = snprintf(side->body, sizeof side->body, "{\"macs\":[");
    for (int i = 0; i < NODES; i++)
        used += snprintf(side->body + used, sizeof side->body - (size_t)used, "%s\"1:12:%02X\"",
                         i > 0 ? "," : "", i);
    snprintf(side->body + used, sizeof side->body - (size_t)used,
             "],\"vni\": %d,\"timeout\":20000000,\"jobID\":\"%s-1\",\"jobStepID\":\"0\"}",
             (int)json_integer_value(vni), side->cluster);
    side->task = plainhttp_create(base, NULL);
    const int result = status == 201 && token && side->task &&
                               plainhttp_trust_anyone(side->task) == 0 &&
                               plainhttp_use_bearer(side->task, token) == 0
                           ? 0
                           : -1;
    plainhttp_reply_release(&reply);
    if (result < 0)
        fprintf(stderr, "the job of %s does not start (%d)\n", side->cluster, status);
    return result;
}

/* A tree is made, which is timed, and deleted. */
static int make_tree(struct side *side, int64_t *time_ns)
{
    char path[TEXT_SIZE];
    struct plainhttp_reply reply;
    const int64_t begin = await_now_ns();
    int status = plainhttp_call(side->task, "POST", TREES, side->body, &reply);

    *time_ns = await_now_ns() - begin;
    snprintf(path, sizeof path, TREES "/%d",
             (int)json_integer_value(json_object_get(reply.json, "mcastID")));
    plainhttp_reply_release(&reply);
    if (status == 200 || status == 201) {
        status = plainhttp_call(side->task, "DELETE", path, NULL, &reply);
        plainhttp_reply_release(&reply);
    }
    if (status == 200)
        return 0;
    fprintf(stderr, "a tree %s: HTTP %d\n", side->name, status);
    return -1;
}

static double median_ms(struct side *side, size_t count)
{
    sample_sort(side->times, count);
    const int64_t median = side->times[count / 2];
    return (double)median / 1e6;
}

static int repeat(const struct bench *bench, struct side sides[2])
{
    const size_t count = bench->requests / 20 < EACH_MAX ? bench->requests / 20 : EACH_MAX;
    double ms[2];

    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < 2; j++)
            if (make_tree(&sides[j], &sides[j].times[i]) < 0)
                return -1;
    for (int j = 0; j < 2; j++) {
        ms[j] = median_ms(&sides[j], count);
        report_figure(bench->report, sides[j].name, "ms", ms[j]);
    }
    report_goal(bench->report, &g25, ms[1] - ms[0]);
    return 0;
}

static int measure(const struct bench *bench, struct testbed *testbed)
{
    struct side sides[2] = {{.cluster = "direct", .name = "a join at the fabric manager"},
                            {.cluster = "elcap", .name = "a join through the broker"}};
    char front[64];
    int result = -1;

    if (testbed_start_fm(testbed) == 0 && testbed_start_broker(testbed) == 0 &&
        testbed_await_link(testbed) == 0) {
        snprintf(front, sizeof front, "https://127.0.0.1:%d",
                 testbed_port(testbed, " front=127.0.0.1:"));
        result = start_job(testbed, &sides[0], testbed_fm_url(testbed)) |
                 start_job(testbed, &sides[1], front);
    }
    for (size_t i = 0; result == 0 && i < bench->repetitions; i++) {
        printf("G25, joins, repetition %zu of %zu\n", i + 1, bench->repetitions);
        fflush(stdout);
        result = repeat(bench, sides);
    }
    for (int j = 0; j < 2; j++)
        plainhttp_destroy(sides[j].task);
    return result == 0 ? testbed_stop_broker(testbed) : -1;
}

int part_relay(const struct bench *bench)
{
    const struct testcert server = {.common = "broker", .purpose = GNUTLS_KP_TLS_WWW_SERVER};
    char folder[FOLDER_PATH_SIZE], broker[TEXT_SIZE];
    const struct testbed_options options = {
        .mcastd = bench->mcastd,
        .mock_fm = bench->mock_fm,
        .broker = broker,
        .fm = "reserve_timeout = 1m\n",
        .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136\nthrough = relay\n"
                  "[front]\nlisten = 127.0.0.1:0\nurl = https://localhost:1\njob_ca = yes\n",
        .clusters = clusters};
    struct authority authority;

    if (folder_create(folder) < 0)
        return -1;
    snprintf(broker, sizeof broker, "tls_cert = %s/server.pem\ntls_key = %s/server.key\n", folder,
             folder);
    authority_init(&authority, "authority");
    authority_write(&authority, &server, folder, "server");
    struct testbed *testbed = testbed_create(&options);
    const int result = testbed ? measure(bench, testbed) : -1;

    testbed_destroy(testbed);
    authority_release(&authority);
    folder_destroy(folder);
    return result;
}
