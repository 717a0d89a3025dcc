/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/node/realbroker.h"

#include <stdio.h>
#include <stdlib.h>

struct stage *realbroker_start(const struct stage_options *options)
{
    struct stage *stage = stage_create(options);
    char url[160];
    assert_non_null(stage);
    if (options->mock_fm)
        assert_int_equal(stage_start_fm(stage), 0);
    assert_int_equal(stage_start_broker(stage), 0);
    if (options->mock_fm)
        assert_int_equal(stage_await_link(stage), 0);
    snprintf(url, sizeof url, "unix:%s", stage_socket(stage));
    setenv("MCAST_URL", url, 1);
    return stage;
}

unsigned int realbroker_reserve(struct stage *stage, const char *job, const char *request,
                                int status)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(plainhttp_call(stage_http(stage), "PUT", path, request, &reply), status);
    const json_t *vnis = json_object_get(reply.json, "vnis");
    unsigned int vni = (unsigned int)json_integer_value(json_array_get(vnis, 0));
    plainhttp_reply_release(&reply);
    return vni;
}
