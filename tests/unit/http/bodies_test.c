/* SPDX-License-Identifier: Apache-2.0 */
/* What the bodies of requests say: a reserve's, a node's report, a request for a token (B3), and a
 * sync's. What is wrong is named. */

#include "broker/http/api/bodies/bodies.h"
#include "broker/http/request/target.h"
#include "tests/unit/unit.h"

enum { NOW = 1000000 };

/* What was read last; its texts are valid until the next one. */
static struct {
    json_t *json;
    char *bytes;
    struct problem problem;
    struct reserve_request reserve;
    struct node_body node;
    struct nodes_body nodes;
    struct launch_wish launch;
    struct bearer_limits mint;
    struct sync_body sync;
} last;

static int clear_last(void **state)
{
    json_decref(last.json);
    free(last.bytes);
    sync_body_release(&last.sync);
    memset(&last, 0, sizeof last);
    return 0;
}

/* In a buffer of exactly its length, so that a sanitizer sees a look beyond its end. */
static const char *copy_bytes(const char *bytes, size_t length)
{
    clear_last(NULL);
    last.bytes = length ? malloc(length) : NULL;
    if (length)
        memcpy(last.bytes, bytes, length);
    return last.bytes;
}

static int read_json(const char *bytes, size_t length)
{
    last.json = body_read(copy_bytes(bytes, length), length, &last.problem);
    return last.json ? 0 : -1;
}

static int reserve_bytes(const char *bytes, size_t length)
{
    return read_json(bytes, length) < 0
               ? -1
               : reserve_body_parse(last.json, &last.reserve, &last.launch, &last.problem);
}

static int reserve(const char *text)
{
    return reserve_bytes(text, strlen(text));
}

static int node(const char *text)
{
    return read_json(text, strlen(text)) < 0
               ? -1
               : node_body_parse(last.json, &last.node, &last.problem);
}

static int launch(const char *text)
{
    return read_json(text, strlen(text)) < 0
               ? -1
               : launch_body_parse(last.json, "", &last.launch, &last.problem);
}

static int mint(const char *text)
{
    return read_json(text, strlen(text)) < 0
               ? -1
               : mint_body_parse(last.json, NOW, &last.mint, &last.problem);
}

static int read_sync(const char *text)
{
    copy_bytes(text, strlen(text));
    const int rc = sync_body_parse(last.bytes, strlen(text), &last.sync, &last.problem);
    assert_true(rc == 0 || !last.sync.active);
    return rc;
}

/* A body that is refused: 400 bad-json, or 422 with a code. */
struct refusal {
    const char *text, *code, *field;
};

#define ASSERT_REFUSED(parse, cases) assert_refused(parse, cases, sizeof cases / sizeof cases[0])

static void assert_refused(int (*parse)(const char *), const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *field = cases[i].field ? cases[i].field : "";
        if (parse(cases[i].text) == 0)
            fail_msg("%s is taken", cases[i].text);
        if (strcmp(last.problem.code, cases[i].code) != 0 || strcmp(last.problem.field, field) != 0)
            fail_msg("%s: %s, %s", cases[i].text, last.problem.code, last.problem.field);
        assert_int_equal(last.problem.status, strcmp(cases[i].code, "bad-json") == 0 ? 400 : 422);
        assert_true(last.problem.detail[0] != '\0');
    }
}

/* ---- JSON ---- */

#define TEST(name) UNIT_WITH(name, NULL, clear_last)

