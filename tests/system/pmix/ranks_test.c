/* SPDX-License-Identifier: Apache-2.0 */
/* libmcast_pmix in a host of a PMIx server, with a real broker, fabric manager (mock-fm) and node
 * (mock-cxi) (P7): two ranks and a tool. */

#include "tests/system/node/scene.h"
#include "tests/system/pmix/host.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/secretscan.h"

#include <unistd.h>

#define JOB "job.0"     /* by launch document; f17 at the broker */
#define PLAIN "plain.0" /* by the variables of a reservation; f18 */
#define OTHER "other.0" /* has nothing of the broker's */
static const pmix_nspace_t job_nspace = JOB, plain_nspace = PLAIN;

static struct scene *scene;
static struct mcast_pmix *pmix;
static struct mcast *broker;
static struct peer ranks[2], tool, other;

/* ---- a job's way from the broker to its ranks ---- */

static void reserve(const char *job, bool with_launch, struct mcast_reservation **out)
{
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_launch launch = MCAST_LAUNCH_INIT;
    struct mcast_error error;
    request.cluster = "elcap";
    request.job = job;
    request.uid = 5588;
    request.nodes = "n[1-2]";
    request.hwcoll = "on";
    request.launch = with_launch ? &launch : NULL;
    if (mcast_reserve(broker, &request, out, &error) < 0)
        fail_msg("%s: %s", job, error.text);
}

/* Through what a launch message is. */
static void carry(pmix_info_t *info, size_t ninfo, pmix_info_t **out)
{
    pmix_data_buffer_t buffer;
    int32_t count = (int32_t)ninfo;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    assert_int_equal(PMIx_Data_pack(NULL, &buffer, info, count, PMIX_INFO), PMIX_SUCCESS);
    PMIX_INFO_CREATE(*out, ninfo);
    assert_int_equal(PMIx_Data_unpack(NULL, &buffer, *out, &count, PMIX_INFO), PMIX_SUCCESS);
    assert_int_equal(count, ninfo);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
}

/* From the reservation to the node; the array as the node got it. */
static pmix_info_t *launch(const char *nspace, const struct mcast_reservation *reservation,
                           size_t *ninfo)
{
    struct mcast_pmix_application application = MCAST_PMIX_APPLICATION_INIT;
    struct mcast_error error;
    pmix_info_t *sent, *got;
    application.reservation = reservation;
    application.step = "3";
    if (mcast_pmix_setup_application(&application, &sent, ninfo, &error) < 0)
        fail_msg("%s", error.text);
    carry(sent, *ninfo, &got);
    mcast_pmix_free(sent, *ninfo);
    if (mcast_pmix_local_support(pmix, nspace, got, *ninfo, &error) < 0)
        fail_msg("%s", error.text);
    return got;
}

/* As root does on a node. */
static void prepare_node(const char *nspace, const char *job)
{
    struct fixture *fixture = scene->fixture;
    struct mcast_error error;
    char arguments[64];
    const char *document = mcast_pmix_launch(pmix, nspace);
    assert_non_null(document);
    snprintf(arguments, sizeof arguments, "prolog --job %s --launch -", job);
    assert_int_equal(fixture_run_with(fixture, document, arguments), 0);
    snprintf(arguments, sizeof arguments, "env --job %s --launch - --format json", job);
    fixture->prints_secrets = true;
    assert_int_equal(fixture_run_with(fixture, document, arguments), 0);
    fixture->prints_secrets = false;
    if (mcast_pmix_node_env(pmix, nspace, fixture->out, strlen(fixture->out), &error) < 0)
        fail_msg("%s", error.text);
}

static bool has_secret(const char *text)
{
    struct secretscan found;
    return secretscan_find(text, strlen(text), &found);
}

static bool infos_have_secret(const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *value = &info[i].value;
        if ((value->type == PMIX_STRING && has_secret(value->data.string)) ||
            (value->type == PMIX_ENVAR && has_secret(value->data.envar.value)))
            return true;
    }
    return false;
}

