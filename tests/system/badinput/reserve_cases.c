/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/cases.h"

/* Reserves whose JSON is sound and whose fields are not. */

/* clang-format off */
#define PUT(what, text, code, field) \
    {what, "PUT", JOB "f1", NULL, SPAN(text), NULL, 0, KEEPS, 422, code, field, false}
#define BAD(what, text, field) PUT(what, text, "invalid", field)
#define UNKNOWN(what, text, field) PUT(what, text, "unknown-field", field)
/* So that each row shows one field only. */
#define UID(value) "{\"uid\":" value ",\"node_count\":1}"
#define COUNT(value) "{\"uid\":1,\"node_count\":" value "}"
#define NODES(value) "{\"uid\":1,\"nodes\":" value "}"
#define CORES(value) "{\"uid\":1,\"node_count\":1,\"cores_per_node\":" value "}"
#define VNIS(value) "{\"uid\":1,\"node_count\":1,\"vni_count\":" value "}"
#define HWCOLL(value) "{\"uid\":1,\"node_count\":1,\"hwcoll\":" value "}"
#define CLASSES(value) "{\"uid\":1,\"node_count\":1,\"traffic_classes\":" value "}"
#define OTHER(name) "{\"uid\":1,\"node_count\":1,\"" name "\":1}"