TEST(bad_json__is_told_with_line_and_column)
{
    static const struct {
        int (*parse)(const char *);
        const char *text, *where;
    } cases[] = {
        {reserve, "", "line 1, column 1"},
        {reserve, "{", "line 1, column 1"},
        {reserve, "{\n\"uid\":1,\n  x}", "line 3, column 3"},
        {reserve, "{\"uid\":1,\"uid\":1}", "line 1, column 14"},
        {reserve, "{\"uid\":1}{", "line 1, column 10"},
        {reserve, "{\"uid\":01}", "line 1"},
        {reserve, "{\"uid\":nul}", "line 1"},
        {reserve, "{\"nodes\":\"\\u0000\"}", "line 1"},
        {reserve, "{\"nodes\":\"\\ud800\"}", "line 1"},
        {reserve, "{\"nodes\":\"\xff\"}", "line 1"},
        {reserve, "{\"nodes\":\"\xed\xa0\x80\"}", "line 1"},
        {reserve, "{\"uid\":1,}", "line 1"},
        {reserve, "{\"nodes\":\"a", "line 1"},
        {reserve, "{'uid':1}", "line 1"},
        {reserve, "[1]", "line 1, column 1"},
        {reserve, "null", "line 1"},
        {read_sync, "", "line 1, column 1:"},
        {read_sync, "{\"active\":[\n \"a\",\n \"b\" x]}", "line 3, column 6:"},
        {read_sync, "{\"active\":[\"\\u0061\",,", "line 1, column 21:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(cases[i].parse(cases[i].text), -1);
        assert_int_equal(last.problem.status, 400);
        assert_string_equal(last.problem.code, "bad-json");
        assert_non_null(strstr(last.problem.detail, cases[i].where));
    }
}

TEST(bytes__of_every_kind_are_survived)
{
    static const char good[] =
        "{\"uid\":1,\"nodes\":\"a[1-2]\",\"traffic_classes\":[\"bulk_data\"]}";
    for (size_t at = 0; at < sizeof good - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char bytes[sizeof good];
            memcpy(bytes, good, sizeof good);
            bytes[at] = (char)byte;
            if (reserve_bytes(bytes, sizeof good - 1) < 0)
                assert_true(last.problem.status == 400 || last.problem.status == 422);
        }
        assert_int_equal(reserve_bytes(good, at), -1);
    }
}

/* ---- a reserve ---- */

TEST(reserve__is_read_whole)
{
    assert_int_equal(
        reserve("{\"uid\":5588,\"nodes\":\"elcap[1-128]\",\"node_count\":128,"
                "\"cores_per_node\":96,\"interconnect\":\"omnipath\","
                "\"tasks_per_node\":8,\"cpus_per_task\":12,\"vni_count\":4,\"hwcoll\":\"required\","
                "\"traffic_classes\":[\"bulk_data\",\"dedicated_access\"]}"),
        0);
    assert_int_equal(last.reserve.uid, 5588);
    assert_string_equal(last.reserve.nodes, "elcap[1-128]");
    assert_int_equal(last.reserve.node_count, 128);
    assert_int_equal(last.reserve.cores_per_node, 96);
    assert_int_equal(last.reserve.interconnect, INTERCONNECT_OMNIPATH);
    assert_int_equal(last.reserve.tasks_per_node, 8);
    assert_int_equal(last.reserve.cpus_per_task, 12);
    assert_int_equal(last.reserve.vni_count, 4);
    assert_int_equal(last.reserve.wish, WISH_REQUIRED);
    assert_int_equal(last.reserve.traffic_classes, TC_BULK_DATA | TC_DEDICATED_ACCESS);
}

TEST(reserve__may_name_the_vnis_that_the_job_has)
{
    static const struct refusal cases[] = {
        {"{\"uid\":1,\"nodes\":\"n1\",\"vnis\":1024}", "invalid", "vnis"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"vnis\":[0]}", "invalid", "vnis"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"vnis\":[65536]}", "invalid", "vnis"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"vnis\":[7,7]}", "invalid", "vnis"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"vnis\":[\"7\"]}", "invalid", "vnis"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"vnis\":[1,2,3,4,5]}", "invalid", "vnis"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"vnis\":[7,8],\"vni_count\":1}", "invalid", "vni_count"},
    };
    assert_int_equal(reserve("{\"uid\":1,\"nodes\":\"n1\",\"vnis\":[65535,7]}"), 0);
    assert_true(last.reserve.vnis_named);
    assert_int_equal(last.reserve.vni_count, 2);
    assert_int_equal(last.reserve.vnis[0], 65535);
    assert_int_equal(last.reserve.vnis[1], 7);
    ASSERT_REFUSED(reserve, cases);
}

TEST(reserve__says_what_was_not_told)
{
    assert_int_equal(reserve(" {\"uid\":0,\"node_count\":1}\n"), 0);
    assert_int_equal(last.reserve.uid, 0);
    assert_null(last.reserve.nodes);
    assert_int_equal(last.reserve.node_count, 1);
    assert_int_equal(last.reserve.cores_per_node, 0);
    assert_int_equal(last.reserve.interconnect, -1);
    assert_int_equal(last.reserve.tasks_per_node, 0);
    assert_int_equal(last.reserve.cpus_per_task, 0);
    assert_int_equal(last.reserve.vni_count, -1);
    assert_int_equal(last.reserve.wish, 0);
    assert_int_equal(last.reserve.traffic_classes, 0);
    assert_int_equal(reserve("{\"uid\":4294967294,\"nodes\":\"a\",\"vni_count\":0}"), 0);
    assert_int_equal(last.reserve.vni_count, 0); /* none is a wish, too (F2) */
    assert_int_equal(last.reserve.node_count, 1);
}