static void launch_all(void)
{
    struct mcast_reservation *reservation;
    pmix_info_t *info;
    size_t count;
    reserve("f17", true, &reservation);
    info = launch(JOB, reservation, &count);
    assert_false(infos_have_secret(info, count)); /* the document is encrypted */
    mcast_pmix_free(info, count);
    mcast_reservation_free(reservation);
    prepare_node(JOB, "f17");
    host_register(JOB, 2);

    reserve("f18", false, &reservation);
    info = launch(PLAIN, reservation, &count);
    assert_true(infos_have_secret(info, count));
    /* It need not have that, and some hosts hand all over. */
    assert_int_equal(PMIx_server_setup_local_support(plain_nspace, info, count, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    host_register(PLAIN, 1);
    mcast_pmix_free(info, count);
    mcast_reservation_free(reservation);
    host_register(OTHER, 1);
}

static int open_all(void **state)
{
    assert_int_equal(
        scene_open(state, true,
                   (struct testbed_options){.mcastd = MCASTD,
                                            .mock_fm = MOCK_FM,
                                            .fm = "grace = 100ms\nlink_retry = 100ms\n",
                                            .hwcoll = "min_nodes = 2\ntotal_addresses = 100\n"
                                                      "system_nodes = 100\njob_ca = yes\n"}),
        0);
    scene = *state;
    assert_int_equal(mcast_open(&broker, testbed_socket(scene->testbed), NULL), 0);
    setenv("PMIX_MCA_gds", "hash", 1); /* for releases 5 and 6 */
    setenv("FI_OPX_UUID", "outer", 1); /* of a job that the host runs in */
    setenv("SLINGSHOT_VNIS", "4000", 1);
    pmix = mcast_pmix_create();
    assert_non_null(pmix);
    host_start(pmix, scene->folder);
    launch_all();
    peer_start_rank(&ranks[0], JOB, 0);
    peer_start_rank(&ranks[1], JOB, 1);
    peer_start_rank(&other, OTHER, 0);
    peer_start_tool(&tool);
    return 0;
}

static int close_all(void **state)
{
    assert_int_equal(peer_end(&tool), 0);
    assert_int_equal(peer_end(&other), 0);
    assert_int_equal(peer_end(&ranks[0]), 0);
    assert_int_equal(peer_end(&ranks[1]), 0);
    PMIx_server_deregister_nspace(job_nspace, NULL, NULL);
    mcast_pmix_forget(pmix, JOB);
    assert_null(mcast_pmix_launch(pmix, JOB));
    host_stop();
    mcast_pmix_destroy(pmix);
    mcast_close(broker);
    return scene_close(state);
}

/* ---- tests ---- */

#define NOT_FOUND "-46"
#define EXPECT(peer, answer, ...) assert_string_equal(peer_ask(peer, __VA_ARGS__), answer)
#define EXPECT_WORDS(peer, words, ...) assert_words(peer_ask(peer, __VA_ARGS__), words)

static void ranks__have_the_jobs_environment(void **state)
{
    for (int i = 0; i < 2; i++) {
        EXPECT(&ranks[i], "1024", "env SLINGSHOT_VNIS");
        EXPECT(&ranks[i], "cxi0,cxi1,cxi2,cxi3", "env SLINGSHOT_DEVICES");
        EXPECT(&ranks[i], "elcap-f17", "env FI_CXI_COLL_JOB_ID");
        EXPECT(&ranks[i], "3", "env FI_CXI_COLL_JOB_STEP_ID");
        EXPECT(&ranks[i], "(unset)", "env FI_OPX_UUID");
        EXPECT_WORDS(&ranks[i], "sess-", "env FI_CXI_COLL_MCAST_TOKEN");
    }
    EXPECT(&other, "outer", "env FI_OPX_UUID"); /* not ours to judge */
    EXPECT(&other, "(unset)", "env FI_CXI_COLL_MCAST_TOKEN");
}

static void ranks__of_a_reservation_need_no_document(void **state)
{
    struct peer plain;
    peer_start_rank(&plain, PLAIN, 0);
    EXPECT(&plain, "elcap-f18", "env FI_CXI_COLL_JOB_ID");
    EXPECT(&plain, "3", "env FI_CXI_COLL_JOB_STEP_ID");
    EXPECT(&plain, "(unset)", "env FI_OPX_UUID");
    EXPECT(&plain, "0 f18", "get mcast.job");
    assert_null(mcast_pmix_launch(pmix, PLAIN));
    assert_int_equal(peer_end(&plain), 0);
}

static void facts__are_read(void **state)
{
    for (int i = 0; i < 2; i++) {
        EXPECT(&ranks[i], "0 elcap", "get mcast.cluster");
        EXPECT(&ranks[i], "0 f17", "get mcast.job");
        EXPECT(&ranks[i], "0 1", "get mcast.number");
        EXPECT(&ranks[i], "0 3", "get mcast.step");
        EXPECT(&ranks[i], "0 slingshot", "get mcast.interconnect");
        EXPECT(&ranks[i], "0 1024", "get mcast.vnis");
        EXPECT(&ranks[i], "0 low_latency,best_effort", "get mcast.traffic_classes");
        EXPECT(&ranks[i], "0 reserved", "get mcast.hwcoll");
        EXPECT(&ranks[i], "0 2", "get mcast.addresses");
        EXPECT(&ranks[i], "0 n[1-2]", "get mcast.nodes");
        EXPECT(&ranks[i], "0 2", "get mcast.node_count");
        EXPECT_WORDS(&ranks[i], NOT_FOUND, "get mcast.node.launch");
    }
    EXPECT_WORDS(&other, NOT_FOUND, "get mcast.vnis");
}

/* A process would read another key's value. */
static void facts__are_withheld_where_libpmix_mixes_them_up(void **state)
{
    const char *number = strpbrk(PMIx_Get_version(), "0123456789");
    const bool mixes = number[0] == '5' || number[0] == '6';
    pmix_info_t *info;
    size_t count;
    unsetenv("PMIX_MCA_gds");
    assert_int_equal(mcast_pmix_job_info(pmix, JOB, &info, &count),
                     mixes ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS);
    assert_int_equal(count == 0, mixes);
    mcast_pmix_free(info, count);
    setenv("PMIX_MCA_gds", "hash", 1);
}

static void secrets__are_told_to_no_tool(void **state)
{
    static const char *const keys[] = {"ALL",
                                       "mcast.node.launch",
                                       "mcast.node",
                                       "pmix.envar.set",
                                       "pmix.envar.unset",
                                       "mcast.launch",
                                       "FI_CXI_COLL_MCAST_TOKEN"};
    static const char *const nspaces[] = {JOB, PLAIN, "host"};
    const char *document = mcast_pmix_launch(pmix, JOB);
    EXPECT(&tool, "0 1024", "get mcast.vnis " JOB); /* facts it may read */
    for (size_t i = 0; i < sizeof nspaces / sizeof *nspaces; i++) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            for (int way = 0; way < 2; way++) {
                const char *answer =
                    peer_ask(&tool, "%s %s %s", way ? "query" : "get", keys[k], nspaces[i]);
                assert_false(has_secret(answer));
                assert_null(strstr(answer, document));
            }
        }
    }
    assert_false(has_secret(peer_ask(&tool, "fabric")));
    assert_false(has_secret(peer_ask(&tool, "allocate slingshot")));
}

