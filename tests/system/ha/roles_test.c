/* SPDX-License-Identifier: Apache-2.0 */
/* Several real brokers on real etcd: who leads, who takes over, and what a standby says (B7). */

#include "tests/system/ha/brokers.h"

#include "tests/system/http/contract.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct etcdcluster *cluster;
static struct brokers brokers;

static int open_cluster(void **state)
{
    cluster = etcdcluster_create(&(struct etcdcluster_options){0});
    return cluster ? 0 : -1;
}

static int close_cluster(void **state)
{
    etcdcluster_destroy(cluster);
    return 0;
}

static int open_brokers(void **state)
{
    brokers_open(&brokers, cluster);
    return 0;
}

static int close_brokers(void **state)
{
    brokers_close(&brokers);
    return 0;
}

#define JOB "/v1/clusters/elcap/jobs/f1"
#define RESERVE "{\"nodes\":\"n[1-2]\",\"uid\":1000}"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* The body is as openapi.json says, which the first broker has to give once. */
static void suits(json_t *body, const char *schema)
{
    static json_t *document;
    char why[512] = "";
    struct plainhttp_reply reply;
    if (!document) {
        assert_int_equal(brokers_call(&brokers, 0, "GET", "/openapi.json", NULL, &reply), 200);
        document = json_incref(reply.json);
        plainhttp_reply_release(&reply);
    }
    if (!contract_suits(document, schema, body, why, sizeof why))
        fail_msg("%s: %s", schema, why);
}

/* The VNI that the job has. */
static int vni_of(const char *job)
{
    struct plainhttp_reply reply;
    assert_int_equal(
        brokers_call(&brokers, brokers_await_leader(&brokers), "GET", job, NULL, &reply), 200);
    int vni = (int)json_integer_value(json_array_get(json_object_get(reply.json, "vnis"), 0));
    plainhttp_reply_release(&reply);
    return vni;
}

/* A standby answers for itself, and sends clients to the leader for the rest. */
static void standby__says_who_leads(void **state)
{
    static const char *const refused[] = {"/readyz", "/v1/jobs", JOB, "/v1/events"};
    struct plainhttp_reply reply;
    brokers_start_all(&brokers, 2);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(brokers_call(&brokers, 1, "GET", refused[i], NULL, &reply), 503);
        suits(reply.json, "Problem");
        assert_string_equal(text_of(reply.json, "code"), "not-leader");
        assert_string_equal(text_of(reply.json, "leader"), brokers.socket[0]);
        plainhttp_reply_release(&reply);
    }
    assert_int_equal(brokers_call(&brokers, 1, "PUT", JOB, RESERVE, &reply), 503);
    assert_string_equal(text_of(reply.json, "leader"), brokers.socket[0]);
    assert_non_null(strstr(text_of(reply.json, "detail"), "MCAST_URL"));
    plainhttp_reply_release(&reply);
    assert_int_equal(brokers_call(&brokers, 1, "GET", "/v1/status", NULL, &reply), 200);
    suits(reply.json, "Status");
    const json_t *leadership = json_object_get(reply.json, "leadership");
    assert_string_equal(text_of(leadership, "phase"), "standby");
    assert_string_equal(text_of(leadership, "leader"), brokers.socket[0]);
    assert_string_equal(text_of(leadership, "member"), etcdcluster_url(cluster, 0));
    plainhttp_reply_release(&reply);
    assert_int_equal(brokers_call(&brokers, 1, "GET", "/metrics", NULL, &reply), 200);
    assert_non_null(strstr(reply.text, "mcastd_role{role=\"standby\"} 1"));
    plainhttp_reply_release(&reply);
    assert_int_equal(plainhttp_probe(brokers.clients[1], "/healthz"), 200);
    assert_int_equal(plainhttp_probe(brokers.clients[0], "/readyz"), 200);
}

static void leader__that_is_killed_is_replaced(void **state)
{
    brokers_start_all(&brokers, 2);
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 201);
    const int vni = vni_of(JOB);
    brokers_kill(&brokers, 0);
    brokers_await_role(&brokers, 1, "leader");
    assert_int_equal(vni_of(JOB), vni);
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 200); /* I7: the same again */
    brokers_start(&brokers, 0);
    brokers_await_role(&brokers, 0, "standby");
}

