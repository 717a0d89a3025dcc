/* SPDX-License-Identifier: Apache-2.0 */
/* Requests over a Unix socket (client/transport/broker.c, unix.c), against a server that this test
 * plays itself, in the same thread: it reads and writes between the turns of the broker's loop, so
 * that all comes in the order that is written here. */

#include "client/calls/field.h"
#include "client/handle.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define REQUEST(path)                                                                              \
    "GET " path " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION              \
    "\r\nAccept: application/json\r\n\r\n"
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

enum { DEADLINE_MS = 60000, BIG = 4 << 20 };

struct server {
    char folder[64];
    int listener;
    struct mcast handle;
};

struct asked {
    struct request request; /* first, so that the two have one address */
    bool done;
    char body[64];
};

/* Who listens is who serves, for the kernel. */
static void listen_as(struct server *server, int backlog, uid_t user)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, server->handle.broker.peer.endpoints.list[0].socket);
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->listener >= 0);
    unlink(address.sun_path);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    uid_t self = geteuid();
    assert_int_equal(seteuid(user), 0);
    int rc = listen(server->listener, backlog);
    assert_int_equal(seteuid(self), 0);
    assert_int_equal(rc, 0);
}

static void listen_on(struct server *server, int backlog)
{
    listen_as(server, backlog, geteuid());
}

static int set_up(void **state)
{
    struct server *server = calloc(1, sizeof *server);
    assert_non_null(server);
    unsetenv("MCAST_SERVER_USER");
    snprintf(server->folder, sizeof server->folder, "/tmp/mcast-way-XXXXXX");
    assert_non_null(mkdtemp(server->folder));
    snprintf(server->handle.broker.peer.endpoints.list[0].socket,
             sizeof server->handle.broker.peer.endpoints.list[0].socket, "%s/s", server->folder);
    server->handle.broker.peer.endpoints.count = 1;
    listen_on(server, 16);
    server->handle.broker.connections = server->handle.broker.width = 4;
    assert_int_equal(broker_init(&server->handle.broker, NULL), 0);
    *state = server;
    return 0;
}

static int tear_down(void **state)
{
    struct server *server = *state;
    close(server->listener);
    unlink(server->handle.broker.peer.endpoints.list[0].socket);
    broker_release(&server->handle.broker);
    rmdir(server->folder);
    free(server);
    return 0;
}

/* ---- the client's side ---- */

static int keep_body(const struct answer *answer, void **document, struct mcast_error *error)
{
    *document = strcpy(document_create(answer->body.length + 1, NULL), text_string(&answer->body));
    return 0;
}

static void on_done(struct request *request)
{
    struct asked *asked = (struct asked *)request;
    const char *body = request->document;
    assert_false(asked->done);
    asked->done = true;
    snprintf(asked->body, sizeof asked->body, "%s", body ? body : "");
    document_free(request->document);
}

static void ask(struct asked *asked, const char *path)
{
    *asked = (struct asked){.request = {.done = on_done}};
    call_set(&asked->request.call, "GET", keep_body, NULL, "%s", path);
}

/* Turns as long as there is something to do. */
static void turn(struct server *server)
{
    struct pollfd ready = {.fd = broker_fd(&server->handle.broker), .events = POLLIN};
    while (poll(&ready, 1, 0) > 0)
        broker_turn(&server->handle.broker);
}

static void launch(struct server *server, struct asked *asked)
{
    assert_int_equal(broker_begin(&server->handle.broker, &asked->request, NULL), 0);
    turn(server);
}

static void await(struct server *server, const struct asked *asked)
{
    struct pollfd ready = {.fd = broker_fd(&server->handle.broker), .events = POLLIN};
    while (!asked->done) {
        assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
        broker_turn(&server->handle.broker);
    }
}

static void expect_answer(struct asked *asked)
{
    assert_true(asked->done);
    assert_int_equal(asked->request.rc, 0);
    assert_string_equal(asked->body, "{}");
    call_release(&asked->request.call);
}

