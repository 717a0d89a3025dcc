/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/cases.h"

/* Parameters, and the two headers that count as such. */

/* clang-format off */
#define GET(what, path, status, code, field) \
    {what, "GET", path, NULL, SPAN(""), NULL, 0, KEEPS, status, code, field, false}
#define BAD(what, path, field) GET(what, path, 422, "invalid", field)
#define UNKNOWN(what, path, field) GET(what, path, 422, "unknown-parameter", field)
#define ESCAPE(what, path) GET(what, path, 400, "bad-escape", NULL)
#define TWICE(what, path, field) GET(what, path, 400, "repeated-parameter", field)
#define LAST_EVENT(what, value) \
    {what, "GET", "/v1/events?follow=0", "Last-Event-ID: " value "\r\n", SPAN(""), NULL, 0, KEEPS, \
     422, "invalid", "Last-Event-ID", false}
#define ACCEPT(what, value) \
    {what, "GET", JOB "there/env", "Accept: " value "\r\n", SPAN(""), NULL, 0, KEEPS, 406, \
     "not-acceptable", "Accept", false}

static const struct bad_case cases[] = {
    UNKNOWN("a parameter that there is not", "/v1/jobs?user=1", "user"),
    UNKNOWN("a parameter in capitals", "/v1/jobs?LIMIT=1", "LIMIT"),
    UNKNOWN("a parameter without name", "/v1/jobs?=1", NULL),
    UNKNOWN("a parameter with a space", "/v1/jobs?limit%20=1", "limit "),
    UNKNOWN("a parameter of a list", "/v1/jobs?uid[]=1", "uid[]"),
    UNKNOWN("a parameter outside of ASCII", "/v1/jobs?%C6%92=1", "\xc6\x92"),
    UNKNOWN("a parameter that is no UTF-8", "/v1/jobs?%FF=1", "\xef\xbf\xbd"),
    UNKNOWN("a parameter where there is none", "/healthz?x=1", "x"),
    UNKNOWN("a parameter of another call", "/v1/status?limit=1", "limit"),
    UNKNOWN("a second question mark", "/v1/jobs??limit=1", "?limit"),
    UNKNOWN("a semicolon between", "/v1/jobs?x;limit=1", "x;limit"),
    UNKNOWN("a parameter of a reserve", JOB "there?force=1", "force"),
    TWICE("a parameter twice", "/v1/jobs?uid=1&uid=2", "uid"),
    TWICE("a parameter twice, alike", "/v1/jobs?uid=1&uid=1", "uid"),
    TWICE("a parameter twice, once encoded", "/v1/jobs?uid=1&%75id=2", "uid"),
    TWICE("a parameter twice, once without value", "/v1/jobs?limit=1&limit", "limit"),
    ESCAPE("a percent sign alone", "/v1/jobs?limit=%"),
    ESCAPE("no hexadecimal digits", "/v1/jobs?limit=%zz"),
    ESCAPE("an encoded NUL", "/v1/jobs?limit=1%00"),
    ESCAPE("an encoded NUL in a name", "/v1/jobs?limit%00=1"),
    GET("nine parameters", "/v1/jobs?a&b&c&d&e&f&g&h&i", 400, "too-many-parameters", NULL),
    {"a value of 6,000", "GET", "/v1/jobs?limit=" MANY, NULL, SPAN(""), "1", 6000, KEEPS, 422,
     "invalid", "limit", false},
    {"a name of 6,000", "GET", "/healthz?" MANY, NULL, SPAN(""), "a", 6000, KEEPS, 422,
     "unknown-parameter", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaa", false},
    BAD("limit is 0", "/v1/jobs?limit=0", "limit"),
    BAD("limit is 1001", "/v1/jobs?limit=1001", "limit"),
    BAD("limit is -1", "/v1/jobs?limit=-1", "limit"),
    BAD("limit is +1, which is no space", "/v1/jobs?limit=+1", "limit"),
    BAD("limit is empty", "/v1/jobs?limit=", "limit"),
    BAD("limit without value", "/v1/jobs?limit", "limit"),
    BAD("limit is a word", "/v1/jobs?limit=all", "limit"),
    BAD("limit is 1.0", "/v1/jobs?limit=1.0", "limit"),
    BAD("limit is 1e2", "/v1/jobs?limit=1e2", "limit"),
    BAD("limit is hexadecimal", "/v1/jobs?limit=0x10", "limit"),
    BAD("limit with a space", "/v1/jobs?limit=%2010", "limit"),
    BAD("limit is 2^64+1", "/v1/jobs?limit=18446744073709551617", "limit"),
    BAD("limit in Arabic digits", "/v1/jobs?limit=%D9%A1", "limit"),
    BAD("limit and more behind an equals sign", "/v1/jobs?limit=1=2", "limit"),
    BAD("uid is -1", "/v1/jobs?uid=-1", "uid"),
    BAD("uid is a name", "/v1/jobs?uid=root", "uid"),
    BAD("uid is nobody's: 2^32-1", "/v1/jobs?uid=4294967295", "uid"),
    BAD("uid is 2^32", "/v1/jobs?uid=4294967296", "uid"),
    BAD("after is 2^64-1", "/v1/jobs?after=18446744073709551615", "after"),
    BAD("after is 2^64", "/v1/jobs?after=18446744073709551616", "after"),
    BAD("after is a word", "/v1/jobs?after=there", "after"),
    BAD("state is empty", "/v1/jobs?state=", "state"),
    BAD("state is no state", "/v1/jobs?state=gone", "state"),
    BAD("state in capitals", "/v1/jobs?state=ACTIVE", "state"),
    BAD("two states", "/v1/jobs?state=active,releasing", "state"),
    BAD("cluster is empty", "/v1/jobs?cluster=", "cluster"),
    BAD("cluster cannot be one", "/v1/jobs?cluster=EL-CAP", "cluster"),
    BAD("cluster with a quote and more", "/v1/jobs?cluster=%22,%22next%22:%22x", "cluster"),
    BAD("step is empty", JOB "there/env?step=", "step"),
    BAD("step with a space", JOB "there/env?step=a%20b", "step"),
    BAD("step with a quote", JOB "there/env?step=%22", "step"),
    BAD("step with a line end and a variable", JOB "there/env?step=0%0ALD_PRELOAD=/x", "step"),
    BAD("step with a backslash", JOB "there/env?step=a%5Cb", "step"),
    BAD("step outside of ASCII", JOB "there/env?step=/%C6%92A/%C6%92B", "step"),
    {"step of 513", "GET", JOB "there/env?step=" MANY, NULL, SPAN(""), "1", 513, KEEPS, 422,
     "invalid", "step", false},
    BAD("follow is 2", "/v1/events?follow=2", "follow"),
    BAD("follow is empty", "/v1/events?follow=", "follow"),
    BAD("follow is a word", "/v1/events?follow=true", "follow"),
    BAD("after of events is -1", "/v1/events?after=-1&follow=0", "after"),
    BAD("after of events is a word", "/v1/events?after=now&follow=0", "after"),
    BAD("after of events is 2^64-1", "/v1/events?after=18446744073709551615", "after"),
    LAST_EVENT("Last-Event-ID is a word", "x"),
    LAST_EVENT("Last-Event-ID is -1", "-1"),
    LAST_EVENT("Last-Event-ID is 2^64", "18446744073709551616"),
    LAST_EVENT("Last-Event-ID is two", "1, 2"),
    ACCEPT("a picture is wanted", "image/png"),
    ACCEPT("everything is refused", "*/*;q=0"),
    ACCEPT("nothing that makes sense is wanted", ";;q=,,"),
    GET("a cluster that nobody has set up", "/v1/jobs?cluster=nowhere", 404, "no-such-cluster",
        "cluster"),
    GET("a limit with zeros before it", "/v1/jobs?limit=0000000000000000000000001", 200, NULL, NULL),
    GET("empty parameters", "/v1/jobs?&&limit=1&", 200, NULL, NULL),
    GET("a question mark and nothing", "/healthz?", 200, NULL, NULL),
};
/* clang-format on */

const struct bad_table query_table = BAD_TABLE("parameters", cases);
