/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP interface and the real engine, joined to a store that the test holds the reins of: what
 * is not durable is not said. */

#include "broker/http/http.h"
#include "tests/coreconfig.h"
#include "broker/log/log.h"
#include "tests/unit/broker/fakeetcd.h"
#include "tests/unit/broker/gate.h"
#include "tests/unit/unit.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 3, HEARD = 16384, TURNS = 50 };

struct stand {
    uv_loop_t loop;
    struct gate gate;
    struct config config;
    struct engine *engine;
    struct http *http;
    char folder[64], *path; /* path: of the socket */
    int client[CLIENTS];
    char heard[CLIENTS][HEARD];
    unsigned stopped, closed;
    unsigned won, lost; /* of one among several brokers */
};

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void on_won(void *arg)
{
    ((struct stand *)arg)->won++;
}

static void on_lost(void *arg, const char *words)
{
    (void)words;
    ((struct stand *)arg)->lost++;
}

static int open_with(void **state, bool several)
{
    static struct stand stand;
    const struct leadership_hooks hooks = {.arg = &stand, .won = on_won, .lost = on_lost};
    static char me[16], *admins[] = {me, NULL};
    struct error err = {0};
    memset(&stand, 0, sizeof stand);
    (void)snprintf(me, sizeof me, "%u", (unsigned)geteuid());
    log_set_level(-1);
    assert_int_equal(uv_loop_init(&stand.loop), 0);
    gate_init(&stand.gate, false);
    coreconfig_init(&stand.config.core);
    stand.config.socket_mode = 0600;
    stand.config.connections_max = 4096;
    stand.config.admins = admins;
    strcpy(stand.config.clusters[0].name, "elcap");
    strcpy(stand.config.core.clusters[0].name, "elcap");
    stand.config.core.cluster_count = 1;
    struct engine_options options = {
        .loop = &stand.loop, .config = &stand.config, .store = &stand.gate.store};
    if (several) {
        fakeetcd_open();
        fakeetcd.automatic = true;
        fakeetcd.ttl_ms = 1000;
        options.leadership = leadership_create(&stand.loop, (struct etcd *)(void *)&fakeetcd, 2000,
                                               "unix:/own", &hooks);
    }
    stand.engine = engine_create(&options);
    assert_non_null(stand.engine);
    strcpy(stand.folder, "/tmp/http_durable_XXXXXX");
    assert_non_null(mkdtemp(stand.folder));
    stand.path = stand.config.socket;
    (void)snprintf(stand.path, sizeof stand.config.socket, "%s/s", stand.folder);
    const struct http_options http = {
        .loop = &stand.loop, .engine = stand.engine, .config = &stand.config};
    stand.http = http_create(&http, &err);
    assert_non_null(stand.http);
    for (int i = 0; i < CLIENTS; i++)
        stand.client[i] = connect_to(stand.path);
    *state = &stand;
    return 0;
}

static int open_stand(void **state)
{
    return open_with(state, false);
}

static int open_several(void **state)
{
    return open_with(state, true);
}

static void start(struct stand *stand)
{
    struct error err = {0};
    assert_int_equal(engine_start(stand->engine, &err), 0);
}

static void on_http_closed(void *arg)
{
    ((struct stand *)arg)->closed++;
}

static void on_stopped(void *arg)
{
    struct stand *stand = arg;
    stand->stopped++;
    http_destroy(stand->http, on_http_closed, stand);
}

static int close_stand(void **state)
{
    struct stand *stand = *state;
    http_quiesce(stand->http);
    engine_stop(stand->engine, on_stopped, stand);
    stand->gate.automatic = true;
    if (stand->gate.batch)
        gate_finish(&stand->gate, &stand->loop, 0);
    gate_await(&stand->loop, &stand->closed, 1);
    leadership_destroy(engine_leadership(stand->engine));
    (void)uv_run(&stand->loop, UV_RUN_NOWAIT);
    engine_destroy(stand->engine);
    gate_release(&stand->gate);
    for (int i = 0; i < CLIENTS; i++)
        close(stand->client[i]);
    assert_int_equal(uv_loop_close(&stand->loop), 0);
    assert_int_equal(access(stand->path, F_OK), -1); /* it takes its socket away */
    return rmdir(stand->folder);
}

/* Everything that can happen without the disk has happened after this. */
static void settle(struct stand *stand)
{
    for (int turn = 0; turn < TURNS; turn++)
        (void)uv_run(&stand->loop, UV_RUN_NOWAIT);
    for (int i = 0; i < CLIENTS; i++) {
        size_t used = strlen(stand->heard[i]);
        ssize_t got = recv(stand->client[i], stand->heard[i] + used, HEARD - used - 1, 0);
        if (got > 0)
            stand->heard[i][used + (size_t)got] = '\0';
    }
}

