/* SPDX-License-Identifier: Apache-2.0 */

#include "broker/http/request/head.h"
#include "tests/unit/unit.h"

UNIT(weight__follows_the_header)
{
    static const struct {
        const char *accept;
        int json, text;
    } cases[] = {
        {NULL, 1000, 1000},
        {"", 1000, 1000},
        {"*/*", 1000, 1000},
        {"application/json", 1000, 0},
        {"text/plain", 0, 1000},
        {"TEXT/Plain; charset=utf-8", 0, 1000},
        {"text/*", 0, 1000},
        {"text/plain, */*;q=0.1", 100, 1000},
        {"text/plain;q=0.5, application/json;q=0.75", 750, 500},
        {"*/*;q=0.2,text/*;q=0.3,text/plain;q=0.4", 200, 400},
        {"application/json;q=0, */*", 0, 1000},
        {"text/plain;q=0.0", 0, 0},
        {"text/plain; level=1; q=0.123", 0, 123},
        {"image/png", 0, 0},
        {"text/plainer, application/jsonp", 0, 0},
        {",,;;q, text/plain ;q=", 0, 1000},
        {"text/plain;q=0.9999999", 0, 999},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(accept_weight(cases[i].accept, "application/json"), cases[i].json);
        assert_int_equal(accept_weight(cases[i].accept, "text/plain"), cases[i].text);
    }
}

UNIT_RUN(NULL, NULL)