static void expect_word(struct asked *asked, const char *word)
{
    assert_true(asked->done);
    assert_int_equal(asked->request.rc, MCAST_UNREACHABLE);
    assert_int_equal(asked->request.error.code, MCAST_UNREACHABLE);
    assert_string_equal(asked->request.error.word, word);
    call_release(&asked->request.call);
}

/* ---- the server's ---- */

static int accept_one(const struct server *server)
{
    int client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(client >= 0);
    return client;
}

static void expect_request(int client, const char *expected)
{
    char text[4096] = "";
    ssize_t got = recv(client, text, sizeof text - 1, 0);
    assert_true(got > 0);
    assert_string_equal(text, expected);
}

static void give(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Asks for /v1/status over this connection (-1: a new one), is answered so, and returns the
 * connection. */
static int exchange(struct server *server, int client, bool fresh, const char *answer)
{
    struct asked asked;
    ask(&asked, "/v1/status");
    asked.request.fresh = fresh;
    launch(server, &asked);
    client = client < 0 ? accept_one(server) : client;
    expect_request(client, REQUEST("/v1/status"));
    give(client, answer);
    turn(server);
    expect_answer(&asked);
    return client;
}

static bool is_unconnected(const struct server *server)
{
    struct pollfd knock = {.fd = server->listener, .events = POLLIN};
    return poll(&knock, 1, 0) == 0;
}

/* ---- */

UNIT_WITH(broker__an_answer_byte_by_byte, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    ask(&asked, "/v1/status");
    launch(server, &asked);
    assert_int_equal(server->handle.broker.transports.connected, 1);
    int client = accept_one(server);
    expect_request(client, REQUEST("/v1/status"));
    for (const char *byte = ANSWER; *byte; byte++) {
        assert_false(asked.done);
        assert_int_equal(send(client, byte, 1, MSG_NOSIGNAL), 1);
        turn(server);
    }
    expect_answer(&asked);
    close(client);
}

/* The connection is kept, and one that the broker has closed meanwhile is not used again. */
UNIT_WITH(broker__a_connection_is_kept, set_up, tear_down)
{
    struct server *server = *state;
    int client = -1;
    for (int i = 0; i < 3; i++)
        client = exchange(server, client, false, ANSWER);
    assert_true(is_unconnected(server));
    assert_int_equal(server->handle.broker.transports.connected, 3);
    close(client);
    client = exchange(server, -1, false, ANSWER);
    /* Nor is one that is wanted to be fresh. */
    int other = exchange(server, -1, true, ANSWER);
    close(client);
    close(other);
}

/* "Connection: close", or more than was asked for: there is no telling what the next bytes are. */
UNIT_WITH(broker__a_connection_is_not_kept, set_up, tear_down)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", ANSWER ANSWER};
    struct server *server = *state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char byte;
        int client = exchange(server, -1, false, answers[i]);
        assert_true(recv(client, &byte, 1, 0) <= 0);
        close(client);
    }
}

/* It dies when the request is on its way: the request goes over a new one, and counts as one that
 * broke only after that. */
UNIT_WITH(broker__a_kept_connection_dies, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    int client = exchange(server, -1, false, ANSWER);
    ask(&asked, "/v1/list");
    launch(server, &asked);
    close(client);
    turn(server);
    assert_false(asked.done);
    for (int i = 0; i < 2; i++) {
        assert_false(asked.done);
        client = accept_one(server);
        expect_request(client, REQUEST("/v1/list"));
        close(client);
        turn(server);
    }
    expect_word(&asked, "broken");
    assert_true(is_unconnected(server));
}

UNIT_WITH(broker__broken_off, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    ask(&asked, "/v1/status");
    launch(server, &asked);
    for (int i = 0; i < 2; i++) {
        assert_false(asked.done);
        int client = accept_one(server);
        expect_request(client, REQUEST("/v1/status"));
        give(client, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}");
        close(client);
        turn(server);
    }
    expect_word(&asked, "broken");
    assert_true(is_unconnected(server));
}