/* The commit under way ends so. */
static void commit_ends(struct stand *stand, int result)
{
    gate_finish(&stand->gate, &stand->loop, result);
    settle(stand);
}

static void ask(struct stand *stand, int client, const char *method, const char *path)
{
    char text[512];
    const char *body = strstr(path, "/nodes/")       ? "{\"state\":\"created\",\"number\":1}"
                       : strcmp(method, "PUT") == 0  ? "{\"uid\":7,\"node_count\":1}"
                       : strcmp(method, "POST") == 0 ? "{\"active\":[\"f1\"]}"
                                                     : "";
    stand->heard[client][0] = '\0';
    int length =
        snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                 method, path, strlen(body), body);
    assert_int_equal(send(stand->client[client], text, (size_t)length, MSG_NOSIGNAL), length);
    settle(stand);
}

static void assert_heard(const struct stand *stand, int client, const char *text)
{
    assert_words(stand->heard[client], text);
}

#define JOB "/v1/clusters/elcap/jobs/f1"

#define ON_STAND(test) UNIT_WITH(test, open_stand, close_stand)

/* B6, I2 */
ON_STAND(answer__waits_for_its_commit)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    assert_int_equal(stand->gate.commits, 1);
    assert_string_equal(stand->heard[0], "");
    ask(stand, 2, "GET", "/healthz"); /* what shows nothing waits for nothing */
    assert_heard(stand, 2, "HTTP/1.1 200 ");
    commit_ends(stand, 0);
    assert_heard(stand, 0, "HTTP/1.1 201 ");
}

/* F3: a node forgets what the broker has taken, so 200 must be true, also of a report that was
 * repeated before the first was saved. */
ON_STAND(node_report__is_taken_when_it_is_durable)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    commit_ends(stand, 0);
    ask(stand, 0, "PUT", JOB "/nodes/n1");
    ask(stand, 1, "PUT", JOB "/nodes/n1");
    assert_string_equal(stand->heard[0], "");
    assert_string_equal(stand->heard[1], "");
    unsigned before = stand->gate.commits;
    commit_ends(stand, ERROR_FULL);
    for (int client = 0; client < 2; client++) {
        assert_heard(stand, client, "HTTP/1.1 503 ");
        assert_heard(stand, client, "it could not be saved: the gate says full");
        assert_heard(stand, client, "Retry-After: 5\r\n");
    }
    gate_await(&stand->loop, &stand->gate.commits, before + 1);
    gate_finish(&stand->gate, &stand->loop, 0);
    before = stand->gate.commits;
    ask(stand, 0, "PUT", JOB "/nodes/n1");
    assert_heard(stand, 0, "HTTP/1.1 200 "); /* at once: the disk has it */
    assert_int_equal(stand->gate.commits, before);
}

/* For which nodes a job's VNIs are quarantined depends on their reports. */
ON_STAND(node_report__is_shown_when_it_is_durable)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    commit_ends(stand, 0);
    ask(stand, 0, "PUT", JOB "/nodes/n1");
    ask(stand, 1, "GET", JOB);
    assert_string_equal(stand->heard[1], "");
    commit_ends(stand, 0);
    assert_heard(stand, 0, "HTTP/1.1 200 ");
    assert_heard(stand, 1, "HTTP/1.1 200 ");
}

/* What somebody else's unsaved request made is not shown either. */
ON_STAND(look__waits_for_what_it_shows)
{
    static const char *const paths[] = {JOB, JOB "/env", "/v1/jobs"};
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    for (size_t i = 0; i < 3; i++) {
        ask(stand, 1, "GET", paths[i]);
        assert_string_equal(stand->heard[1], "");
        if (i < 2) { /* one after the other: the next needs something unsaved again */
            commit_ends(stand, 0);
            assert_heard(stand, 1, "HTTP/1.1 200 ");
            ask(stand, 0, i == 0 ? "DELETE" : "PUT", JOB);
        }
    }
    commit_ends(stand, 0);
    assert_heard(stand, 1, "\"job\":\"f1\"");
}