static int connect_to(const char *socket_url)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.100s",
                   socket_url + strlen("unix:"));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void ask(int fd)
{
    static const char request[] = "GET " JOB " HTTP/1.1\r\nHost: broker\r\n\r\n";
    assert_int_equal(write(fd, request, sizeof request - 1), sizeof request - 1);
}

/* I10: what was paused while another took over answers nothing any more. */
static void leader__that_was_paused_says_nothing_and_ends(void **state)
{
    char answer[1024];
    brokers_start_all(&brokers, 2);
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 201);
    const int known = connect_to(brokers.socket[0]);
    ask(known);
    assert_true(read(known, answer, sizeof answer) > 0);
    assert_memory_equal(answer, "HTTP/1.1 200 OK", 15);
    brokers_signal(&brokers, 0, SIGSTOP);
    brokers_await_role(&brokers, 1, "leader");
    /* Sent while it is stopped, so there when it goes on. */
    const int fresh = connect_to(brokers.socket[0]);
    ask(known);
    ask(fresh);
    brokers_signal(&brokers, 0, SIGCONT);
    assert_int_equal(brokers_await_exit(&brokers, 0), 75);
    brokers_await_log(&brokers, 0, "this broker leads no longer, stopping at once", 1);
    assert_true(read(known, answer, sizeof answer) <= 0);
    assert_true(read(fresh, answer, sizeof answer) <= 0);
    close(known);
    close(fresh);
    brokers_start(&brokers, 0);
    brokers_await_role(&brokers, 0, "standby");
}

/* What the leader knows of the first of its standbys; "" when there is none. */
static void standby_of(const char *name, char out[256])
{
    struct plainhttp_reply reply;
    assert_int_equal(brokers_call(&brokers, 0, "GET", "/v1/status", NULL, &reply), 200);
    suits(reply.json, "Status");
    const json_t *leadership = json_object_get(reply.json, "leadership");
    (void)snprintf(out, 256, "%s",
                   text_of(json_array_get(json_object_get(leadership, "standbys"), 0), name));
    plainhttp_reply_release(&reply);
}

static void own_configuration(unsigned broker, char out[256])
{
    struct plainhttp_reply reply;
    assert_int_equal(brokers_call(&brokers, broker, "GET", "/v1/status", NULL, &reply), 200);
    (void)snprintf(out, 256, "%s",
                   text_of(json_object_get(reply.json, "leadership"), "configuration"));
    plainhttp_reply_release(&reply);
}

static bool standby_differs(void *arg)
{
    char own[256], others[256];
    own_configuration(0, own);
    standby_of("configuration", others);
    return (strcmp(own, others) != 0) == *(const bool *)arg;
}

/* Its own URL and its socket differ, as they have to; a reload of another setting is seen. */
static void standby__is_known_with_its_configuration(void **state)
{
    char text[256];
    brokers_start_all(&brokers, 2);
    brokers_await_log(&brokers, 0, "standbys=1", 1);
    standby_of("url", text);
    assert_string_equal(text, brokers.socket[1]);
    standby_of("version", text);
    assert_string_equal(text, MCAST_VERSION);
    assert_true(standby_differs(&(bool){false}));
    brokers.lines = "events_keep = 7";
    brokers_configure(&brokers, 1, etcdcluster_endpoints(cluster));
    brokers_signal(&brokers, 1, SIGHUP);
    assert_true(await(standby_differs, &(bool){true}, AWAIT_DEADLINE_MS));
    brokers_configure(&brokers, 0, etcdcluster_endpoints(cluster));
    brokers_signal(&brokers, 0, SIGHUP);
    assert_true(await(standby_differs, &(bool){false}, AWAIT_DEADLINE_MS));
    /* Its lease ends with it. */
    brokers_signal(&brokers, 1, SIGTERM);
    assert_int_equal(brokers_await_exit(&brokers, 1), 0);
    brokers_await_log(&brokers, 0, "standbys=0", 2);
}