#define MORE(members) "{\"uid\":1,\"node_count\":2," members "}"

TEST(reserve__with_a_bad_value_is_refused)
{
    static const struct refusal cases[] = {
        {"{}", "missing-field", "uid"},
        {"{\"node_count\":2}", "missing-field", "uid"},
        {"{\"uid\":1}", "missing-field", "nodes"},
        {"{\"uid\":-1,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":4294967295,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":1.0,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":\"1\",\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":null,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":1e9,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":99999999999999999999,\"node_count\":2}", "invalid", "uid"},
        {MORE("\"vni_count\":99999999999999999999"), "invalid", "vni_count"},
        {MORE("\"traffic_classes\":[7,1e999]"), "invalid", "traffic_classes"},
        {"{\"uid\":1,\"nodes\":\"\xc3\xa4\"}", "invalid", "nodes"},
        {"{\"uid\":true,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":[1],\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":1,\"node_count\":0}", "invalid", "node_count"},
        {"{\"uid\":1,\"node_count\":1000001}", "invalid", "node_count"},
        {"{\"uid\":1,\"nodes\":7}", "invalid", "nodes"},
        {"{\"uid\":1,\"nodes\":\"\"}", "invalid", "nodes"},
        {"{\"uid\":1,\"nodes\":\"a[1-\"}", "invalid", "nodes"},
        {"{\"uid\":1,\"nodes\":\"a[1-3]\",\"node_count\":2}", "invalid", "node_count"},
        {MORE("\"cores_per_node\":0"), "invalid", "cores_per_node"},
        {MORE("\"cores_per_node\":99999999999999"), "invalid", "cores_per_node"},
        {MORE("\"interconnect\":\"infiniband\""), "invalid", "interconnect"},
        {MORE("\"interconnect\":\"\""), "invalid", "interconnect"},
        {MORE("\"interconnect\":1"), "invalid", "interconnect"},
        {MORE("\"tasks_per_node\":0"), "invalid", "tasks_per_node"},
        {MORE("\"cpus_per_task\":1000001"), "invalid", "cpus_per_task"},
        {MORE("\"vni_count\":5"), "invalid", "vni_count"},
        {MORE("\"vni_count\":-1"), "invalid", "vni_count"},
        {MORE("\"vni_count\":null"), "invalid", "vni_count"},
        {MORE("\"hwcoll\":\"maybe\""), "invalid", "hwcoll"},
        {MORE("\"hwcoll\":\"\""), "invalid", "hwcoll"},
        {MORE("\"hwcoll\":true"), "invalid", "hwcoll"},
        {MORE("\"traffic_classes\":[]"), "invalid", "traffic_classes"},
        {MORE("\"traffic_classes\":\"bulk_data\""), "invalid", "traffic_classes"},
        {MORE("\"traffic_classes\":[\"bulk_data\",\"fast\"]"), "invalid", "traffic_classes[1]"},
        {MORE("\"traffic_classes\":[1]"), "invalid", "traffic_classes[0]"},
        {MORE("\"vni\":1"), "unknown-field", "vni"},
        {MORE("\"\":1"), "unknown-field", ""},
    };
    ASSERT_REFUSED(reserve, cases);
}

TEST(nodes__have_a_longest_text)
{
    enum { LONG = 70000 };
    static char text[LONG + 64];
    int used = snprintf(text, 64, "{\"uid\":1,\"nodes\":\"");
    memset(text + used, 'n', LONG);
    strcpy(text + used + LONG, "\"}");
    assert_int_equal(reserve(text), -1);
    assert_string_equal(last.problem.field, "nodes");
}

/* ---- a node's report (F3) ---- */

