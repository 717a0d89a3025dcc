/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/call.h"
#include "tests/unit/unit.h"

static const char whole[] =
    "{\"cluster\":\"elcap\",\"job\":\"f2Rs8sydSxmd\",\"number\":4711,\"state\":\"active\","
    "\"uid\":5588,\"nodes\":\"elcap[1-128]\",\"node_count\":128,\"cores_per_node\":96,"
    "\"vnis\":[1024,65535],\"traffic_classes\":[\"best_effort\",\"low_latency\"],"
    "\"created\":\"2026-11-21T08:00:00.123Z\","
    "\"hwcoll\":{\"state\":\"reserved\",\"addresses\":23,\"min_nodes\":64,"
    "\"trees\":3,\"trees_known\":\"some\",\"tree_steps\":[\"0\",\"/fA\"]},"
    "\"env\":{\"FI_CXI_COLL_JOB_ID\":\"elcap-f2Rs8sydSxmd\","
    "\"FI_CXI_COLL_MCAST_TOKEN\":\"s3cr3t\"},\"later\":{\"unknown\":[1]}}";

UNIT(reservation__decodes_everything)
{
    struct mcast_reservation *r = NULL;
    struct mcast_error error;
    assert_int_equal(reservation_parse(whole, strlen(whole), &r, &error), 0);
    assert_string_equal(r->cluster, "elcap");
    assert_string_equal(r->job, "f2Rs8sydSxmd");
    assert_int_equal(r->number, 4711);
    assert_string_equal(r->state, "active");
    assert_int_equal(r->uid, 5588);
    assert_string_equal(r->nodes, "elcap[1-128]");
    assert_int_equal(r->node_count, 128);
    assert_int_equal(r->cores_per_node, 96);
    assert_int_equal(r->vni_count, 2);
    assert_int_equal(r->vnis[0], 1024);
    assert_int_equal(r->vnis[1], 65535);
    assert_string_equal(r->traffic_classes[0], "best_effort");
    assert_string_equal(r->traffic_classes[1], "low_latency");
    assert_null(r->traffic_classes[2]);
    assert_string_equal(r->created, "2026-11-21T08:00:00.123Z");
    assert_null(r->released);
    assert_string_equal(r->hwcoll_state, "reserved");
    assert_int_equal(r->hwcoll_addresses, 23);
    assert_int_equal(r->hwcoll_min_nodes, 64);
    assert_int_equal(r->hwcoll_trees, 3);
    assert_string_equal(r->hwcoll_trees_known, "some");
    assert_string_equal(r->hwcoll_tree_steps[1], "/fA");
    assert_null(r->hwcoll_tree_steps[2]);
    assert_null(r->warning);
    assert_int_equal(r->env_count, 2);
    assert_string_equal(r->env[0].name, "FI_CXI_COLL_JOB_ID");
    assert_false(r->env[0].secret);
    assert_string_equal(r->env[1].value, "s3cr3t");
    assert_true(r->env[1].secret);
    mcast_reservation_free(r);
}

/* S1, S6: what the job is like; of an older broker, which does not say, it is Slingshot. */
UNIT(reservation__has_an_interconnect)
{
    static const char omnipath[] =
        "{\"cluster\":\"elcap\",\"job\":\"1\",\"number\":1,\"state\":\"active\","
        "\"interconnect\":\"omnipath\",\"tasks_per_node\":8,\"cpus_per_task\":4,"
        "\"partition_key\":\"0x8001\",\"origin\":\"plugin\",\"vnis\":[],\"env\":{"
        "\"FI_OPX_UUID\":\"00112233445566778899aabbccddeeff\","
        "\"FI_PSM3_UUID\":\"00112233-4455-6677-8899-aabbccddeeff\",\"PSM3_PKEY\":\"0x8001\","
        "\"FI_PROVIDER_PATH\":\"/tmp\",\"PSM3_PKEY;id\":\"1\"}}";
    char good[sizeof omnipath];
    struct mcast_reservation *r = NULL;
    struct mcast_error error;
    assert_int_equal(reservation_parse(omnipath, strlen(omnipath), &r, &error), MCAST_UNCLEAR);
    strcpy(good, omnipath);
    strcpy(strstr(good, ",\"PSM3_PKEY;id"), "}}");
    assert_int_equal(reservation_parse(good, strlen(good), &r, &error), 0);
    assert_string_equal(r->interconnect, "omnipath");
    assert_int_equal(r->tasks_per_node, 8);
    assert_int_equal(r->cpus_per_task, 4);
    assert_string_equal(r->partition_key, "0x8001");
    assert_string_equal(r->origin, "plugin");
    assert_int_equal(r->env_count, 3); /* what could harm a shell is left out */
    assert_true(r->env[0].secret);
    assert_true(r->env[1].secret);
    assert_false(r->env[2].secret);
    mcast_reservation_free(r);
    assert_int_equal(reservation_parse(whole, strlen(whole), &r, &error), 0);
    assert_string_equal(r->interconnect, "slingshot");
    assert_int_equal(r->tasks_per_node, 0);
    assert_null(r->partition_key);
    assert_null(r->origin);
    mcast_reservation_free(r);
}