/* It would be the end of service. */
static void step_down__without_a_standby_is_refused(void **state)
{
    struct plainhttp_reply reply;
    brokers_start_all(&brokers, 1);
    brokers_await_log(&brokers, 0, "standbys=0", 1);
    assert_int_equal(brokers_call(&brokers, 0, "POST", "/v1/step-down", NULL, &reply), 409);
    suits(reply.json, "Problem");
    assert_string_equal(text_of(reply.json, "code"), "no-standby");
    plainhttp_reply_release(&reply);
    assert_int_equal(
        brokers_call(&brokers, 0, "POST", "/v1/step-down", "{\"force\":false}", &reply), 409);
    plainhttp_reply_release(&reply);
    assert_int_equal(brokers_call(&brokers, 0, "POST", "/v1/step-down", "{\"force\":true}", &reply),
                     202);
    plainhttp_reply_release(&reply);
    assert_int_equal(brokers_await_exit(&brokers, 0), 75);
}

static void step_down__lets_another_lead(void **state)
{
    struct plainhttp_reply reply;
    brokers_start_all(&brokers, 2);
    brokers_await_log(&brokers, 0, "standbys=1", 1);
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 201);
    assert_int_equal(brokers_call(&brokers, 1, "POST", "/v1/step-down", NULL, &reply), 503);
    assert_string_equal(text_of(reply.json, "leader"), brokers.socket[0]);
    plainhttp_reply_release(&reply);
    assert_int_equal(brokers_call(&brokers, 0, "GET", "/v1/status", NULL, &reply), 200);
    suits(reply.json, "Status");
    assert_string_equal(text_of(json_object_get(reply.json, "leadership"), "leader"),
                        brokers.socket[0]);
    plainhttp_reply_release(&reply);
    assert_int_equal(brokers_call(&brokers, 0, "POST", "/v1/step-down", NULL, &reply), 202);
    suits(reply.json, "SteppingDown");
    plainhttp_reply_release(&reply);
    assert_int_equal(brokers_await_exit(&brokers, 0), 75);
    /* The leader key was given back: it did not wait for the lease, which has not run out. */
    brokers_await_role(&brokers, 1, "leader");
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 200);
}

static void sigterm__gives_the_leadership_back(void **state)
{
    brokers_start_all(&brokers, 2);
    brokers_signal(&brokers, 0, SIGTERM);
    assert_int_equal(brokers_await_exit(&brokers, 0), 0);
    brokers_await_role(&brokers, 1, "leader");
    brokers_start(&brokers, 0);
    brokers_await_role(&brokers, 0, "standby");
    brokers_signal(&brokers, 0, SIGTERM);
    assert_int_equal(brokers_await_exit(&brokers, 0), 0);
    brokers_await_role(&brokers, 1, "leader");
}

static void key__that_the_others_do_not_have_is_refused(void **state)
{
    brokers_start_all(&brokers, 1);
    assert_int_equal(
        folder_write(brokers.folder, "state.key", 0600,
                     "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"),
        0);
    brokers_start(&brokers, 1);
    assert_int_equal(brokers_await_exit(&brokers, 1), 1);
    brokers_await_log(&brokers, 1, "cannot start: ", 1);
    brokers_await_role(&brokers, 0, "leader");
}

/* It would be another one on each broker. */
static void key__is_never_made(void **state)
{
    static const char *const options[] = {"--make-key", "--check"};
    char path[128], config[128], log[128];
    brokers_configure(&brokers, 0, etcdcluster_endpoints(cluster));
    assert_int_equal(unlink(folder_path(path, sizeof path, brokers.folder, "state.key")), 0);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *const argv[] = {MCASTD, "--config",
                                    folder_path(config, sizeof config, brokers.folder, "0.conf"),
                                    options[i], NULL};
        brokers.processes[0] =
            process_start(argv, folder_path(log, sizeof log, brokers.folder, "0.log"));
        assert_non_null(brokers.processes[0]);
        assert_int_equal(brokers_await_exit(&brokers, 0), 1);
    }
    brokers_await_log(&brokers, 0, "no key was made: with store = etcd all brokers need the same",
                      1);
    brokers_await_log(&brokers, 0, "with store = etcd all brokers need the same key: copy it", 1);
    brokers_start(&brokers, 0);
    assert_int_equal(brokers_await_exit(&brokers, 0), 1);
    assert_int_equal(access(path, F_OK), -1);
}