TEST(report__is_read_whole)
{
    assert_int_equal(node("{\"state\":\"created\",\"number\":4711,\"order\":2,\"services\":["
                          "{\"device\":\"cxi0\",\"id\":12},{\"id\":7,\"device\":\"cxi1\"}],"
                          "\"vnis\":[1024,1,65535,7]}"),
                     0);
    assert_int_equal(last.node.state, NODE_CREATED);
    assert_int_equal(last.node.number, 4711);
    assert_int_equal(last.node.order, 2);
    assert_string_equal(last.node.services, "cxi0:12,cxi1:7");
    assert_int_equal(last.node.vni_count, 4);
    assert_int_equal(last.node.vnis[0], 1024);
    assert_int_equal(last.node.vnis[2], 65535);
}

TEST(report__needs_state_and_number_only)
{
    assert_int_equal(node("{\"state\":\"destroyed\",\"number\":9223372036854775807}"), 0);
    assert_int_equal(last.node.state, NODE_DESTROYED);
    assert_true(last.node.number == INT64_MAX);
    assert_int_equal(last.node.order, 0);
    assert_int_equal(last.node.vni_count, 0);
    assert_string_equal(last.node.services, "");
    assert_int_equal(node("{\"state\":\"destroyed\",\"number\":1,\"services\":[],\"vnis\":[]}"), 0);
    assert_string_equal(last.node.services, "");
    assert_int_equal(last.node.vni_count, 0);
    assert_int_equal(node("{\"state\":\"lingering\",\"number\":1}"), 0);
    assert_int_equal(last.node.state, NODE_LINGERING);
}

/* Two services of one NIC are two, also when one's text begins as the other's does. */
TEST(services__may_share_a_nic)
{
    assert_int_equal(node("{\"state\":\"lingering\",\"number\":1,\"services\":["
                          "{\"device\":\"cxi0\",\"id\":12},{\"device\":\"cxi0\",\"id\":1},"
                          "{\"device\":\"xi0\",\"id\":12}]}"),
                     0);
    assert_string_equal(last.node.services, "cxi0:12,cxi0:1,xi0:12");
}

/* A report with so many services, whose names have so many bytes. */
static int node_with(int count, int bytes)
{
    char text[1024];
    size_t used =
        (size_t)snprintf(text, sizeof text, "{\"state\":\"created\",\"number\":1,\"services\":[");
    for (int i = 0; i < count; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s{\"device\":\"n%0*d\",\"id\":%d}",
                             i > 0 ? "," : "", bytes - 1, i, 999999999 - i);
    snprintf(text + used, sizeof text - used, "]}");
    return node(text);
}

/* What no record could hold is refused, not cut. */
TEST(services__have_a_bound)
{
    assert_int_equal(node_with(16, 5), 0);
    assert_int_equal(node_with(17, 5), -1);
    assert_string_equal(last.problem.field, "services");
    assert_int_equal(node_with(16, 15), -1);
    assert_string_equal(last.problem.field, "services");
    assert_non_null(strstr(last.problem.detail, "400 bytes"));
}

#define REPORT(members) "{\"state\":\"created\",\"number\":1," members "}"
#define SERVICES(list) REPORT("\"services\":" list)
#define VNIS(list) REPORT("\"vnis\":" list)

TEST(report__with_a_bad_value_is_refused)
{
    static const struct refusal cases[] = {
        {"{}", "missing-field", "state"},
        {"{\"number\":1}", "missing-field", "state"},
        {"{\"state\":\"created\"}", "missing-field", "number"},
        {"{\"state\":\"fenced\",\"number\":1}", "invalid", "state"}, /* an admin's word */
        {"{\"state\":\"Created\",\"number\":1}", "invalid", "state"},
        {"{\"state\":\"\",\"number\":1}", "invalid", "state"},
        {"{\"state\":1,\"number\":1}", "invalid", "state"},
        {"{\"state\":null,\"number\":1}", "invalid", "state"},
        {"{\"state\":\"created\",\"number\":0}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":-1}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":1.0}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":\"1\"}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":null}", "invalid", "number"},
        {REPORT("\"node\":\"n1\""), "unknown-field", "node"},
        {REPORT("\"number\":2"), "bad-json", ""},
        {SERVICES("{}"), "invalid", "services"},
        {SERVICES("null"), "invalid", "services"},
        {SERVICES("[1]"), "invalid", "services[0]"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1},{}]"), "invalid", "services[1].id"},
        {SERVICES("[{\"device\":\"cxi0\"}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":0}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1000000000}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":4294967297}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":\"1\"}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":null,\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"cxi 0\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"cxi0:1,cxi1\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"abcdefghijklmnop\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1,\"vni\":7}]"), "unknown-field", "vni"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1},{\"device\":\"cxi0\",\"id\":1}]"), "invalid",
         "services[1]"},
        {"{\"state\":\"destroyed\",\"number\":1,\"services\":[{\"device\":\"cxi0\",\"id\":1}]}",
         "invalid", "services"},
        {VNIS("[0]"), "invalid", "vnis"},
        {VNIS("[65536]"), "invalid", "vnis"},
        {VNIS("[\"1024\"]"), "invalid", "vnis"},
        {VNIS("1024"), "invalid", "vnis"},
        {VNIS("[1024,1024]"), "invalid", "vnis"},
        {VNIS("{}"), "invalid", "vnis"},
        {VNIS("[1,2,3,4,5]"), "invalid", "vnis"},
        {VNIS("null"), "invalid", "vnis"},
    };
    ASSERT_REFUSED(node, cases);
}

