/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char request_hwcoll[] = "min_nodes = 64\n"
                              "total_addresses = 4086\n"
                              "system_nodes = 11136\n";

const char request_hwcoll_for_many[] = "min_nodes = 64\n"
                                       "total_addresses = 65536\n"
                                       "addresses_per_job = 1\n"
                                       "system_nodes = 11136\n";

static uint64_t reported; /* reservation */

void request_id(size_t index, char out[REQUEST_ID_SIZE])
{
    snprintf(out, REQUEST_ID_SIZE, "f%011zx", index & 0xfffffffffff);
}

static void address(const char *method, size_t index, struct load_request *out)
{
    char id[REQUEST_ID_SIZE];

    request_id(index, id);
    out->method = method;
    out->body[0] = '\0';
    snprintf(out->path, sizeof out->path, "/v1/clusters/elcap/jobs/%s", id);
}

static void ask(size_t index, int vnis, struct load_request *out)
{
    address("PUT", index, out);
    snprintf(out->body, sizeof out->body,
             "{\"uid\":5588,\"nodes\":\"elcap[1-16]\",\"cores_per_node\":96,\"vni_count\":%d,"
             "\"hwcoll\":\"auto\",\"traffic_classes\":[\"best_effort\",\"low_latency\"]}",
             vnis);
}

void request_reserve(size_t index, struct load_request *out)
{
    ask(index, 1, out);
}

void request_reserve_without_vni(size_t index, struct load_request *out)
{
    ask(index, 0, out);
}

void request_eligible(size_t index, struct load_request *out)
{
    address("PUT", index, out);
    snprintf(out->body, sizeof out->body, "{\"uid\":5588,\"nodes\":\"elcap[1-128]\"}");
}

void request_release(size_t index, struct load_request *out)
{
    address("DELETE", index, out);
}

int request_reserve_reported(const struct testbed *testbed, size_t nodes)
{
    char body[LOAD_BODY_SIZE];
    struct plainhttp_reply reply;

    snprintf(body, sizeof body, "{\"uid\":5588,\"nodes\":\"elcap[1-%zu]\"}", nodes);
    const int status = plainhttp_call(testbed_http(testbed), "PUT",
                                      "/v1/clusters/elcap/jobs/reported", body, &reply);
    reported = (uint64_t)json_integer_value(json_object_get(reply.json, "number"));
    plainhttp_reply_release(&reply);
    if (status == 201)
        return 0;
    fprintf(stderr, "a job of %zu nodes was answered %d\n", nodes, status);
    return -1;
}

void request_set_reported(uint64_t number)
{
    reported = number;
}

void request_report(size_t index, struct load_request *out)
{
    out->method = "PUT";
    snprintf(out->path, sizeof out->path, "/v1/clusters/elcap/jobs/reported/nodes/elcap%zu",
             index + 1);
    snprintf(out->body, sizeof out->body,
             "{\"state\":\"destroyed\",\"number\":%" PRIu64 ",\"order\":1}", reported);
}

void request_echo(size_t index, struct load_request *out)
{
    out->method = "POST";
    snprintf(out->path, sizeof out->path, "/echo");
    const int length =
        snprintf(out->body, sizeof out->body,
                 "{\"number\":%zu,\"uid\":5588,\"nodes\":\"elcap[1-16]\",\"pad\":\"", index);
    memset(out->body + length, 'x', (size_t)(198 - length));
    memcpy(out->body + 198, "\"}", 3);
}