static void brokers__that_start_at_once_are_one_leader(void **state)
{
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        brokers_start(&brokers, i);
    const unsigned leader = brokers_await_leader(&brokers);
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        if (i != leader)
            brokers_await_role(&brokers, i, "standby");
    assert_int_equal(brokers_await_leader(&brokers), leader);
}

static void etcd__that_is_away_is_waited_for(void **state)
{
    struct plainhttp_reply reply;
    etcdcluster_kill(cluster, 0);
    brokers_start(&brokers, 0);
    brokers_await_log(&brokers, 0, "etcd does not answer", 1);
    assert_int_equal(brokers_call(&brokers, 0, "GET", JOB, NULL, &reply), 503);
    assert_string_equal(text_of(reply.json, "code"), "not-leader");
    assert_null(json_object_get(reply.json, "leader"));
    plainhttp_reply_release(&reply);
    assert_int_equal(etcdcluster_restart(cluster, 0), 0);
    brokers_await_role(&brokers, 0, "leader");
    brokers_await_log(&brokers, 0, "etcd answers again", 1);
    /* While it leads, it ends with its lease: another could lead by then. */
    etcdcluster_kill(cluster, 0);
    assert_int_equal(brokers_await_exit(&brokers, 0), 75);
    assert_int_equal(etcdcluster_restart(cluster, 0), 0);
    brokers_start(&brokers, 0);
    brokers_await_role(&brokers, 0, "leader");
    /* And a standby without etcd stops at once. */
    brokers_start(&brokers, 1);
    brokers_await_role(&brokers, 1, "standby");
    brokers_kill(&brokers, 0);
    etcdcluster_kill(cluster, 0);
    brokers_await_log(&brokers, 1, "etcd does not answer", 1);
    brokers_signal(&brokers, 1, SIGTERM);
    assert_int_equal(brokers_await_exit(&brokers, 1), 0);
    assert_int_equal(etcdcluster_restart(cluster, 0), 0);
}

/* F5: leader and standby alike. A prefix needs a restart. */
static void endpoints__are_reloaded(void **state)
{
    char endpoints[256];
    brokers_start_all(&brokers, 2);
    (void)snprintf(endpoints, sizeof endpoints, "http://127.0.0.1:1, %s",
                   etcdcluster_endpoints(cluster));
    for (unsigned i = 0; i < 2; i++) {
        brokers_configure(&brokers, i, endpoints);
        brokers_signal(&brokers, i, SIGHUP);
        brokers_await_log(&brokers, i, "reload: [state] endpoints = ", 1);
        brokers_await_log(&brokers, i, "reloaded: all of it is in force changes=1", 1);
    }
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 201);
    brokers_kill(&brokers, 0);
    brokers_await_role(&brokers, 1, "leader");
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 200);
    brokers.lines = "events_keep = 7";
    brokers.lease = "3s";
    brokers_configure(&brokers, 1, endpoints);
    brokers_signal(&brokers, 1, SIGHUP);
    brokers_await_log(&brokers, 1, "needs a restart", 1);
}

/* G7 of a sort: it is loaded in pages, and all of it is there. */
static void ledger__of_thousands_is_taken_over(void **state)
{
    enum { JOBS = 5000 };
    struct plainhttp_reply reply;
    char path[64];
    brokers_start_all(&brokers, 2);
    for (int i = 0; i < JOBS; i++) {
        (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/f%d", i);
        assert_int_equal(brokers_call(&brokers, 0, "PUT", path, RESERVE, &reply), 201);
        plainhttp_reply_release(&reply);
    }
    brokers_kill(&brokers, 0);
    brokers_await_role(&brokers, 1, "leader");
    assert_int_equal(brokers_call(&brokers, 1, "GET", "/v1/status", NULL, &reply), 200);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(reply.json, "jobs"), "active")), JOBS);
    plainhttp_reply_release(&reply);
    brokers_retry(&brokers, "PUT", path, RESERVE, 200);
}

/* ---- etcd has something else than before ---- */

static bool task_ended(void *process)
{
    return !process_alive(process);
}