/* ---- one report for many nodes (F3) ---- */

static int nodes(const char *text)
{
    return read_json(text, strlen(text)) < 0
               ? -1
               : nodes_body_parse(last.json, &last.nodes, &last.problem);
}

TEST(nodes_report__is_read_whole)
{
    assert_int_equal(nodes("{\"nodes\":\"elcap[1-4000]\",\"number\":4711,\"state\":\"destroyed\"}"),
                     0);
    assert_string_equal(last.nodes.nodes, "elcap[1-4000]");
    assert_int_equal(last.nodes.number, 4711);
    assert_int_equal(last.nodes.state, NODE_DESTROYED);
    assert_int_equal(nodes("{\"nodes\":\"n1\",\"number\":1,\"state\":\"lingering\"}"), 0);
    assert_int_equal(last.nodes.state, NODE_LINGERING);
    assert_false(last.nodes.has_traffic);
    assert_int_equal(
        nodes("{\"nodes\":\"n[1-9]\",\"number\":1,\"state\":\"destroyed\",\"traffic\":{\"nodes\":8,"
              "\"tx_octets\":5,\"seconds\":60,\"shared\":1,\"unclear\":2,\"lacking\":[\"paused\"],"
              "\"slowest\":{\"node\":\"n3\",\"device\":\"cxi1\",\"octets\":4}}}"),
        0);
    assert_true(last.nodes.has_traffic);
    const struct traffic_record *sum = &last.nodes.traffic.sum;
    assert_int_equal(sum->told, 8);
    assert_int_equal(sum->amounts[TRAFFIC_TX_OCTETS], 5);
    assert_int_equal(sum->lacking, 1 << TRAFFIC_PAUSED);
    assert_int_equal(sum->unclear, 2);
    assert_string_equal(sum->slowest, "n3/cxi1");
    assert_int_equal(sum->slowest_octets, 4);
    assert_null(sum->congested);
}

#define SUMMED(traffic)                                                                            \
    "{\"nodes\":\"n1\",\"number\":1,\"state\":\"destroyed\",\"traffic\":" traffic "}"

TEST(nodes_report__with_a_bad_value_is_refused)
{
    static const struct refusal cases[] = {
        {"{}", "missing-field", "nodes"},
        {"{\"nodes\":\"n1\",\"number\":1}", "missing-field", "state"},
        {"{\"nodes\":\"n1\",\"state\":\"destroyed\"}", "missing-field", "number"},
        {"{\"nodes\":\"n1\",\"number\":1,\"state\":\"created\"}", "invalid", "state"},
        {"{\"nodes\":\"n1\",\"number\":1,\"state\":\"fenced\"}", "invalid", "state"},
        {"{\"nodes\":\"n1\",\"number\":1,\"state\":\"clean\"}", "invalid", "state"},
        {"{\"nodes\":\"n1\",\"number\":0,\"state\":\"destroyed\"}", "invalid", "number"},
        {"{\"nodes\":\"\",\"number\":1,\"state\":\"destroyed\"}", "invalid", "nodes"},
        {"{\"nodes\":\"n[2-1]\",\"number\":1,\"state\":\"destroyed\"}", "invalid", "nodes"},
        {"{\"nodes\":[\"n1\"],\"number\":1,\"state\":\"destroyed\"}", "invalid", "nodes"},
        {"{\"nodes\":\"n1\",\"number\":1,\"state\":\"destroyed\",\"order\":1}", "unknown-field",
         "order"},
        {SUMMED("7"), "invalid", "traffic"},
        {SUMMED("{\"nodes\":-1}"), "invalid", "traffic.nodes"},
        {SUMMED("{\"nodes\":1,\"lacking\":[\"air\"]}"), "invalid", "traffic.lacking"},
        {SUMMED("{\"nodes\":1,\"lacking\":\"paused\"}"), "invalid", "traffic.lacking"},
        {SUMMED("{\"nodes\":1,\"slowest\":{\"device\":\"cxi0\"}}"), "invalid",
         "traffic.slowest.node"},
        {SUMMED("{\"nodes\":1,\"congested\":{\"node\":\"a/b\",\"device\":\"cxi0\"}}"), "invalid",
         "traffic.congested.node"},
    };
    ASSERT_REFUSED(nodes, cases);
    assert_int_equal(nodes(cases[5].text), -1);
    assert_non_null(strstr(last.problem.detail, "state must be destroyed or lingering"));
}