/* A second sync beside the first would say nothing newer. */
ON_STAND(sync__is_one_at_a_time)
{
    static const char path[] = "/v1/clusters/elcap/sync";
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    ask(stand, 1, "POST", path);
    assert_string_equal(stand->heard[1], ""); /* it waits for what it saw */
    ask(stand, 2, "POST", path);
    assert_heard(stand, 2, "HTTP/1.1 503 ");
    assert_heard(stand, 2, "\"sync-under-way\"");
    assert_heard(stand, 2, "Retry-After: 1\r\n");
    commit_ends(stand, 0);
    assert_heard(stand, 1, "\"confirmed\":1");
    ask(stand, 2, "POST", path);
    assert_heard(stand, 2, "HTTP/1.1 200 ");
}

ON_STAND(event__is_sent_when_it_is_durable)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 1, "GET", "/v1/events");
    assert_heard(stand, 1, "text/event-stream");
    ask(stand, 0, "PUT", JOB);
    ask(stand, 2, "GET", "/v1/events?follow=0"); /* begun while it is unsaved */
    assert_null(strstr(stand->heard[1], "id: "));
    assert_string_equal(stand->heard[2], "");
    commit_ends(stand, 0);
    assert_heard(stand, 1, "id: 1\nevent: reserved\n");
    assert_heard(stand, 2, "id: 1\nevent: reserved\n");
    assert_heard(stand, 2, "\r\n0\r\n\r\n");
}

/* Events tell how far they are durable: those are shown, and the next when it is. */
ON_STAND(failing_store__hides_no_durable_event)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    gate_finish(&stand->gate, &stand->loop, 0);
    ask(stand, 0, "DELETE", JOB);
    unsigned before = stand->gate.commits;
    commit_ends(stand, ERROR_FULL);
    assert_heard(stand, 0, "HTTP/1.1 503 ");
    ask(stand, 1, "GET", "/v1/events");
    ask(stand, 2, "GET", "/v1/events?follow=0");
    for (int client = 1; client < CLIENTS; client++) {
        assert_heard(stand, client, "id: 1\nevent: reserved\n");
        assert_null(strstr(stand->heard[client], "id: 2\n"));
    }
    assert_heard(stand, 2, "\r\n0\r\n\r\n");
    gate_await(&stand->loop, &stand->gate.commits, before + 1);
    commit_ends(stand, 0);
    assert_heard(stand, 1, "id: 2\n");
}

/* Nor any durable reservation; what is not is refused, alone and in a list. */
ON_STAND(failing_store__hides_no_durable_reservation)
{
    static const char *const paths[] = {JOB, JOB "/env", "/v1/jobs?state=active", "/v1/jobs"};
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    gate_finish(&stand->gate, &stand->loop, 0);
    ask(stand, 0, "PUT", "/v1/clusters/elcap/jobs/f2");
    gate_finish(&stand->gate, &stand->loop, 0);
    ask(stand, 0, "DELETE", "/v1/clusters/elcap/jobs/f2");
    unsigned before = stand->gate.commits;
    commit_ends(stand, ERROR_FULL);
    assert_heard(stand, 0, "HTTP/1.1 503 ");
    for (size_t i = 0; i < 3; i++) {
        ask(stand, 1, "GET", paths[i]);
        assert_heard(stand, 1, "HTTP/1.1 200 ");
        assert_null(strstr(stand->heard[1], "\"f2\""));
    }
    ask(stand, 1, "GET", paths[3]);
    assert_heard(stand, 1, "HTTP/1.1 503 ");
    assert_heard(stand, 1, "not saved yet: the gate says full");
    ask(stand, 1, "GET", "/v1/clusters/elcap/jobs/f2");
    assert_heard(stand, 1, "not saved yet: the gate says full");

    gate_await(&stand->loop, &stand->gate.commits, before + 1);
    gate_finish(&stand->gate, &stand->loop, 0);
    ask(stand, 1, "GET", "/v1/clusters/elcap/jobs/f2");
    assert_heard(stand, 1, "\"state\":\"releasing\"");
    ask(stand, 1, "GET", paths[3]);
    assert_heard(stand, 1, "\"job\":\"f2\"");
}

/* While a commit is under way, a look at what it is not about does not wait for it. */
ON_STAND(look__at_what_is_durable_waits_for_nothing)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    gate_finish(&stand->gate, &stand->loop, 0);
    ask(stand, 0, "PUT", "/v1/clusters/elcap/jobs/f2"); /* being written */
    ask(stand, 2, "PUT", "/v1/clusters/elcap/jobs/f3"); /* gathered meanwhile */
    ask(stand, 1, "GET", JOB);
    assert_heard(stand, 1, "HTTP/1.1 200 ");
    ask(stand, 1, "GET", "/v1/clusters/elcap/jobs/f3");
    assert_string_equal(stand->heard[1], "");
    commit_ends(stand, 0);
    assert_string_equal(stand->heard[1], "");
    commit_ends(stand, 0);
    assert_heard(stand, 1, "\"job\":\"f3\"");
}