/* Runs it with a broker's configuration, as an administrator would; it ends so. */
static void run_task(unsigned broker, const char *option, int status)
{
    char config[128], name[32], log[128];
    (void)snprintf(name, sizeof name, "%u.conf", broker);
    const char *const argv[] = {
        MCASTD, "--config", folder_path(config, sizeof config, brokers.folder, name), option, NULL};
    brokers.processes[broker] =
        process_start(argv, folder_path(log, sizeof log, brokers.folder, "task.log"));
    assert_non_null(brokers.processes[broker]);
    if (!await(task_ended, brokers.processes[broker], AWAIT_DEADLINE_MS) ||
        process_exit_status(brokers.processes[broker]) != status) {
        process_print_log(brokers.processes[broker]);
        fail();
    }
    brokers_kill(&brokers, broker);
}

static void stop(unsigned broker)
{
    brokers_signal(&brokers, broker, SIGTERM);
    assert_int_equal(brokers_await_exit(&brokers, broker), 0);
}

static void start_in_vain(unsigned broker, const char *why)
{
    brokers_start(&brokers, broker);
    assert_int_equal(brokers_await_exit(&brokers, broker), 1);
    brokers_await_log(&brokers, broker, why, 1);
}

static json_int_t number_of(const char *job)
{
    struct plainhttp_reply reply;
    assert_int_equal(
        brokers_call(&brokers, brokers_await_leader(&brokers), "GET", job, NULL, &reply), 200);
    const json_int_t number = json_integer_value(json_object_get(reply.json, "number"));
    plainhttp_reply_release(&reply);
    return number;
}

/* B7: none of them begins a new ledger by itself; when one was told to, all take it, and no number
 * is given again. */
static void etcd__that_was_emptied_waits_for_a_decision(void **state)
{
    brokers_start_all(&brokers, 2);
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 201);
    assert_int_equal(number_of(JOB), 1);
    brokers_await_log(&brokers, 0, "standbys=1", 1);
    brokers_configure(&brokers, 2, etcdcluster_endpoints(cluster));
    run_task(2, "--accept-ledger", 1); /* not while a broker leads */
    stop(1);
    stop(0);
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    for (unsigned i = 0; i < 2; i++)
        start_in_vain(i, "is gone (was etcd emptied?)");
    run_task(0, "--accept-ledger", 0);
    run_task(1, "--accept-ledger", 1); /* it is accepted */
    brokers_start_all(&brokers, 2);
    brokers_retry(&brokers, "PUT", JOB, RESERVE, 201);
    assert_int_equal(number_of(JOB), 1000001);
    brokers_kill(&brokers, 0);
    brokers_await_role(&brokers, 1, "leader");
    assert_int_equal(number_of(JOB), 1000001);
}

/* While brokers wait for it: the first of them to lead again sees it. */
static void etcd__that_was_emptied_below_brokers_is_noticed(void **state)
{
    brokers_start_all(&brokers, 2);
    brokers_await_log(&brokers, 0, "standbys=1", 1);
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_int_equal(brokers_await_exit(&brokers, 0), 75);
    assert_int_equal(brokers_await_exit(&brokers, 1), 1);
    brokers_await_log(&brokers, 1, "cannot start: ", 1);
    start_in_vain(0, "cannot start: ");
    start_in_vain(1, "cannot start: ");
}

/* ---- with a fabric manager ---- */

static bool link_is_up(void *arg)
{
    struct plainhttp_reply reply;
    const unsigned *broker = arg;
    (void)brokers_call(&brokers, *broker, "GET", "/v1/status", NULL, &reply);
    const bool up =
        strcmp(text_of(json_object_get(reply.json, "fabric_manager"), "link"), "up") == 0;
    plainhttp_reply_release(&reply);
    return up;
}

static void await_link(unsigned broker)
{
    assert_true(await(link_is_up, &broker, AWAIT_DEADLINE_MS));
}

/* Asks under a token; what the answer's object says under key goes to out. */
static int ask_with(unsigned broker, const char *token, const char *method, const char *path,
                    const char *key, char out[512])
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_use_bearer(brokers.clients[broker], token), 0);
    const int status = brokers_call(&brokers, broker, method, path, NULL, &reply);
    if (out)
        (void)snprintf(out, 512, "%s", text_of(reply.json, key));
    plainhttp_reply_release(&reply);
    assert_int_equal(plainhttp_use_bearer(brokers.clients[broker], NULL), 0);
    return status;
}

