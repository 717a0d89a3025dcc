/* SPDX-License-Identifier: Apache-2.0 */
/* Launch documents (S1, S5): what is written is read, and a document is accepted only for its job,
 * life, owner, node and time. */
#include "launch/document.h"
#include "tests/unit/unit.h"

enum { NOW = 1700000000 };

static struct launch sample(const char *nodes)
{
    return (struct launch){.interconnect = "slingshot",
                           .cluster = "elcap",
                           .job = "4711",
                           .number = 123,
                           .restart = 2,
                           .uid = 1000,
                           .node_count = 128,
                           .nodes = nodes,
                           .issued_s = NOW,
                           .expires_s = NOW + 3600,
                           .driver = json_pack("{s:[i]}", "vnis", 1024),
                           .tasks = json_pack("{s:s}", "FI_CXI_COLL_JOB_ID", "elcap-4711")};
}

/* Writes and reads it. */
static void make(struct launch *read, const char *nodes, int64_t restart)
{
    struct launch launch = sample(nodes);
    struct error err = {.text = ""};
    launch.restart = restart;
    char *text = launch_format(&launch);
    assert_non_null(text);
    if (launch_parse(read, text, strlen(text), &err) != 0)
        fail_msg("%s", err.text);
    free(text);
    json_decref(launch.driver);
    json_decref(launch.tasks);
}

static struct launch_here here(void)
{
    return (struct launch_here){.cluster = "elcap",
                                .job = "4711",
                                .restart = 2,
                                .uid = 1000,
                                .node = "elcap7",
                                .now_s = NOW + 1};
}

UNIT(document__is_read_as_written)
{
    struct launch launch;
    make(&launch, "elcap[1-128]", 2);
    assert_string_equal(launch.interconnect, "slingshot");
    assert_string_equal(launch.cluster, "elcap");
    assert_string_equal(launch.job, "4711");
    assert_int_equal(launch.number, 123);
    assert_int_equal(launch.restart, 2);
    assert_int_equal(launch.uid, 1000);
    assert_int_equal(launch.node_count, 128);
    assert_string_equal(launch.nodes, "elcap[1-128]");
    assert_null(launch.nodes_digest);
    assert_int_equal(launch.issued_s, NOW);
    assert_int_equal(launch.expires_s, NOW + 3600);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(launch.driver, "vnis"), 0)),
                     1024);
    assert_string_equal(json_string_value(json_object_get(launch.tasks, "FI_CXI_COLL_JOB_ID")),
                        "elcap-4711");
    launch_release(&launch);
}

/* B10: however many nodes there are, and however their list is written. */
UNIT(document__of_many_nodes_is_small)
{
    static char nodes[64 * 1024];
    struct launch launch = sample(nodes), read;
    struct launch_here there = here();
    struct error err = {.text = ""};
    size_t length = 0;
    for (int i = 1; i <= 11136; i += 2)
        length += (size_t)snprintf(nodes + length, sizeof nodes - length, "%selcap%d",
                                   i > 1 ? "," : "", i);
    char *text = launch_format(&launch);
    assert_non_null(text);
    assert_true(strlen(text) < 512);
    assert_int_equal(launch_parse(&read, text, strlen(text), &err), 0);
    assert_null(read.nodes);
    assert_int_equal(launch_check(&read, &there, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "--nodes"));
    there.nodes = nodes;
    assert_int_equal(launch_check(&read, &there, &err), 0);
    there.node = "elcap8";
    assert_int_equal(launch_check(&read, &there, &err), ERROR_REFUSED);
    there.node = "elcap7";
    there.nodes = "elcap[1-11136]";
    assert_int_equal(launch_check(&read, &there, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "another node list"));
    free(text);
    launch_release(&read);
    json_decref(launch.driver);
    json_decref(launch.tasks);
}

/* Each misuse gets one sentence that says what does not fit. */
UNIT(document__is_for_one_job_life_owner_node_and_time)
{
    const struct {
        struct launch_here here;
        const char *why;
    } misuses[] = {
        {{.cluster = "tuo",
          .job = "4711",
          .restart = 2,
          .uid = 1000,
          .node = "elcap7",
          .now_s = NOW},
         "cluster elcap"},
        {{.job = "4712", .restart = 2, .uid = 1000, .node = "elcap7", .now_s = NOW},
         "not of job 4712"},
        {{.job = "4711", .restart = 3, .uid = 1000, .node = "elcap7", .now_s = NOW},
         "start 2 of job 4711, this is start 3"},
        {{.job = "4711", .restart = 2, .uid = 1001, .node = "elcap7", .now_s = NOW}, "uid 1000"},
        {{.job = "4711", .restart = 2, .uid = 1000, .node = "elcap129", .now_s = NOW},
         "(elcap129) is not in the node list"},
        {{.job = "4711",
          .restart = 2,
          .uid = 1000,
          .node = "elcap7",
          .nodes = "elcap[1-127]",
          .now_s = NOW},
         "for another node list"},
        {{.job = "4711",
          .restart = 2,
          .uid = 1000,
          .node = "elcap7",
          .now_s = NOW + 3600 + LAUNCH_CLOCK_SKEW_S + 1},
         "expired 301 s ago"},
        {{.job = "4711",
          .restart = 2,
          .uid = 1000,
          .node = "elcap7",
          .now_s = NOW - LAUNCH_CLOCK_SKEW_S - 1},
         "in the future of this node"},
    };
    const struct launch_here right = here();
    struct launch launch;
    struct error err = {.text = ""};
    make(&launch, "elcap[1-128]", 2);
    assert_int_equal(launch_check(&launch, &right, &err), 0);
    struct launch_here told = right;
    told.nodes = "elcap[1-128]";
    assert_int_equal(launch_check(&launch, &told, &err), 0);
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
        assert_int_equal(launch_check(&launch, &misuses[i].here, &err), ERROR_REFUSED);
        assert_words(err.text, misuses[i].why);
    }
    launch_release(&launch);
}