ON_STAND(failing_store__refuses_with_its_cause)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    commit_ends(stand, ERROR_FULL);
    assert_heard(stand, 0, "HTTP/1.1 503 ");
    assert_heard(stand, 0, "it could not be saved: the gate says full");
    assert_heard(stand, 0, "Retry-After: 5\r\n");
    unsigned before = stand->gate.commits;
    ask(stand, 1, "PUT", "/v1/clusters/elcap/jobs/f2");
    assert_heard(stand, 1, "HTTP/1.1 503 ");
    assert_heard(stand, 1, "changes are refused: the gate says full");
    ask(stand, 1, "GET", JOB);
    assert_heard(stand, 1, "not saved yet: the gate says full");
    ask(stand, 1, "GET", "/readyz");
    assert_heard(stand, 1, "HTTP/1.1 503 ");
    ask(stand, 1, "GET", "/healthz");
    assert_heard(stand, 1, "HTTP/1.1 200 ");
    ask(stand, 1, "GET", "/v1/status");
    assert_heard(stand, 1, "\"storage_error\":\"the gate says full\"");

    gate_await(&stand->loop, &stand->gate.commits, before + 1); /* tried again by itself */
    gate_finish(&stand->gate, &stand->loop, 0);
    ask(stand, 1, "PUT", JOB);
    assert_heard(stand, 1, "HTTP/1.1 200 "); /* the first one's request was saved after all */
    ask(stand, 1, "GET", "/readyz");
    assert_heard(stand, 1, "HTTP/1.1 200 ");
}

ON_STAND(broker__that_does_not_lead_says_so)
{
    struct stand *stand = *state;
    ask(stand, 0, "PUT", JOB); /* not started */
    assert_heard(stand, 0, "this broker is starting");
    ask(stand, 0, "GET", "/readyz");
    assert_heard(stand, 0, "HTTP/1.1 503 ");
    ask(stand, 0, "GET", "/healthz");
    assert_heard(stand, 0, "HTTP/1.1 200 ");
    start(stand);
    ask(stand, 0, "PUT", JOB);
    commit_ends(stand, ERROR_NOT_LEADER);
    assert_heard(stand, 0, "this broker is standby and serves no requests");
    ask(stand, 0, "GET", JOB);
    assert_heard(stand, 0, "this broker is standby");
}

/* MHD does not see it go while its request waits; the request still counts. */
ON_STAND(client__that_leaves_does_not_take_its_request_along)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    close(stand->client[0]);
    stand->client[0] = connect_to(stand->path);
    gate_finish(&stand->gate, &stand->loop, 0);
    ask(stand, 0, "PUT", JOB);
    assert_heard(stand, 0, "HTTP/1.1 200 ");
}

/* SIGTERM: what waits is answered, what comes later is told to come again. */
ON_STAND(quiesce__answers_what_waits)
{
    struct stand *stand = *state;
    start(stand);
    ask(stand, 0, "PUT", JOB);
    ask(stand, 1, "GET", "/v1/events");
    assert_string_equal(stand->heard[1], "");
    http_quiesce(stand->http);
    ask(stand, 2, "PUT", "/v1/clusters/elcap/jobs/f2");
    assert_heard(stand, 2, "the broker is stopping");
    assert_heard(stand, 2, "Connection: close\r\n");
    commit_ends(stand, 0);
    assert_heard(stand, 0, "HTTP/1.1 201 ");
    assert_heard(stand, 1, "id: 1\n"); /* the stream had begun: what is saved, then its end */
    assert_heard(stand, 1, "\r\n0\r\n\r\n");
}

/* I10: nor is a read served, with the request there and the answer in memory. */
UNIT_WITH(lost__serves_no_read, open_several, close_stand)
{
    struct stand *stand = *state;
    fakeetcd_await(&stand->loop, &stand->won, 1);
    fakeetcd.automatic = false;
    start(stand);
    ask(stand, 0, "GET", "/v1/jobs");
    assert_heard(stand, 0, "HTTP/1.1 200 ");
    while (leadership_holds(engine_leadership(stand->engine)))
        ;
    assert_int_equal(stand->lost, 1);
    ask(stand, 0, "GET", "/v1/jobs");
    ask(stand, 1, "GET", "/v1/status");
    assert_string_equal(stand->heard[0], "");
    assert_string_equal(stand->heard[1], "");
}

UNIT_RUN(NULL, NULL)