/* ---- a request for a token (B3) ---- */

/* ---- a launch document (S1) ---- */

TEST(launch__says_which_start_and_how_long)
{
    assert_int_equal(launch("{}"), 0);
    assert_true(last.launch.wanted);
    assert_int_equal(last.launch.restart, -1);
    assert_int_equal(last.launch.lifetime_s, 86400);
    assert_int_equal(launch("{\"restart\":2,\"expires\":\"12h\"}"), 0);
    assert_int_equal(last.launch.restart, 2);
    assert_int_equal(last.launch.lifetime_s, 12 * 3600);
    assert_int_equal(launch("{\"expires\":60}"), 0);
    assert_int_equal(last.launch.lifetime_s, 60);
    assert_false(last.launch.env);
    assert_int_equal(launch("{\"env\":true}"), 0);
    assert_true(last.launch.env);
    assert_false(last.launch.addresses);
    assert_int_equal(launch("{\"addresses\":true}"), 0);
    assert_true(last.launch.addresses);
    assert_int_equal(launch("{\"env\":false}"), 0);
    assert_false(last.launch.env);
    assert_int_equal(last.launch.layout.interconnect, -1);
    assert_int_equal(launch("{\"interconnect\":\"none\",\"tasks_per_node\":4,\"cpus_per_task\":2}"),
                     0);
    assert_int_equal(last.launch.layout.interconnect, INTERCONNECT_NONE);
    assert_int_equal(last.launch.layout.tasks_per_node, 4);
    assert_int_equal(last.launch.layout.cpus_per_task, 2);
}

TEST(reserve__wants_a_launch_document_with_nodes_only)
{
    assert_int_equal(reserve("{\"uid\":1,\"nodes\":\"n1\"}"), 0);
    assert_false(last.launch.wanted);
    assert_int_equal(reserve("{\"uid\":1,\"nodes\":\"n1\",\"launch\":{\"restart\":0}}"), 0);
    assert_true(last.launch.wanted);
    assert_int_equal(last.launch.restart, 0);
}

TEST(wrong_launch__is_told)
{
    static const struct refusal alone[] = {
        {"{\"restart\":-1}", "invalid", "restart"},
        {"{\"restart\":2147483648}", "invalid", "restart"},
        {"{\"addresses\":\"yes\"}", "invalid", "addresses"},
        {"{\"expires\":0}", "invalid", "expires"},
        {"{\"expires\":\"8d\"}", "invalid", "expires"},
        {"{\"expires\":\"soon\"}", "invalid", "expires"},
        {"{\"interconnect\":\"elan\"}", "invalid", "interconnect"},
        {"{\"tasks_per_node\":0}", "invalid", "tasks_per_node"},
        {"{\"uid\":1}", "unknown-field", "uid"},
        {"{\"env\":1}", "invalid", "env"},
    };
    static const struct refusal within[] = {
        {"{\"uid\":1,\"nodes\":\"n1\",\"launch\":1}", "invalid", "launch"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"launch\":{\"env\":\"yes\"}}", "invalid", "launch.env"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"launch\":{\"restart\":\"0\"}}", "invalid",
         "launch.restart"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"launch\":{\"expires\":0}}", "invalid", "launch.expires"},
        {"{\"uid\":1,\"nodes\":\"n1\",\"launch\":{\"interconnect\":\"none\"}}", "unknown-field",
         "interconnect"},
        {"{\"uid\":1,\"node_count\":2,\"launch\":{}}", "missing-field", "nodes"},
    };
    ASSERT_REFUSED(launch, alone);
    ASSERT_REFUSED(reserve, within);
}