UNIT_WITH(broker__no_mcastd, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    ask(&asked, "/v1/status");
    launch(server, &asked);
    int client = accept_one(server);
    give(client, "220 mail.example.gov ESMTP\r\n");
    turn(server);
    assert_true(asked.done);
    assert_int_equal(asked.request.rc, MCAST_UNCLEAR);
    call_release(&asked.request.call);
    close(client);
}

/* Asks with a body of megabytes. */
static int ask_long(struct server *server, struct asked *asked)
{
    char *body = malloc(BIG + 1);
    assert_non_null(body);
    memset(body, 'x', BIG);
    body[BIG] = '\0';
    ask(asked, "/v1/sync");
    asked->request.call.method = "POST";
    asked->request.call.body = body;
    launch(server, asked);
    return accept_one(server);
}

/* It is sent in as many pieces as it takes, and whole. */
UNIT_WITH(broker__a_long_request, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    char *piece = malloc(BIG);
    size_t all = 0;
    assert_non_null(piece);
    int client = ask_long(server, &asked);
    while (all < BIG) {
        ssize_t got = recv(client, piece, BIG, 0);
        assert_true(got > 0);
        const char *start = all == 0 ? memmem(piece, (size_t)got, "\r\n\r\n", 4) : NULL;
        all += (size_t)got - (start ? (size_t)(start + 4 - piece) : 0);
        turn(server);
    }
    assert_int_equal(all, BIG);
    assert_int_equal(piece[0], 'x');
    give(client, ANSWER);
    turn(server);
    expect_answer(&asked);
    close(client);
    free(piece);
}

/* Who refuses a request before all of it is there closes the connection: its answer counts. */
UNIT_WITH(broker__an_early_answer, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    int client = ask_long(server, &asked);
    give(client, ANSWER);
    close(client);
    turn(server);
    expect_answer(&asked);
}

UNIT_WITH(broker__nobody_there, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    close(server->listener);
    ask(&asked, "/v1/status");
    launch(server, &asked);
    expect_word(&asked, "no-connection");
    assert_int_equal(asked.request.trouble.os_error, ECONNREFUSED);
    unlink(server->handle.broker.peer.endpoints.list[0].socket);
    ask(&asked, "/v1/status");
    launch(server, &asked);
    expect_word(&asked, "no-connection");
    assert_int_equal(asked.request.trouble.os_error, ENOENT);
    assert_int_equal(server->handle.broker.transports.connected, 0);
    listen_on(server, 16);
}

UNIT_WITH(broker__no_answer_in_time, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    ask(&asked, "/v1/status");
    asked.request.limit_ms = 1;
    launch(server, &asked);
    await(server, &asked);
    expect_word(&asked, "timeout");
}

/* The queue before the broker is full: there is nothing to be told when there is room again, so it
 * is tried for until the time is over. */
UNIT_WITH(broker__no_room_for_another_connection, set_up, tear_down)
{
    struct server *server = *state;
    struct asked waiting, late, in_queue;
    close(server->listener);
    listen_on(server, 0);
    ask(&in_queue, "/v1/status");
    launch(server, &in_queue);
    ask(&late, "/v1/status");
    late.request.limit_ms = 200; /* the connection is tried within it, and refused */
    launch(server, &late);
    ask(&waiting, "/v1/status");
    launch(server, &waiting);
    assert_int_equal(server->handle.broker.transports.connected, 1);
    await(server, &late);
    expect_word(&late, "no-connection");
    int first = accept_one(server);
    struct pollfd ready = {.fd = broker_fd(&server->handle.broker), .events = POLLIN};
    while (server->handle.broker.transports.connected < 2) {
        assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
        turn(server);
    }
    int second = accept_one(server);
    expect_request(second, REQUEST("/v1/status"));
    broker_cancel(&server->handle.broker, &waiting.request);
    broker_cancel(&server->handle.broker, &in_queue.request);
    assert_int_equal(waiting.request.rc, MCAST_STOPPED);
    assert_int_equal(server->handle.broker.sent, 0);
    call_release(&waiting.request.call);
    call_release(&in_queue.request.call);
    close(first);
    close(second);
}

