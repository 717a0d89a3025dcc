/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests mcastctl ui answers (B8): one request that is good, and each thing about it that
 * may be wrong. */
#include "cli/ui/gate.h"
#include "tests/unit/unit.h"

static const struct gate_keys keys = {{"once"}, {"session"}};

static const struct gate_request good = {.method = "GET",
                                         .target = "/v1/jobs?limit=1",
                                         .host = "127.0.0.1:80",
                                         .origin = "http://127.0.0.1:80",
                                         .site = "same-origin",
                                         .key = "session"};

static int status_of(struct gate_request request)
{
    const struct gate_verdict verdict = gate_judge(&request, &keys, false);
    assert_int_equal(verdict.kind == GATE_REFUSED, verdict.type == NULL);
    return verdict.kind == GATE_REFUSED ? verdict.status : 200;
}

#define WITH(member, value)                                                                        \
    ({                                                                                             \
        struct gate_request request_ = good;                                                       \
        request_.member = value;                                                                   \
        status_of(request_);                                                                       \
    })

UNIT(gate__host_is_this_machine_by_a_name_that_no_site_can_have)
{
    static const char *const own[] = {"127.0.0.1", "localhost:8765", "[::1]:1", "[::1]"};
    static const char *const others[] = {
        NULL,          "",          "example.org", "127.0.0.1.example.org", "127.0.0.1:",
        "127.0.0.1:x", "127.0.0.2", "localhost.",  "localhost.example.org", "127.0.0.1:1@x",
        "[::1]x",      "evil:80",   "127.0.0.1 x"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        struct gate_request request = good;
        request.host = own[i];
        request.origin = NULL;
        assert_int_equal(status_of(request), 200);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct gate_request request = good;
        request.host = others[i];
        request.origin = NULL;
        assert_int_equal(status_of(request), 421);
        request.target = "/";
        assert_int_equal(status_of(request), 421);
    }
}

UNIT(gate__origin_and_site_are_those_of_the_page)
{
    assert_int_equal(WITH(origin, NULL), 200);
    assert_int_equal(WITH(site, NULL), 200);
    assert_int_equal(WITH(site, "none"), 200);
    assert_int_equal(WITH(site, "cross-site"), 403);
    assert_int_equal(WITH(site, "same-site"), 403);
    assert_int_equal(WITH(origin, "null"), 403);
    assert_int_equal(WITH(origin, "https://127.0.0.1:80"), 403);
    assert_int_equal(WITH(origin, "http://127.0.0.1:81"), 403);
    assert_int_equal(WITH(origin, "http://127.0.0.1:80.example.org"), 403);
}

UNIT(gate__each_key_is_for_its_own)
{
    assert_int_equal(WITH(key, NULL), 403);
    assert_int_equal(WITH(key, ""), 403);
    assert_int_equal(WITH(key, "once"), 403);
    assert_int_equal(WITH(key, "sessio"), 403);
    assert_int_equal(WITH(key, "sessionx"), 403);
    assert_int_equal(WITH(target, "/session"), 403);
    struct gate_request request = good;
    request.target = "/session";
    request.key = "once";
    assert_int_equal(gate_judge(&request, &keys, false).kind, GATE_SESSION);
}

UNIT(gate__nothing_is_changed)
{
    static const char *const methods[] = {"POST", "PUT",     "DELETE", "PATCH",
                                          "HEAD", "OPTIONS", "get"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        assert_int_equal(WITH(method, methods[i]), 405);
    assert_int_equal(WITH(body, true), 405);
}

static int write_status(struct gate_request request)
{
    const struct gate_verdict verdict = gate_judge(&request, &keys, true);
    return verdict.kind == GATE_RELEASE ? 200 : verdict.status;
}

UNIT(gate__with_write_a_job_is_released_by_its_own_page)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", "HEAD", "OPTIONS", "delete"};
    static const char *const others[] = {"/v1/clusters/elcap/jobs/f1",
                                         "/v1/clusters/elcap/jobs/f1?number=",
                                         "/v1/clusters/elcap/jobs/f1?number=7x",
                                         "/v1/clusters/elcap/jobs/f1?number=%37",
                                         "/v1/clusters/elcap/jobs/f1?number=7&number=8",
                                         "/v1/clusters/elcap/jobs/f1?number=12345678901234567890",
                                         "/v1/clusters/elcap/jobs/f1/env?number=7",
                                         "/v1/clusters/elcap/jobs/f1?x=1",
                                         "/v1/clusters/elcap/jobs/",
                                         "/v1/clusters//jobs/f1",
                                         "/v1/clusters/elcap/jobs",
                                         "/v1/nodes/n1",
                                         "/session",
                                         "/v1/vnis/pool",
                                         "/"};
    struct gate_request request = good, wrong;
    request.method = "DELETE";
    request.target = "/v1/clusters/elcap/jobs/f1?number=7";
    assert_int_equal(write_status(request), 200);
    assert_int_equal(status_of(request), 405);
#define WRONG(member, value) (wrong = request, wrong.member = (value), write_status(wrong))
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        assert_int_equal(WRONG(method, methods[i]), 405);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(WRONG(target, others[i]), 405);
    assert_int_equal(WRONG(body, true), 405);
    assert_int_equal(WRONG(origin, NULL), 403);
    assert_int_equal(WRONG(origin, "http://example.org"), 403);
    assert_int_equal(WRONG(site, "cross-site"), 403);
    assert_int_equal(WRONG(host, "example.org"), 421);
    assert_int_equal(WRONG(key, "once"), 403);
    assert_int_equal(WRONG(key, NULL), 403);
}

UNIT(gate__passes_what_carries_no_token)
{
    static const char *const passed[] = {
        "/v1/history",  "/v1/status",      "/v1/events?after=3",
        "/v1/nodes/n1", "/v1/jobs?x=/../", "/v1/clusters/elcap/jobs/f1/topology"};
    static const char *const others[] = {"/v1/clusters/elcap/jobs/f1",
                                         "/v1/clusters/elcap/jobs/f1/env",
                                         "/v1/clusters/elcap/jobs/f1?/topology",
                                         "/v1/clusters/elcap/jobs/f1/x/topology",
                                         "/v1/clusters//jobs/f1/topology",
                                         "/v1/nodes/../clusters/elcap/jobs/f1",
                                         "/v1/nodes/",
                                         "/v1/reservation",
                                         "/v1/status/",
                                         "/metrics",
                                         "/v1/tokens",
                                         "http://127.0.0.1/v1/status",
                                         "*",
                                         ""};
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        assert_int_equal(WITH(target, passed[i]), 200);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(WITH(target, others[i]), 404);
}

UNIT(gate__the_page_needs_no_key)
{
    struct gate_request request = {.method = "GET", .target = "/", .host = "localhost"};
    assert_int_equal(gate_judge(&request, &keys, false).kind, GATE_PAGE);
    request.target = "/ui.js";
    assert_int_equal(gate_judge(&request, &keys, false).kind, GATE_PAGE);
    request.target = "/faults.json"; /* a text of the program, and none of the page's */
    assert_int_equal(gate_judge(&request, &keys, false).kind, GATE_REFUSED);
}

UNIT_RUN(NULL, NULL)