TEST(mint__may_say_nothing)
{
    assert_int_equal(mint(" { } "), 0);
    assert_null(last.mint.steps);
    assert_int_equal(last.mint.operations, 0);
    assert_int_equal(last.mint.expires, 0);
}

TEST(mint__says_steps_operations_and_time)
{
    assert_int_equal(mint("{\"steps\":\"/fA/fB\",\"operations\":[\"cleanup\",\"show\",\"show\"],"
                          "\"expires\":90}"),
                     0);
    assert_string_equal(last.mint.steps, "/fA/fB");
    assert_int_equal(last.mint.operations, BEARER_SHOW | BEARER_CLEANUP);
    assert_int_equal(last.mint.expires, NOW + 90);
    assert_int_equal(mint("{\"expires\":\"3650d\"}"), 0);
    assert_int_equal(last.mint.expires, NOW + INT64_C(3650) * 86400);
}

TEST(mint__with_a_bad_value_is_refused)
{
    static const struct refusal cases[] = {
        {"{\"step\":\"/fA\"}", "unknown-field", "step"},
        {"{\"steps\":\"\"}", "invalid", "steps"},
        {"{\"steps\":null}", "invalid", "steps"},
        {"{\"steps\":\"/fA/\"}", "invalid", "steps"},
        {"{\"expires\":0}", "invalid", "expires"},
        {"{\"expires\":315360001}", "invalid", "expires"},
        {"{\"expires\":\"3651d\"}", "invalid", "expires"},
        {"{\"expires\":\"999ms\"}", "invalid", "expires"},
        {"{\"expires\":\"1 h\"}", "invalid", "expires"},
        {"{\"expires\":9223372036854775807}", "invalid", "expires"},
        {"{\"expires\":-9223372036854775808}", "invalid", "expires"},
        {"{\"expires\":true}", "invalid", "expires"},
        {"{\"expires\":null}", "invalid", "expires"},
        {"{\"operations\":[]}", "invalid", "operations"},
        {"{\"operations\":[\"\"]}", "invalid", "operations"},
        {"{\"operations\":[7]}", "invalid", "operations"},
        {"{\"operations\":{\"show\":1}}", "invalid", "operations"},
        {"{\"operations\":[\"show\",\"all\"]}", "invalid", "operations"},
    };
    ASSERT_REFUSED(mint, cases);
}

TEST(wait__is_as_the_call_has_it_when_not_given)
{
    struct target target;
    int64_t ms = 0;
    char none[] = "/x", given[] = "/x?wait=3s", bad[] = "/x?wait=3";
    assert_int_equal(target_split(none, &target, &last.problem), 0);
    assert_int_equal(target_wait(&target, 5000, &ms, &last.problem), 0);
    assert_int_equal(ms, 5000);
    assert_int_equal(target_split(given, &target, &last.problem), 0);
    assert_int_equal(target_wait(&target, 5000, &ms, &last.problem), 0);
    assert_int_equal(ms, 3000);
    assert_int_equal(target_split(bad, &target, &last.problem), 0);
    assert_int_equal(target_wait(&target, 5000, &ms, &last.problem), -1);
    assert_int_equal(last.problem.status, 422);
    assert_string_equal(last.problem.field, "wait");
}

/* ---- a sync ---- */

TEST(ids__are_read_in_order)
{
    assert_int_equal(
        read_sync(" {\t\"active\"\r\n: [ \"a\" ,\n\"B-9_@+:.\",\"\\u0063\",\"a\" ] }\n"), 0);
    assert_int_equal(last.sync.count, 4);
    assert_string_equal(last.sync.active[0], "a");
    assert_string_equal(last.sync.active[1], "B-9_@+:.");
    assert_string_equal(last.sync.active[2], "c");
    assert_int_equal(read_sync("{\"active\":[]}"), 0);
    assert_int_equal(last.sync.count, 0);
}

#define ACTIVE(list) "{\"active\":" list "}"