/* B3: the root keys are the ledger's, so that each broker takes what another one made; and B6: what
 * the job has at the fabric manager stays its own. */
static void tokens__are_good_at_the_next_leader(void **state)
{
    static const char mint[] = "/v1/reservation/tokens", own[] = "/v1/reservation";
    struct testbed *testbed =
        testbed_create(&(struct testbed_options){.mcastd = MCASTD, .mock_fm = MOCK_FM});
    struct plainhttp_reply reply;
    char lines[512], session[512], first[512], second[512];
    assert_non_null(testbed);
    assert_int_equal(testbed_start_fm(testbed), 0);
    (void)snprintf(lines, sizeof lines,
                   "[fm]\nurl = %s\nauth = basic\nauthdir = %s\nlink_retry = 50ms\n"
                   "[inventory]\nsource = off\n[hwcoll]\nmin_nodes = 1\naddresses_per_job = 64",
                   testbed_fm_url(testbed), testbed_folder(testbed));
    brokers.lines = lines;
    brokers_start_all(&brokers, 2);
    await_link(0);
    assert_int_equal(brokers_call(&brokers, 0, "PUT", JOB, RESERVE, &reply), 201);
    (void)snprintf(session, sizeof session, "%s",
                   text_of(json_object_get(reply.json, "env"), "FI_CXI_COLL_MCAST_TOKEN"));
    assert_string_not_equal(session, "");
    plainhttp_reply_release(&reply);
    assert_int_equal(ask_with(0, session, "POST", mint, "token", first), 201);
    /* A standby knows no token, and says who does. */
    assert_int_equal(ask_with(1, first, "GET", own, "leader", second), 503);
    assert_string_equal(second, brokers.socket[0]);
    brokers_kill(&brokers, 0);
    brokers_await_role(&brokers, 1, "leader");
    await_link(1);
    assert_int_equal(ask_with(1, first, "GET", own, NULL, NULL), 200);
    assert_int_equal(ask_with(1, session, "GET", own, NULL, NULL), 200);
    /* A new key, and what is made with it. */
    assert_int_equal(brokers_call(&brokers, 1, "POST", "/v1/tokens/rotate", NULL, &reply), 200);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "keys")), 2);
    plainhttp_reply_release(&reply);
    assert_int_equal(ask_with(1, session, "POST", mint, "token", second), 201);
    brokers_start(&brokers, 0);
    brokers_await_role(&brokers, 0, "standby");
    brokers_kill(&brokers, 1);
    brokers_await_role(&brokers, 0, "leader");
    assert_int_equal(ask_with(0, first, "GET", own, NULL, NULL), 200);
    assert_int_equal(ask_with(0, second, "GET", own, NULL, NULL), 200);
    /* In etcd they are sealed. */
    char *sealed = etcdcluster_get(cluster, "/mcastd/test/root-keys");
    assert_non_null(sealed);
    assert_memory_equal(sealed, "{\"keys\":\"", 9);
    free(sealed);
    testbed_destroy(testbed);
}

#define BROKERS_TEST(name) cmocka_unit_test_setup_teardown(name, open_brokers, close_brokers)

UNIT_GROUP(open_cluster, close_cluster, BROKERS_TEST(standby__says_who_leads),
           BROKERS_TEST(leader__that_is_killed_is_replaced),
           BROKERS_TEST(leader__that_was_paused_says_nothing_and_ends),
           BROKERS_TEST(standby__is_known_with_its_configuration),
           BROKERS_TEST(step_down__without_a_standby_is_refused),
           BROKERS_TEST(step_down__lets_another_lead),
           BROKERS_TEST(etcd__that_was_emptied_waits_for_a_decision),
           BROKERS_TEST(etcd__that_was_emptied_below_brokers_is_noticed),
           BROKERS_TEST(sigterm__gives_the_leadership_back),
           BROKERS_TEST(key__that_the_others_do_not_have_is_refused),
           BROKERS_TEST(key__is_never_made),
           BROKERS_TEST(brokers__that_start_at_once_are_one_leader),
           BROKERS_TEST(etcd__that_is_away_is_waited_for), BROKERS_TEST(endpoints__are_reloaded),
           BROKERS_TEST(ledger__of_thousands_is_taken_over),
           BROKERS_TEST(tokens__are_good_at_the_next_leader))