static void requests__that_are_not_mine_are_the_hosts(void **state)
{
    EXPECT(&ranks[0], "0 host.own=yes", "query host.something " JOB);
    EXPECT(&ranks[0], "0 host.own=yes", "allocate tcp");
    EXPECT(&other, "0 host.own=yes", "allocate slingshot");
    EXPECT(&other, "0 1 host.own=yes", "fabric");
}

static void requests__of_the_fabric_are_answered(void **state)
{
    EXPECT_WORDS(&ranks[0], "pmix.fab.vndr=HPE pmix.fab.id=Slingshot", "fabric");
    EXPECT_WORDS(&ranks[1], " mcast.vnis=1024 ", "fabric");
    EXPECT_WORDS(&ranks[0], "0 mine=[ pmix.alloc.nettype=slingshot", "allocate slingshot");
    EXPECT_WORDS(&ranks[0], "mcast.vnis=1024 ]", "allocate slingshot");
    /* A tool names the namespace; PMIx itself may know the fact from there. */
    EXPECT_WORDS(&tool, "0 mcast.vnis=1024", "query mcast.vnis " JOB);
    EXPECT_WORDS(&tool, NOT_FOUND, "query mcast.vnis " OTHER);
}

/* ---- events ---- */

static uint64_t seen;

static int pass_on(const struct mcast_event *event, void *data)
{
    pmix_info_t *info;
    size_t count;
    pmix_status_t code;
    seen = event->seq;
    const pmix_status_t rc = mcast_pmix_event(pmix, event, &code, &info, &count);
    if (rc != PMIX_SUCCESS)
        return 0;
    assert_int_equal(PMIx_Notify_event(code, NULL, PMIX_RANGE_CUSTOM, info, count, NULL, NULL),
                     PMIX_SUCCESS);
    mcast_pmix_free(info, count);
    return 0;
}