TEST(sync__with_a_bad_value_is_refused)
{
    static const struct refusal cases[] = {
        {"{}", "missing-field", "active"},
        {ACTIVE("null"), "invalid", "active"},
        {ACTIVE("{}"), "invalid", "active"},
        {ACTIVE("\"a\""), "invalid", "active"},
        {ACTIVE("7"), "invalid", "active"},
        {ACTIVE("[\"a\",1]"), "invalid", "active[1]"},
        {ACTIVE("[\"a\",null]"), "invalid", "active[1]"},
        {ACTIVE("[\"a\",true]"), "invalid", "active[1]"},
        {ACTIVE("[\"a b\"]"), "invalid", "active[0]"},
        {ACTIVE("[\"\"]"), "invalid", "active[0]"},
        {ACTIVE("[[\"a\"]]"), "invalid", "active[0]"},
        {ACTIVE("[-1]"), "invalid", "active[0]"},
        {ACTIVE("[{}]"), "invalid", "active[0]"},
        {ACTIVE("[\"a\\u0020\"]"), "invalid", "active[0]"},
        {ACTIVE("[\"a\\u0161\"]"), "invalid", "active[0]"},
        {ACTIVE("[\"a\\n\"]"), "invalid", "active[0]"},
        {ACTIVE("[\"a\\/\"]"), "invalid", "active[0]"},
        {ACTIVE("[\"a\\\"\"]"), "invalid", "active[0]"},
        {ACTIVE("[\"\xc3\xa4\"]"), "invalid", "active[0]"},
        {"{\"active\":[],\"inactive\":[]}", "unknown-field", "inactive"},
        {"{\"active\":[],\"in\xc3\xa4\":[]}", "unknown-field", "in\xc3\xa4"},
        {"{\"\\u0061ctiv\":[]}", "unknown-field", "activ"},
    };
    static const char *const bad_json[] = {"[\"a\"]",
                                           "{\"active\":[\"a\"]",
                                           "  ",
                                           "x",
                                           "null",
                                           "-1",
                                           "\"active\"",
                                           "{",
                                           "{\"",
                                           "{\"active",
                                           "{\"active\"",
                                           "{\"active\" []}",
                                           "{\"active\":",
                                           "{\"active\":x}",
                                           "{\"active\":[",
                                           "{\"active\":[\"a",
                                           "{\"active\":[\"a\"",
                                           "{\"active\":[\"a\",",
                                           "{\"active\":[],\"in\xff\":[]}",
                                           "{\"active\":[],\"active\":[]}",
                                           ACTIVE("[\"a\",]"),
                                           ACTIVE("[,\"a\"]"),
                                           ACTIVE("[\"a\" \"b\"]"),
                                           "{\"active\":[\"a\"}",
                                           ACTIVE("[x]"),
                                           "{\"active\":[\"a\"],}",
                                           ACTIVE("[]}"),
                                           ACTIVE("[]") " x",
                                           ACTIVE("[\"a\nb\"]"),
                                           "{\"active\":[\"a\\",
                                           ACTIVE("[\"a\\x\"]"),
                                           "{\"active\":[\"a\\u00",
                                           ACTIVE("[\"a\\u00g0\"]"),
                                           ACTIVE("[\"a\\u0000\"]")};
    ASSERT_REFUSED(read_sync, cases);
    for (size_t i = 0; i < sizeof bad_json / sizeof bad_json[0]; i++)
        assert_refused(read_sync, &(struct refusal){bad_json[i], "bad-json", ""}, 1);
}

TEST(ids__are_two_million_at_most)
{
    char *text = malloc((SYNC_IDS_MAX + 1) * 4 + 32), *at = text;
    assert_non_null(text);
    at = stpcpy(at, "{\"active\":[\"a\"");
    for (size_t i = 1; i < SYNC_IDS_MAX; i++)
        at = stpcpy(at, ",\"a\"");
    strcpy(at, "]}");
    assert_int_equal(read_sync(text), 0);
    assert_int_equal(last.sync.count, SYNC_IDS_MAX);
    assert_string_equal(last.sync.active[SYNC_IDS_MAX - 1], "a");
    strcpy(at, ",\"a\"]}");
    assert_int_equal(read_sync(text), -1);
    assert_int_equal(last.problem.status, 422);
    assert_string_equal(last.problem.field, "active");
    free(text);
}

UNIT_RUN(NULL, NULL)
