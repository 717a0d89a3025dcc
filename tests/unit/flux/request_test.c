/* SPDX-License-Identifier: Apache-2.0 */
/* What a job of Flux asks for (F2, F12, F14): R is Flux's word, the jobspec its user's. */

#include "deploy/flux/grant/request.h"
#include "tests/unit/unit.h"

static const char two_nodes[] = "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"4-5\","
                                "\"children\":{\"core\":\"0-95\"}}],"
                                "\"nodelist\":[\"elcap[4-5]\"],\"starttime\":1,\"expiration\":0}}";
static const char one_node[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"7\",\"children\":{\"core\":\"3\"}}],"
    "\"nodelist\":[\"elcap7\"]}}";

/* option: JSON of attributes.system.shell.options, or NULL for a jobspec without any. */
static int parse(struct request *request, const char *r, const char *options, struct error *err)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "%s\n{\"attributes\":{\"system\":{%s%s%s}}}\n", r,
                          options ? "\"shell\":{\"options\":" : "", options ? options : "",
                          options ? "}" : "");
    assert_in_range(length, 1, sizeof text - 1);
    FILE *from = fmemopen(text, (size_t)length, "r");
    assert_non_null(from);
    int rc = request_read(request, from, err);
    fclose(from);
    return rc;
}

UNIT(request__reads_nodes_and_cores)
{
    struct request request;
    assert_int_equal(parse(&request, two_nodes, NULL, NULL), 0);
    assert_string_equal(request.wanted.nodes, "elcap[4-5]");
    assert_int_equal(request.wanted.node_count, 2);
    assert_int_equal(request.wanted.cores_per_node, 96);
    assert_int_equal(request.wanted.vni_count, -1);
    assert_null(request.wanted.hwcoll);
    assert_null(request.wanted.traffic_classes);
    assert_false(request.off);
    request_release(&request);
}

/* F7: the most that the job has on one node, of nodes that are not alike. */
UNIT(request__takes_the_most_cores_of_a_node)
{
    static const char r[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"0-1\"}}"
        ","
        "{\"rank\":\"1-2\",\"children\":{\"core\":\"0-3,8\"}}],\"nodelist\":[\"a[0-1]\",\"b0\"]}}";
    struct request request;
    assert_int_equal(parse(&request, r, NULL, NULL), 0);
    assert_string_equal(request.wanted.nodes, "a[0-1],b0");
    assert_int_equal(request.wanted.node_count, 3);
    assert_int_equal(request.wanted.cores_per_node, 5);
    request_release(&request);
}

UNIT(request__understands_wishes)
{
    struct request request;
    assert_int_equal(
        parse(&request, two_nodes,
              "{\"mcast\":{\"vnis\":3,\"shared\":\"daos:a.b-1\",\"hwcoll\":\"required\","
              "\"tc\":\"low_latency:bulk_data,best_effort\"},\"mpi\":\"none\"}",
              NULL),
        0);
    assert_int_equal(request.wanted.vni_count, 3);
    assert_string_equal(request.wanted.hwcoll, "required");
    assert_string_equal(request.classes[0], "low_latency");
    assert_string_equal(request.classes[1], "bulk_data");
    assert_string_equal(request.classes[2], "best_effort");
    assert_null(request.classes[3]);
    assert_string_equal(request.wanted.shared_vnis[0], "daos");
    assert_string_equal(request.wanted.shared_vnis[1], "a.b-1");
    assert_null(request.wanted.shared_vnis[2]);
    request_release(&request);
}

/* -o mcast.shared=7 arrives as a number, -o mcast.shared=true as what it is in JSON (B1). */
UNIT(request__takes_every_name_of_a_shared_vni)
{
    static const char *const given[][2] = {{"7", "7"},         {"0", "0"},         {"-12", "-12"},
                                           {"true", "true"},   {"false", "false"}, {"null", "null"},
                                           {"\"7.5\"", "7.5"}, {"\"007\"", "007"}};
    struct request request;
    char wish[64];
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        snprintf(wish, sizeof wish, "{\"mcast\":{\"shared\":%s}}", given[i][0]);
        assert_int_equal(parse(&request, two_nodes, wish, NULL), 0);
        assert_string_equal(request.wanted.shared_vnis[0], given[i][1]);
        assert_null(request.wanted.shared_vnis[1]);
        request_release(&request);
    }
}

UNIT(request__may_be_off)
{
    static const char *const off[] = {"{\"mcast\":\"off\"}", "{\"mcast\":false}"};
    static const char *const on[] = {"{\"mcast\":1}", "{\"mcast\":\"on\"}", "{\"mcast\":{}}", "{}"};
    struct request request;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        assert_int_equal(parse(&request, two_nodes, off[i], NULL), 0);
        assert_true(request.off);
        request_release(&request);
    }
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        assert_int_equal(parse(&request, two_nodes, on[i], NULL), 0);
        assert_false(request.off);
        request_release(&request);
    }
}