UNIT(reservation__json_masks_secrets_unless_asked)
{
    struct mcast_reservation *r = NULL;
    assert_int_equal(reservation_parse(whole, strlen(whole), &r, NULL), 0);
    char *masked = mcast_reservation_json(r, 0);
    char *open = mcast_reservation_json(r, MCAST_JSON_SECRETS);
    char *indented = mcast_reservation_json(r, MCAST_JSON_INDENT);
    assert_null(strstr(masked, "s3cr3t"));
    assert_non_null(strstr(masked, "\"FI_CXI_COLL_MCAST_TOKEN\":\"***\""));
    assert_non_null(strstr(masked, "\"later\":{\"unknown\":[1]}"));
    assert_string_equal(open, whole);
    assert_null(strstr(indented, "s3cr3t"));
    assert_non_null(strchr(indented, '\n'));
    assert_string_equal(r->env[1].value, "s3cr3t"); /* masking leaves the reservation alone */
    free(masked);
    free(open);
    free(indented);
    mcast_reservation_free(r);
}

UNIT(reservation__needs_only_its_names)
{
    static const char bare[] = "{\"cluster\":\"c\",\"job\":\"j\",\"number\":1,\"uid\":0,"
                               "\"state\":\"something-new\",\"nodes\":null,\"hwcoll\":null,"
                               "\"vnis\":null,\"env\":null,\"warning\":null}";
    struct mcast_reservation *r = NULL;
    assert_int_equal(reservation_parse(bare, strlen(bare), &r, NULL), 0);
    assert_string_equal(r->state, "something-new");
    assert_null(r->nodes);
    assert_int_equal(r->vni_count, 0);
    assert_null(r->traffic_classes[0]);
    assert_string_equal(r->hwcoll_state, "off");
    assert_string_equal(r->created, "");
    assert_int_equal(r->env_count, 0);
    char *json = mcast_reservation_json(r, 0);
    assert_non_null(json);
    free(json);
    mcast_reservation_free(r);
}

/* What a second release gets: a hook that runs twice must see success. */
UNIT(reservation__of_a_job_that_is_gone)
{
    static const char gone[] = "{\"cluster\":\"c\",\"job\":\"j\",\"state\":\"gone\"}";
    struct mcast_reservation *r = NULL;
    assert_int_equal(reservation_parse(gone, strlen(gone), &r, NULL), 0);
    assert_string_equal(r->state, "gone");
    assert_int_equal(r->number, 0);
    assert_int_equal(r->uid, UINT32_MAX);
    mcast_reservation_free(r);
}