/* Clocks may differ by minutes. */
UNIT(document__outlives_clocks_that_differ)
{
    struct launch_here there = here();
    struct launch launch;
    struct error err = {.text = ""};
    make(&launch, "elcap[1-128]", 2);
    there.now_s = NOW - LAUNCH_CLOCK_SKEW_S;
    assert_int_equal(launch_check(&launch, &there, &err), 0);
    there.now_s = NOW + 3600 + LAUNCH_CLOCK_SKEW_S;
    assert_int_equal(launch_check(&launch, &there, &err), 0);
    launch_release(&launch);
}

/* Where one side has no count of restarts the caller compares numbers. */
UNIT(document__without_restart_says_nothing_of_lives)
{
    struct launch_here there = here();
    struct launch launch;
    struct error err = {.text = ""};
    make(&launch, "elcap[1-128]", -1);
    assert_int_equal(launch.restart, -1);
    assert_int_equal(launch_check(&launch, &there, &err), 0);
    launch_release(&launch);
    make(&launch, "elcap[1-128]", 2);
    there.restart = -1;
    assert_int_equal(launch_check(&launch, &there, &err), 0);
    launch_release(&launch);
}

UNIT(document__that_is_none_is_refused)
{
#define START "{\"v\":1,\"interconnect\":\"slingshot\",\"cluster\":\"elcap\",\"job\":\"4711\","
#define TIMES "\"issued\":1,\"expires\":2,"
#define END "\"driver\":{},\"tasks\":{}}"
    static const struct {
        const char *text;
        int code;
    } bad[] = {
        {"", ERROR_INVALID},
        {"[]", ERROR_INVALID},
        {"{\"v\":2}", ERROR_VERSION},
        {"{\"v\":0}", ERROR_VERSION},
        {"{\"v\":1}", ERROR_INVALID},
        {START TIMES "\"number\":1,\"uid\":4294967295,\"node_count\":1,\"nodes\":\"a\"," END,
         ERROR_INVALID},
        {START TIMES "\"number\":0,\"uid\":1,\"node_count\":1,\"nodes\":\"a\"," END, ERROR_INVALID},
        /* To which the difference of clocks cannot be added. */
        {START "\"issued\":1,\"expires\":9223372036854775807,\"number\":1,\"uid\":1,"
               "\"node_count\":1,\"nodes\":\"a\"," END,
         ERROR_INVALID},
        {START TIMES "\"number\":-1,\"uid\":1,\"node_count\":1,\"nodes\":\"a\"," END,
         ERROR_INVALID},
        {START TIMES "\"number\":1,\"uid\":1,\"node_count\":1," END, ERROR_INVALID},
        {START TIMES "\"number\":1,\"uid\":1,\"node_count\":1,\"nodes\":\"a[\"," END,
         ERROR_INVALID},
        {START TIMES "\"number\":1,\"uid\":1,\"node_count\":1,\"nodes_digest\":\"short\"," END,
         ERROR_INVALID},
        {START TIMES
         "\"number\":1,\"uid\":1,\"node_count\":1,\"nodes\":\"a\",\"restart\":\"2\"," END,
         ERROR_INVALID},
        {START TIMES "\"number\":1,\"uid\":1,\"node_count\":1,\"nodes\":\"a\",\"driver\":{},"
                     "\"tasks\":{\"A\":1}}",
         ERROR_INVALID},
        {START TIMES "\"number\":1,\"uid\":1,\"uid\":0,\"node_count\":1,\"nodes\":\"a\"," END,
         ERROR_INVALID},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct launch launch;
        struct error err = {.text = ""};
        int code = launch_parse(&launch, bad[i].text, strlen(bad[i].text), &err);
        if (code != bad[i].code)
            fail_msg("case %zu: %d, \"%s\"", i, code, err.text);
        assert_null(launch.root);
    }
}

UNIT(document__has_a_digest_of_the_addresses_beside_it)
{
    struct launch launch = sample("elcap[1-128]"), read;
    struct error err = {.text = ""};
    launch.addresses = LAUNCH_ADDRESSES_PREFIX "elcap[1-128]=0x01200+1";
    char *text = launch_format(&launch);
    assert_non_null(text);
    assert_null(strstr(text, "0x01200"));
    assert_int_equal(launch_parse(&read, text, strlen(text), &err), 0);
    assert_true(launch_addresses_match(&read, launch.addresses));
    assert_false(launch_addresses_match(&read, LAUNCH_ADDRESSES_PREFIX "elcap[1-128]=0x01200+2"));
    launch_release(&read);
    free(text);
    json_decref(launch.driver);
    json_decref(launch.tasks);
    make(&read, "elcap[1-128]", 2);
    assert_null(read.addresses_digest);
    launch_release(&read);
}

UNIT_RUN(NULL, NULL)