/* F2: a wish of single-node jobs changes no other, and gives way to a number. */
UNIT(request__single_node_is_of_one_node_only)
{
    static const struct {
        const char *r, *options;
        int vnis;
    } cases[] = {
        {one_node, "{\"mcast\":{\"single-node\":\"off\"}}", 0},
        {one_node, "{\"mcast\":{\"single-node\":\"on\"}}", 1},
        {one_node, "{\"mcast\":{\"single-node\":\"off\",\"vnis\":2}}", 2},
        {two_nodes, "{\"mcast\":{\"single-node\":\"off\"}}", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct request request;
        assert_int_equal(parse(&request, cases[i].r, cases[i].options, NULL), 0);
        assert_int_equal(request.wanted.vni_count, cases[i].vnis);
        request_release(&request);
    }
}

/* P3: one of digits alone is a number to Flux. */
UNIT(request__names_a_profile)
{
    struct request request;
    assert_int_equal(parse(&request, two_nodes, "{\"mcast\":{\"profile\":\"large_2\"}}", NULL), 0);
    assert_string_equal(request.wanted.profile, "large_2");
    assert_int_equal(request.wanted.vni_count, -1);
    request_release(&request);
    assert_int_equal(parse(&request, two_nodes, "{\"mcast\":{\"profile\":64}}", NULL), 0);
    assert_string_equal(request.wanted.profile, "64");
    request_release(&request);
    assert_int_equal(parse(&request, two_nodes, "{}", NULL), 0);
    assert_null(request.wanted.profile);
    request_release(&request);
}

/* Of sites that had flux-coral2: its own words, and none of both kinds. */
UNIT(request__takes_options_of_cray_slingshot)
{
    static const struct {
        const char *options;
        int vnis;
        bool off;
        const char *refused;
    } cases[] = {
        {"{\"cray-slingshot\":\"off\"}", -1, true, NULL},
        {"{\"cray-slingshot\":{\"vnicount\":2}}", 2, false, NULL},
        {"{\"cray-slingshot\":{\"vnicount\":0}}", 0, false, NULL},
        {"{\"cray-slingshot\":{}}", -1, false, NULL},
        {"{\"cray-slingshot\":{\"vnicount\":5}}", 0, false, "vnicount=N of 0 to 4"},
        {"{\"cray-slingshot\":{\"vnis\":1}}", 0, false, "-o mcast.vnis=N"},
        {"{\"cray-slingshot\":{\"vnicount\":1,\"x\":1}}", 0, false, "-o mcast.vnis=N"},
        {"{\"cray-slingshot\":1}", 0, false, "-o mcast=off"},
        {"{\"cray-slingshot\":\"off\",\"mcast\":{\"vnis\":1}}", 0, false, "leave out the latter"},
        {"{\"cray-slingshot\":{\"vnicount\":1},\"mcast\":\"off\"}", 0, false, "are both given"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct request request;
        struct error err = {0};
        const int rc = parse(&request, two_nodes, cases[i].options, &err);
        assert_int_equal(rc, cases[i].refused ? ERROR_INVALID : 0);
        if (cases[i].refused) {
            assert_non_null(strstr(err.text, cases[i].refused));
        } else {
            assert_int_equal(request.wanted.vni_count, cases[i].vnis);
            assert_int_equal(request.off, cases[i].off);
        }
        request_release(&request);
    }
}

/* A user's word is understood or refused, with the option's name; never passed by. */
UNIT(request__refuses_what_it_does_not_understand)
{
    static const struct {
        const char *options, *named;
    } cases[] = {
        {"{\"mcast\":{\"vnis\":5}}", "mcast.vnis"},
        {"{\"mcast\":{\"vnis\":-1}}", "mcast.vnis"},
        {"{\"mcast\":{\"vnis\":\"2\"}}", "mcast.vnis"},
        {"{\"mcast\":{\"hwcoll\":\"yes\"}}", "mcast.hwcoll"},
        {"{\"mcast\":{\"hwcoll\":1}}", "mcast.hwcoll"},
        {"{\"mcast\":{\"tc\":\"a::b\"}}", "mcast.tc"},
        {"{\"mcast\":{\"tc\":\"--uid 0\"}}", "mcast.tc"},
        {"{\"mcast\":{\"tc\":\"low\"}}", "mcast.tc"},
        {"{\"mcast\":{\"tc\":\"best_effort:low\"}}", "mcast.tc"},
        {"{\"mcast\":{\"tc\":\"a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a\"}}", "mcast.tc"},
        {"{\"mcast\":{\"tc\":\"\"}}", "mcast.tc"},
        {"{\"mcast\":{\"shared\":\"Daos\"}}", "mcast.shared"},
        {"{\"mcast\":{\"shared\":\"a:b:c:d\"}}", "mcast.shared"},
        {"{\"mcast\":{\"shared\":7.5}}", "mcast.shared"},
        {"{\"mcast\":{\"shared\":{}}}", "mcast.shared"},
        {"{\"mcast\":{\"single-node\":true}}", "mcast.single-node"},
        {"{\"mcast\":{\"profile\":\"Large\"}}", "mcast.profile"},
        {"{\"mcast\":{\"profile\":\"\"}}", "mcast.profile"},
        {"{\"mcast\":{\"profile\":[]}}", "mcast.profile"},
        {"{\"mcast\":{\"profile\":\"a_name_of_33_bytes_012345678901234\"}}", "mcast.profile"},
        {"{\"mcast\":{\"vni\":1}}", "vnis, shared, hwcoll, tc, single-node and profile"},
        {"{\"mcast\":{\"vnis\":1,\"vni\":1}}", "-o mcast.vni is none of vnis, shared,"},
        {"{\"mcast\":{\"a\\n\":1}}", "-o mcast.… is none of vnis, shared,"},
        {"{\"mcast\":\"of\"}", "on or off"},
        {"{\"mcast\":2}", "on or off"},
        {"{\"mcast\":[]}", "on or off"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct request request;
        struct error err = {0};
        assert_int_equal(parse(&request, two_nodes, cases[i].options, &err), ERROR_INVALID);
        assert_non_null(strstr(err.text, cases[i].named));
        request_release(&request);
    }
}

UNIT(request__needs_a_resource_set)
{
    static const char *const broken[] = {
        "",
        "[]",
        "{}",
        "{\"execution\":{\"nodelist\":[1],\"R_lite\":[]}}",
        "{\"execution\":{\"nodelist\":[\"a\"],\"R_lite\":[]}}",
        "{\"execution\":{\"nodelist\":[\"a\"],\"R_lite\":[{\"rank\":\"0-\"}]}}",
        "{\"execution\":{\"nodelist\":[],\"R_lite\":[{\"rank\":\"0\"}]}}",
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct request request;
        struct error err = {0};
        assert_int_equal(parse(&request, broken[i], NULL, &err), ERROR_CORRUPT);
        assert_string_not_equal(err.text, "");
        request_release(&request);
    }
}

UNIT(idset__counts)
{
    static const struct {
        const char *text;
        uint32_t count;
    } good[] = {{"0", 1}, {"0-3", 4}, {"0-3,7,9-10", 7}, {"[0-3,7]", 5}, {"0-999999", 1000000}};
    static const char *const bad[] = {"",   "-",  "3-",   "3-2",  "a",         "0,",
                                      "[0", "0]", "0 ,1", "0--1", "0-1000000", "[0]]"};
    uint32_t count;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(request_count_ids(good[i].text, &count));
        assert_int_equal(count, good[i].count);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(request_count_ids(bad[i], &count));
    assert_false(request_count_ids(NULL, &count));
}

/* ---- what all may know of a reservation (F23, F24) ---- */

static void expect_summary(const char *expected, const char *reservation)
{
    json_t *given = json_loads(reservation, 0, NULL);
    json_t *memo = request_memo(given);
    assert_string_equal(json_string_value(json_object_get(memo, "summary")), expected);
    assert_int_equal(json_object_get(memo, "addresses") != NULL, strstr(expected, "23") != NULL);
    json_decref(memo);
    json_decref(given);
}

UNIT(memo__has_the_addresses_that_were_given_not_those_wished_for)
{
    expect_summary("VNIs 1024,1025, 23 addresses",
                   "{\"vnis\":[1024,1025],\"hwcoll\":{\"state\":\"reserved\",\"addresses\":23}}");
    expect_summary("VNI 1024, no addresses: none are left",
                   "{\"vnis\":[1024],\"hwcoll\":{\"state\":\"denied\",\"addresses\":23,"
                   "\"reason\":\"none are left\"}}");
    expect_summary("no VNI, no addresses", "{\"vnis\":[]}");
}

/* ---- launch documents (S5, F23) ---- */

UNIT(launch__is_asked_for_unless_the_site_does_not_want_it)
{
    unsetenv("MCAST_LAUNCH");
    assert_int_equal(request_launch()->restart, 0);
    assert_true(request_launch()->env);
    setenv("MCAST_LAUNCH", "auto", 1);
    assert_non_null(request_launch());
    setenv("MCAST_LAUNCH", "none", 1);
    assert_null(request_launch());
    unsetenv("MCAST_LAUNCH");
}

/* What the job cannot have is refused at once; all else is tried without a document. */
UNIT(failure__is_the_documents_or_the_jobs)
{
    static const struct {
        const char *word;
        int status;
        bool of_launch;
    } cases[] = {
        {"no-envelope", 409, true},       {"no-launch", 409, true}, {"unknown-field", 422, true},
        {"munge-unavailable", 503, true}, {"busy", 503, true},      {"conflict", 409, false},
        {"hwcoll-required", 503, false},  {"invalid", 422, false},  {"forbidden", 403, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mcast_error error = {.code = MCAST_REFUSED, .status = cases[i].status};
        snprintf(error.word, sizeof error.word, "%s", cases[i].word);
        if (request_fails_for_launch(&error) != cases[i].of_launch)
            fail_msg("%s", cases[i].word);
    }
    assert_true(request_fails_for_launch(
        &(struct mcast_error){.code = MCAST_UNREACHABLE, .word = "no-connection"}));
}

UNIT_RUN(NULL, NULL)