struct expected {
    struct peer *peer;
    const char *words;
};

static bool has_heard(void *arg)
{
    const struct expected *expected = arg;
    /* the broker may have been restarted since */
    assert_int_equal(mcast_events(broker, seen, 0, pass_on, NULL, NULL), 0);
    return strstr(peer_ask(expected->peer, "heard"), expected->words);
}

static void await_heard(struct peer *peer, const char *words)
{
    struct expected expected = {peer, words};
    if (!await(has_heard, &expected, AWAIT_DEADLINE_MS))
        fail_msg("%s is not in: %s", words, peer_ask(peer, "heard"));
}

static size_t count_words(const char *text, const char *words)
{
    size_t count = 0;
    for (; (text = strstr(text, words)); text += strlen(words))
        count++;
    return count;
}

static void forget_at_the_fabric_manager(const char *job)
{
    struct plainhttp_reply reply;
    char body[64];
    snprintf(body, sizeof body, "{\"jobs\":[\"elcap-%s\"]}", job);
    assert_in_range(
        plainhttp_call(testbed_fm_http(scene->testbed), "POST", "/mock/forget", body, &reply), 200,
        201);
    plainhttp_reply_release(&reply);
    testbed_kill_broker(scene->testbed);
    assert_int_equal(testbed_start_broker(scene->testbed), 0);
}

static void events__reach_the_jobs_ranks_once(void **state)
{
    EXPECT(&ranks[0], "0", "listen %d", PMIX_FABRIC_UPDATE_ENDPOINTS);
    EXPECT(&ranks[0], "1", "listen %d", PMIX_FABRIC_UPDATE_PENDING);
    EXPECT(&ranks[0], "2", "listen %d", PMIX_FABRIC_UPDATED);
    EXPECT(&ranks[1], "0", "listen"); /* by default: under Slurm it would end the step */
    EXPECT(&other, "0", "listen %d %d", PMIX_FABRIC_UPDATE_ENDPOINTS, PMIX_FABRIC_UPDATED);
    assert_int_equal(testbed_stop_fm(scene->testbed), 0);
    reserve("f19", false, NULL); /* whose call finds that out */
    await_heard(&ranks[0], "1:-176:link-down:");
    assert_int_equal(testbed_start_fm(scene->testbed), 0);
    await_heard(&ranks[0], "2:-175:link-up:");
    forget_at_the_fabric_manager("f17");
    await_heard(&ranks[0], "0:-113:lost:");
    assert_int_equal(count_words(peer_ask(&ranks[0], "heard"), ":lost:"), 1);
    EXPECT(&ranks[1], "heard", "heard");
    EXPECT(&other, "heard", "heard"); /* it has nothing of the broker's */
}

/* PMIx hands to a handler that registers late what was before, in some cases also to one that has
 * had it: the number says that it is the same. */
static void events__reach_late_handlers_with_their_number(void **state)
{
    static const char words[] = "-176:link-down:";
    const char *first = strstr(peer_ask(&ranks[0], "heard"), words);
    char same[64];
    assert_non_null(first);
    snprintf(same, sizeof same, "%s%.*s:", words, (int)strcspn(first + strlen(words), ":"),
             first + strlen(words));
    EXPECT(&ranks[1], "1", "listen %d", PMIX_FABRIC_UPDATE_PENDING);
    await_heard(&ranks[1], same);
}

UNIT_GROUP(open_all, close_all, cmocka_unit_test(ranks__have_the_jobs_environment),
           cmocka_unit_test(ranks__of_a_reservation_need_no_document),
           cmocka_unit_test(facts__are_read),
           cmocka_unit_test(facts__are_withheld_where_libpmix_mixes_them_up),
           cmocka_unit_test(secrets__are_told_to_no_tool),
           cmocka_unit_test(requests__that_are_not_mine_are_the_hosts),
           cmocka_unit_test(requests__of_the_fabric_are_answered),
           cmocka_unit_test(events__reach_the_jobs_ranks_once),
           cmocka_unit_test(events__reach_late_handlers_with_their_number))
