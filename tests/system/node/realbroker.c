/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/node/realbroker.h"

#include <stdio.h>
#include <stdlib.h>

struct testbed *realbroker_start(const struct testbed_options *options)
{
    struct testbed *testbed = testbed_create(options);
    char url[160];
    assert_non_null(testbed);
    if (options->mock_fm)
        assert_int_equal(testbed_start_fm(testbed), 0);
    assert_int_equal(testbed_start_broker(testbed), 0);
    if (options->mock_fm)
        assert_int_equal(testbed_await_link(testbed), 0);
    snprintf(url, sizeof url, "unix:%s", testbed_socket(testbed));
    setenv("MCAST_URL", url, 1);
    return testbed;
}

unsigned int realbroker_reserve(struct testbed *testbed, const char *job, const char *request,
                                int status)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(plainhttp_call(testbed_http(testbed), "PUT", path, request, &reply), status);
    const json_t *vnis = json_object_get(reply.json, "vnis");
    unsigned int vni = (unsigned int)json_integer_value(json_array_get(vnis, 0));
    plainhttp_reply_release(&reply);
    return vni;
}