/* Each of these differs from a good answer in one field, which the message must name. */
UNIT(reservation__refuses_odd_answers)
{
    static const struct {
        const char *field, *value;
    } cases[] = {
        {"cluster", "null"},
        {"cluster", "7"},
        {"job", "[]"},
        {"number", "\"1\""},
        {"number", "-1"},
        {"number", "1.5"},
        {"state", "true"},
        {"uid", "4294967296"},
        {"uid", "\"root\""},
        {"nodes", "[\"n1\"]"},
        {"node_count", "-5"},
        {"vnis", "1024"},
        {"vnis", "[1,2,3,4,5]"},
        {"vnis", "[65536]"},
        {"vnis", "[\"1\"]"},
        {"traffic_classes", "[1]"},
        {"traffic_classes", "\"best_effort\""},
        {"hwcoll", "\"reserved\""},
        {"hwcoll", "[]"},
        {"env", "[]"},
        {"env", "{\"A\":1}"},
        {"env", "{\"A=B\":\"x\"}"},
        {"env", "{\"A;rm\":\"x\"}"},
        {"env", "{\"\":\"x\"}"},
        {"env", "{\"1A\":\"x\"}"},
        {"env", "{\"FI_CXI_X\":\"a\\nexport LD_PRELOAD=/tmp/x.so\"}"},
        {"env", "{\"FI_CXI_X\":\"\\u001b[2J\"}"},
        {"env", "{\"FI_CXI_X\":\"\\u007f\"}"},
        {"warning", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *root = json_loads(whole, 0, NULL);
        json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        assert_int_equal(json_object_set_new(root, cases[i].field, value), 0);
        struct mcast_reservation *r = NULL;
        struct mcast_error error;
        assert_int_equal(reservation_decode(root, &r, &error), MCAST_UNCLEAR);
        assert_null(r);
        assert_non_null(strstr(error.text, cases[i].field));
        assert_null(strstr(error.text, "s3cr3t"));
    }
}

/* They are evaluated by shells of root's, too (B3): a false broker sets nothing but what
 * Slingshot's libraries read. */
UNIT(reservation__passes_on_variables_of_slingshot_only)
{
    static const char env[] =
        "{\"LD_PRELOAD\":\"/tmp/x.so\",\"PATH\":\"/tmp\",\"FI_CXI_A\":\"/a b\","
        "\"FI_PROVIDER_PATH\":\"/tmp\",\"SLINGSHOT_VNIS\":\"1024\","
        "\"XFI_CXI_A\":\"x\"}";
    struct mcast_reservation *r = NULL;
    struct mcast_error error;
    json_t *root = json_loads(whole, 0, NULL);
    assert_int_equal(json_object_set_new(root, "env", json_loads(env, 0, NULL)), 0);
    assert_int_equal(reservation_decode(root, &r, &error), 0);
    assert_int_equal(r->env_count, 2);
    assert_string_equal(r->env[0].name, "FI_CXI_A");
    assert_string_equal(r->env[0].value, "/a b");
    assert_string_equal(r->env[1].name, "SLINGSHOT_VNIS");
    mcast_reservation_free(r);
}

UNIT(reservation__refuses_what_is_no_object)
{
    static const char *const bodies[] = {"",
                                         "null",
                                         "[]",
                                         "\"x\"",
                                         "{",
                                         "{}{}",
                                         "{\"a\":\"\\u0000\"}",
                                         "{\"token\":\"s3cr3t\" oops}"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct mcast_reservation *r = NULL;
        struct mcast_error error;
        assert_int_equal(reservation_parse(bodies[i], strlen(bodies[i]), &r, &error),
                         MCAST_UNCLEAR);
        assert_null(strstr(error.text, "s3cr3t"));
    }
}

UNIT(reservation__free_takes_null)
{
    mcast_reservation_free(NULL);
}

/* What an older broker leaves out is not there; what is of a wrong kind is refused. */
UNIT(reservation__tells_who_is_waited_for)
{
#define WAITING(more)                                                                              \
    "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":1,\"state\":\"releasing\","                  \
    "\"waiting_for\":{\"count\":4,\"unheard\":2" more "}}"
    static const char full[] = WAITING(
        ",\"nodes\":[\"n1\",\"n2\"],\"lingering\":1,\"created\":1,\"reports\":[{\"node\":\"n1\","
        "\"state\":\"lingering\",\"services\":\"cxi2:2\"},{\"node\":\"n2\",\"state\":"
        "\"created\"}],\"silent\":\"n3\",\"silent_more\":1");
    static const char *const bad[] = {
        WAITING(",\"reports\":{}"),
        WAITING(",\"reports\":[\"n1\"]"),
        WAITING(",\"reports\":[{\"node\":\"n1\"}]"),
        WAITING(",\"reports\":[{\"node\":1,\"state\":\"created\"}]"),
        WAITING(",\"reports\":[{\"node\":\"n1\",\"state\":\"created\",\"services\":[]}]"),
        WAITING(",\"silent\":[]"),
        WAITING(",\"silent_more\":-1"),
        WAITING(",\"lingering\":\"1\""),
    };
    struct mcast_reservation *r = NULL;
    struct mcast_error error;
    assert_int_equal(reservation_parse(full, strlen(full), &r, &error), 0);
    assert_int_equal(r->waiting_lingering, 1);
    assert_int_equal(r->waiting_created, 1);
    assert_int_equal(r->waiting_report_count, 2);
    assert_string_equal(r->waiting_reports[0].node, "n1");
    assert_string_equal(r->waiting_reports[0].state, "lingering");
    assert_string_equal(r->waiting_reports[0].services, "cxi2:2");
    assert_null(r->waiting_reports[1].services);
    assert_string_equal(r->waiting_silent, "n3");
    assert_int_equal(r->waiting_silent_more, 1);
    mcast_reservation_free(r);
    assert_int_equal(reservation_parse(WAITING(""), strlen(WAITING("")), &r, &error), 0);
    assert_int_equal(r->waiting_report_count, 0);
    assert_null(r->waiting_silent);
    mcast_reservation_free(r);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(reservation_parse(bad[i], strlen(bad[i]), &r, &error), MCAST_UNCLEAR);
}

UNIT_RUN(NULL, NULL)