/* What is cancelled is told so once, and its connection is not kept. */
UNIT_WITH(broker__cancelled, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    char byte;
    ask(&asked, "/v1/status");
    launch(server, &asked);
    int client = accept_one(server);
    expect_request(client, REQUEST("/v1/status"));
    assert_ptr_equal(broker_find(&server->handle.broker, asked.request.number), &asked.request);
    broker_cancel(&server->handle.broker, &asked.request);
    assert_int_equal(asked.request.rc, MCAST_STOPPED);
    assert_null(broker_find(&server->handle.broker, asked.request.number));
    assert_true(recv(client, &byte, 1, 0) <= 0);
    call_release(&asked.request.call);
    close(client);
}

/* Of many with different limits each ends in its time, in whatever order they were begun. */
UNIT_WITH(broker__each_has_its_limit, set_up, tear_down)
{
    enum { COUNT = 50 };
    struct server *server = *state;
    struct asked asked[COUNT];
    server->handle.broker.width = server->handle.broker.connections = 1;
    for (int i = 0; i < COUNT; i++) {
        ask(&asked[i], "/v1/status");
        asked[i].request.limit_ms = i % 3 == 1 ? 1 + i % 7 : 10 * DEADLINE_MS;
        assert_int_equal(broker_begin(&server->handle.broker, &asked[i].request, NULL), 0);
    }
    for (int i = 1; i < COUNT; i += 3) {
        await(server, &asked[i]);
        expect_word(&asked[i], "timeout");
    }
    int client = accept_one(server);
    expect_request(client, REQUEST("/v1/status"));
    for (int i = 0; i < COUNT; i++) {
        if (i % 3 == 1)
            continue;
        assert_false(asked[i].done);
        broker_cancel(&server->handle.broker, &asked[i].request);
        call_release(&asked[i].request.call);
    }
    assert_int_equal(server->handle.broker.count, 0);
    close(client);
}

/* ---- who serves it (B8) ---- */

enum { OTHER = 65533 };

/* It is not asked, and hears nothing: neither a head nor a token. */
static void expect_distrust(struct server *server, const char *words)
{
    struct asked asked;
    char byte;
    ask(&asked, "/v1/own");
    launch(server, &asked);
    turn(server);
    assert_true(asked.done);
    expect_word(&asked, "untrusted");
    assert_false(mcast_later(&asked.request.error, NULL));
    assert_int_equal(mcast_exit_status(&asked.request.error), MCAST_EXIT_NO_ANSWER);
    assert_words(asked.request.error.text, words);
    int client = accept_one(server);
    assert_int_equal(recv(client, &byte, 1, 0), 0);
    close(client);
    assert_int_equal(server->handle.broker.transports.connected, 0);
}

UNIT_WITH(broker__a_server_of_another_user, set_up, tear_down)
{
    struct server *server = *state;
    struct asked asked;
    if (geteuid() != 0)
        skip();
    close(server->listener);
    listen_as(server, 16, OTHER);
    expect_distrust(server, "user 65533 serves it, who is neither root nor user 0, its folder's");
    expect_distrust(server, "set server_user (or MCAST_SERVER_USER) to it");
    /* What the program says counts for more than the environment. */
    setenv("MCAST_SERVER_USER", "65533", 1);
    assert_int_equal(mcast_set_server_user(&server->handle, "daemon", NULL), 0);
    expect_distrust(server, "user 65533 serves it");
    assert_int_equal(mcast_set_server_user(&server->handle, NULL, NULL), 0);
    ask(&asked, "/v1/own");
    launch(server, &asked);
    assert_false(asked.done);
    assert_int_equal(server->handle.broker.transports.connected, 1);
    int client = accept_one(server);
    assert_int_equal(send(client, ANSWER, strlen(ANSWER), MSG_NOSIGNAL), strlen(ANSWER));
    close(client);
    await(server, &asked);
    expect_answer(&asked);
}

UNIT_RUN(NULL, NULL)