static const struct bad_case cases[] = {
    PUT("nothing", "{}", "missing-field", "uid"),
    PUT("no uid", "{\"nodes\":\"n1\"}", "missing-field", "uid"),
    PUT("no nodes", "{\"uid\":1}", "missing-field", "nodes"),
    PUT("no nodes, but all else", "{\"uid\":1,\"cores_per_node\":1,\"vni_count\":1}",
        "missing-field", "nodes"),
    BAD("uid is null", UID("null"), "uid"),
    BAD("uid is true", UID("true"), "uid"),
    BAD("uid is text", UID("\"1\""), "uid"),
    BAD("uid is a list", UID("[1]"), "uid"),
    BAD("uid is an object", UID("{\"uid\":1}"), "uid"),
    BAD("uid is 1.0", UID("1.0"), "uid"),
    BAD("uid is 1.5", UID("1.5"), "uid"),
    BAD("uid is 1e3", UID("1e3"), "uid"),
    BAD("uid is -0.0", UID("-0.0"), "uid"),
    BAD("uid is -1", UID("-1"), "uid"),
    BAD("uid is nobody's: 2^32-1", UID("4294967295"), "uid"),
    BAD("uid is 2^32", UID("4294967296"), "uid"),
    BAD("uid is 2^32+1, which 32 bits take for 1", UID("4294967297"), "uid"),
    BAD("uid is 2^53+1", UID("9007199254740993"), "uid"),
    BAD("uid is 2^63-1", UID("9223372036854775807"), "uid"),
    BAD("uid is -2^63", UID("-9223372036854775808"), "uid"),
    BAD("uid is 1e308", UID("1e308"), "uid"),
    BAD("uid is 1e-999", UID("1e-999"), "uid"),
    BAD("node_count is 0", COUNT("0"), "node_count"),
    BAD("node_count is -0", COUNT("-0"), "node_count"),
    BAD("node_count is -1", COUNT("-1"), "node_count"),
    BAD("node_count is a million and one", COUNT("1000001"), "node_count"),
    BAD("node_count is 2^32+1", COUNT("4294967297"), "node_count"),
    BAD("node_count is 2^53+1", COUNT("9007199254740993"), "node_count"),
    BAD("node_count is 1.0", COUNT("1.0"), "node_count"),
    BAD("node_count is text", COUNT("\"4\""), "node_count"),
    BAD("node_count is null", COUNT("null"), "node_count"),
    BAD("node_count is false", COUNT("false"), "node_count"),
    BAD("node_count is a list", COUNT("[]"), "node_count"),
    BAD("node_count is an object", COUNT("{}"), "node_count"),
    BAD("node_count says more than nodes",
        "{\"uid\":1,\"nodes\":\"n[1-4]\",\"node_count\":5}", "node_count"),
    BAD("node_count says less than nodes",
        "{\"uid\":1,\"nodes\":\"n[1-4]\",\"node_count\":3}", "node_count"),
    BAD("nodes is null", NODES("null"), "nodes"),
    BAD("nodes is a number", NODES("4"), "nodes"),
    BAD("nodes is a fraction", NODES("0.5"), "nodes"),
    BAD("nodes is true", NODES("true"), "nodes"),
    BAD("nodes is a list", NODES("[\"n1\",\"n2\"]"), "nodes"),
    BAD("nodes is an object", NODES("{\"n1\":1}"), "nodes"),
    BAD("nodes is null beside a good node_count", "{\"uid\":1,\"nodes\":null,\"node_count\":1}",
        "nodes"),
    BAD("cores_per_node is 0", CORES("0"), "cores_per_node"),
    BAD("cores_per_node is -1", CORES("-1"), "cores_per_node"),
    BAD("cores_per_node is a million and one", CORES("1000001"), "cores_per_node"),
    BAD("cores_per_node is 2^63-1", CORES("9223372036854775807"), "cores_per_node"),
    BAD("cores_per_node is 96.0", CORES("96.0"), "cores_per_node"),
    BAD("cores_per_node is text", CORES("\"96\""), "cores_per_node"),
    BAD("cores_per_node is null", CORES("null"), "cores_per_node"),
    BAD("vni_count is 5", VNIS("5"), "vni_count"),
    BAD("vni_count is -1", VNIS("-1"), "vni_count"),
    BAD("vni_count is 2^32", VNIS("4294967296"), "vni_count"),
    BAD("vni_count is 1.0", VNIS("1.0"), "vni_count"),
    BAD("vni_count is text", VNIS("\"1\""), "vni_count"),
    BAD("vni_count is a list of VNIs", VNIS("[1024]"), "vni_count"),
    BAD("vni_count is null", VNIS("null"), "vni_count"),
    BAD("hwcoll is no word", HWCOLL("\"\""), "hwcoll"),
    BAD("hwcoll is another word", HWCOLL("\"yes\""), "hwcoll"),
    BAD("hwcoll in capitals", HWCOLL("\"AUTO\""), "hwcoll"),
    BAD("hwcoll with a space", HWCOLL("\"auto \""), "hwcoll"),
    BAD("hwcoll cut short", HWCOLL("\"aut\""), "hwcoll"),
    BAD("hwcoll is a state", HWCOLL("\"reserved\""), "hwcoll"),
    BAD("hwcoll is true", HWCOLL("true"), "hwcoll"),
    BAD("hwcoll is a number", HWCOLL("1"), "hwcoll"),
    BAD("hwcoll is null", HWCOLL("null"), "hwcoll"),
    BAD("hwcoll is a list", HWCOLL("[\"auto\"]"), "hwcoll"),
    BAD("traffic_classes is none", CLASSES("[]"), "traffic_classes"),
    BAD("traffic_classes is text", CLASSES("\"bulk_data\""), "traffic_classes"),
    BAD("traffic_classes is an object", CLASSES("{\"bulk_data\":true}"), "traffic_classes"),
    BAD("traffic_classes is null", CLASSES("null"), "traffic_classes"),
    BAD("traffic_classes is a number", CLASSES("3"), "traffic_classes"),
    BAD("a traffic class is a number", CLASSES("[1]"), "traffic_classes[0]"),
    BAD("a traffic class is null", CLASSES("[\"bulk_data\",null]"), "traffic_classes[1]"),
    BAD("a traffic class is a list", CLASSES("[[\"bulk_data\"]]"), "traffic_classes[0]"),
    BAD("a traffic class is unknown", CLASSES("[\"bulk_data\",\"low_latency\",\"bulk\"]"),
        "traffic_classes[2]"),
    BAD("a traffic class in capitals", CLASSES("[\"BULK_DATA\"]"), "traffic_classes[0]"),
    UNKNOWN("a misspelt field", OTHER("core_per_node"), "core_per_node"),
    UNKNOWN("a field in capitals", OTHER("UID"), "UID"),
    UNKNOWN("a field with a space", OTHER("uid "), "uid "),
    UNKNOWN("a field without name", OTHER(""), NULL),
    UNKNOWN("a field of the answer", OTHER("number"), "number"),
    UNKNOWN("the job, which the address names", OTHER("job"), "job"),
    UNKNOWN("a field for another language", OTHER("__proto__"), "__proto__"),
    UNKNOWN("a field with quotes", OTHER("a\\\"b"), "a\"b"),
    UNKNOWN("a field with a line end", OTHER("a\\nb"), "a\nb"),
    UNKNOWN("a field outside of ASCII", OTHER("\xc6\x92"), "\xc6\x92"),
    UNKNOWN("a field with a format in it", OTHER("%s%n%1000000d"), "%s%n%1000000d"),
    {"a field cut within a character", "PUT", JOB "f1", NULL, SPAN(OTHER(MANY)), "\xc6\x92", 60,
     KEEPS, 422, "unknown-field",
     "\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92"
     "\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92"
     "\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92"
     "\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92\xc6\x92"
     "\xc6\x92\xc6\x92\xc6\x92\xef\xbf\xbd", false},
    UNKNOWN("an unknown field counts first", "{\"uid\":\"x\",\"node_count\":0,\"x\":1}", "x"),
    {"then the first wrong value", "PUT", JOB "f1", NULL,
     SPAN("{\"uid\":\"x\",\"node_count\":0}"), NULL, 0, KEEPS, 422, "invalid", "uid", false},
    {"another request under an id that is taken", "PUT", JOB "there", NULL,
     SPAN("{\"uid\":2,\"nodes\":\"n[1-4]\"}"), NULL, 0, KEEPS, 409, "conflict", "uid", false},
    {"a bad request under an id that is taken", "PUT", JOB "there", NULL,
     SPAN("{\"uid\":-1,\"nodes\":\"n[1-4]\"}"), NULL, 0, KEEPS, 422, "invalid", "uid", false},
};
/* clang-format on */

const struct bad_table reserve_table = BAD_TABLE("fields of a reserve", cases);
