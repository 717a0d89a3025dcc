/* A flight over a Unix socket (client/way_unix.c), against a server that this test plays itself, in
 * the same thread: it reads and writes between the turns of the reactor, so that all comes in the
 * order that is written here. */

#include "client/reactor.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define REQUEST(path)                                                                              \
    "GET " path " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION              \
    "\r\nAccept: application/json\r\n\r\n"
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

enum { DEADLINE_MS = 60000, BIG = 4 << 20 };

struct stand {
    char folder[64];
    struct flight_peer peer;
    int listener;
    struct reactor *reactor;
    unsigned reached;
};

struct asked {
    struct call call;
    struct answer answer;
    struct flight flight;
};

/* Who listens is who serves, for the kernel. */
static void listen_as(struct stand *stand, int backlog, uid_t user)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, stand->peer.endpoint.socket);
    stand->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(stand->listener >= 0);
    unlink(address.sun_path);
    assert_int_equal(bind(stand->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    uid_t self = geteuid();
    assert_int_equal(seteuid(user), 0);
    int rc = listen(stand->listener, backlog);
    assert_int_equal(seteuid(self), 0);
    assert_int_equal(rc, 0);
}

static void listen_on(struct stand *stand, int backlog)
{
    listen_as(stand, backlog, geteuid());
}

static int set_up(void **state)
{
    struct stand *stand = calloc(1, sizeof(*stand));
    assert_non_null(stand);
    unsetenv("MCAST_SERVER_USER");
    snprintf(stand->folder, sizeof(stand->folder), "/tmp/mcast-way-XXXXXX");
    assert_non_null(mkdtemp(stand->folder));
    snprintf(stand->peer.endpoint.socket, sizeof(stand->peer.endpoint.socket), "%s/s",
             stand->folder);
    listen_on(stand, 16);
    assert_int_equal(reactor_create(&stand->reactor, &stand->peer.endpoint, NULL), 0);
    *state = stand;
    return 0;
}

static int tear_down(void **state)
{
    struct stand *stand = *state;
    reactor_destroy(stand->reactor);
    credentials_release(&stand->peer.credentials);
    close(stand->listener);
    unlink(stand->peer.endpoint.socket);
    rmdir(stand->folder);
    free(stand);
    return 0;
}

/* ---- the client's side ---- */

static void ask(struct stand *stand, struct asked *asked, const char *path)
{
    *asked = (struct asked){.call = {.method = "GET", .path = path}};
    asked->flight = (struct flight){.peer = &stand->peer,
                                    .call = &asked->call,
                                    .answer = &asked->answer,
                                    .reached = &stand->reached};
}

static void launch(struct stand *stand, struct asked *asked)
{
    assert_int_equal(flight_prepare(&asked->flight, NULL), 0);
    assert_true(reactor_add(stand->reactor, &asked->flight));
    reactor_turn(stand->reactor);
    reactor_set_alarm(stand->reactor, INT64_MAX);
}

/* Turns as long as there is something to do. */
static void turn(struct stand *stand)
{
    struct pollfd ready = {.fd = reactor_fd(stand->reactor), .events = POLLIN};
    while (poll(&ready, 1, 0) > 0) {
        reactor_turn(stand->reactor);
        reactor_set_alarm(stand->reactor, INT64_MAX);
    }
}

static void await(struct stand *stand, const struct asked *asked)
{
    struct pollfd ready = {.fd = reactor_fd(stand->reactor), .events = POLLIN};
    while (!asked->flight.landed) {
        assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
        reactor_turn(stand->reactor);
        reactor_set_alarm(stand->reactor, INT64_MAX);
    }
}

/* It has landed; what came of it. */
static int conclude(struct stand *stand, struct asked *asked, struct mcast_error *error)
{
    assert_ptr_equal(reactor_landed(stand->reactor), &asked->flight);
    assert_null(reactor_landed(stand->reactor));
    assert_false(asked->flight.aloft);
    int rc = flight_conclude(&asked->flight, error);
    flight_release(&asked->flight);
    text_release(&asked->answer.body);
    return rc;
}

static void expect_answer(struct stand *stand, struct asked *asked)
{
    assert_true(asked->flight.landed);
    assert_string_equal(text_string(&asked->answer.body), "{}");
    assert_int_equal(asked->answer.status, 200);
    assert_int_equal(conclude(stand, asked, NULL), 0);
}

static void expect_word(struct stand *stand, struct asked *asked, const char *word)
{
    struct mcast_error error;
    assert_true(asked->flight.landed);
    assert_int_equal(conclude(stand, asked, &error), MCAST_UNREACHABLE);
    assert_string_equal(error.word, word);
}

/* ---- the server's ---- */

static int accept_one(const struct stand *stand)
{
    int client = accept4(stand->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(client >= 0);
    return client;
}

static void expect_request(int client, const char *expected)
{
    char text[4096] = "";
    ssize_t got = recv(client, text, sizeof(text) - 1, 0);
    assert_true(got > 0);
    assert_string_equal(text, expected);
}

static void give(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static bool nobody_knocks(const struct stand *stand)
{
    struct pollfd knock = {.fd = stand->listener, .events = POLLIN};
    return poll(&knock, 1, 0) == 0;
}

/* ---- */

static void way__an_answer_byte_by_byte(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    ask(stand, &asked, "/v1/status");
    launch(stand, &asked);
    assert_int_equal(stand->reached, 1);
    int client = accept_one(stand);
    expect_request(client, REQUEST("/v1/status"));
    for (const char *byte = ANSWER; *byte; byte++) {
        assert_false(asked.flight.landed);
        assert_int_equal(send(client, byte, 1, MSG_NOSIGNAL), 1);
        turn(stand);
    }
    expect_answer(stand, &asked);
    close(client);
}

/* The connection is kept, and one that the broker has closed meanwhile is not used again. */
static void way__a_connection_is_kept(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    int client = -1;
    for (int i = 0; i < 3; i++) {
        ask(stand, &asked, "/v1/status");
        launch(stand, &asked);
        client = i == 0 ? accept_one(stand) : client;
        expect_request(client, REQUEST("/v1/status"));
        give(client, ANSWER);
        turn(stand);
        expect_answer(stand, &asked);
    }
    assert_true(nobody_knocks(stand));
    assert_int_equal(stand->reached, 3);
    close(client);
    ask(stand, &asked, "/v1/status");
    launch(stand, &asked);
    client = accept_one(stand);
    expect_request(client, REQUEST("/v1/status"));
    give(client, ANSWER);
    turn(stand);
    expect_answer(stand, &asked);
    /* Nor is one that is wanted to be fresh. */
    ask(stand, &asked, "/v1/status");
    asked.flight.fresh = true;
    launch(stand, &asked);
    int other = accept_one(stand);
    expect_request(other, REQUEST("/v1/status"));
    give(other, ANSWER);
    turn(stand);
    expect_answer(stand, &asked);
    close(client);
    close(other);
}

/* "Connection: close", or more than was asked for: there is no telling what the next bytes are. */
static void way__a_connection_is_not_kept(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", ANSWER ANSWER};
    struct stand *stand = *state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        struct asked asked;
        char byte;
        ask(stand, &asked, "/v1/status");
        launch(stand, &asked);
        int client = accept_one(stand);
        expect_request(client, REQUEST("/v1/status"));
        give(client, answers[i]);
        turn(stand);
        expect_answer(stand, &asked);
        assert_true(recv(client, &byte, 1, 0) <= 0);
        close(client);
    }
}

/* It dies when the request is on its way: the request goes over a new one, once. */
static void way__a_kept_connection_dies(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    ask(stand, &asked, "/v1/status");
    launch(stand, &asked);
    int client = accept_one(stand);
    expect_request(client, REQUEST("/v1/status"));
    give(client, ANSWER);
    turn(stand);
    expect_answer(stand, &asked);

    ask(stand, &asked, "/v1/list");
    launch(stand, &asked);
    close(client);
    turn(stand);
    assert_false(asked.flight.landed);
    client = accept_one(stand);
    expect_request(client, REQUEST("/v1/list"));
    close(client);
    turn(stand);
    expect_word(stand, &asked, "broken");
    assert_true(trouble_broken(&asked.flight.trouble));
    assert_true(nobody_knocks(stand));
}

static void way__broken_off(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    ask(stand, &asked, "/v1/status");
    launch(stand, &asked);
    int client = accept_one(stand);
    expect_request(client, REQUEST("/v1/status"));
    give(client, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}");
    close(client);
    turn(stand);
    expect_word(stand, &asked, "broken");
}

static void way__no_mcastd(void **state)
{
    struct stand *stand = *state;
    struct mcast_error error;
    struct asked asked;
    ask(stand, &asked, "/v1/status");
    launch(stand, &asked);
    int client = accept_one(stand);
    give(client, "220 mail.example.gov ESMTP\r\n");
    turn(stand);
    assert_true(asked.flight.landed);
    assert_int_equal(conclude(stand, &asked, &error), MCAST_UNCLEAR);
    close(client);
}

/* A body of megabytes is sent in as many pieces as it takes, and whole. */
static void way__a_long_request(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    char *body = malloc(BIG + 1), *piece = malloc(BIG);
    size_t all = 0;
    assert_true(body && piece);
    memset(body, 'x', BIG);
    body[BIG] = '\0';
    ask(stand, &asked, "/v1/sync");
    asked.call.method = "POST";
    asked.call.body = body;
    launch(stand, &asked);
    int client = accept_one(stand);
    while (all < BIG) {
        ssize_t got = recv(client, piece, BIG, 0);
        assert_true(got > 0);
        const char *start = all == 0 ? memmem(piece, (size_t)got, "\r\n\r\n", 4) : NULL;
        all += (size_t)got - (start ? (size_t)(start + 4 - piece) : 0);
        turn(stand);
    }
    assert_int_equal(all, BIG);
    assert_int_equal(piece[0], 'x');
    give(client, ANSWER);
    turn(stand);
    expect_answer(stand, &asked);
    close(client);
    free(body);
    free(piece);
}

/* Who refuses a request before all of it is there closes the connection: its answer counts. */
static void way__an_early_answer(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    char *body = malloc(BIG + 1);
    assert_non_null(body);
    memset(body, 'x', BIG);
    body[BIG] = '\0';
    ask(stand, &asked, "/v1/sync");
    asked.call.method = "POST";
    asked.call.body = body;
    launch(stand, &asked);
    int client = accept_one(stand);
    give(client, ANSWER);
    close(client);
    turn(stand);
    expect_answer(stand, &asked);
    free(body);
}

static void way__nobody_there(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    close(stand->listener);
    ask(stand, &asked, "/v1/status");
    launch(stand, &asked);
    expect_word(stand, &asked, "no-connection");
    assert_int_equal(asked.flight.trouble.os_error, ECONNREFUSED);
    unlink(stand->peer.endpoint.socket);
    ask(stand, &asked, "/v1/status");
    launch(stand, &asked);
    expect_word(stand, &asked, "no-connection");
    assert_int_equal(asked.flight.trouble.os_error, ENOENT);
    assert_int_equal(stand->reached, 0);
    listen_on(stand, 16);
}

static void way__no_answer_in_time(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    ask(stand, &asked, "/v1/status");
    asked.flight.limit_ms = 1;
    launch(stand, &asked);
    await(stand, &asked);
    expect_word(stand, &asked, "timeout");
}

/* The queue before the broker is full: there is nothing to be told when there is room again, so it
 * is tried for until the time is over. */
static void way__no_room_for_another_connection(void **state)
{
    struct stand *stand = *state;
    struct asked waiting, late, in_queue;
    close(stand->listener);
    listen_on(stand, 0);
    ask(stand, &in_queue, "/v1/status");
    launch(stand, &in_queue);
    ask(stand, &waiting, "/v1/status");
    launch(stand, &waiting);
    ask(stand, &late, "/v1/status");
    late.flight.limit_ms = 1;
    launch(stand, &late);
    assert_int_equal(stand->reached, 1);
    await(stand, &late);
    expect_word(stand, &late, "no-connection");
    int first = accept_one(stand);
    struct pollfd ready = {.fd = reactor_fd(stand->reactor), .events = POLLIN};
    while (stand->reached < 2) {
        assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
        turn(stand);
    }
    int second = accept_one(stand);
    expect_request(second, REQUEST("/v1/status"));
    reactor_remove(stand->reactor, &waiting.flight);
    reactor_remove(stand->reactor, &in_queue.flight);
    assert_false(waiting.flight.aloft || in_queue.flight.aloft);
    flight_release(&waiting.flight);
    flight_release(&in_queue.flight);
    close(first);
    close(second);
}

/* What was given up answers nobody, landed or not, and its connection is not kept. */
static void way__given_up(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    char byte;
    for (int landed = 0; landed < 2; landed++) {
        ask(stand, &asked, "/v1/status");
        asked.flight.fresh = true;
        launch(stand, &asked);
        int client = accept_one(stand);
        expect_request(client, REQUEST("/v1/status"));
        if (landed) {
            give(client, ANSWER);
            turn(stand);
            assert_true(asked.flight.landed);
        }
        reactor_remove(stand->reactor, &asked.flight);
        assert_null(reactor_landed(stand->reactor));
        assert_false(asked.flight.aloft);
        if (!landed)
            assert_true(recv(client, &byte, 1, 0) <= 0);
        flight_release(&asked.flight);
        text_release(&asked.answer.body);
        close(client);
    }
}

/* ---- who serves it (B8) ---- */

enum { OTHER = 65533 };

/* It is not asked, and hears nothing: neither a head nor a token. */
static void expect_distrust(struct stand *stand, const char *words)
{
    struct asked asked;
    struct mcast_error error;
    char byte;
    ask(stand, &asked, "/v1/own");
    asked.call.token = secret_of("of-a-job");
    launch(stand, &asked);
    turn(stand);
    assert_true(asked.flight.landed);
    assert_int_equal(conclude(stand, &asked, &error), MCAST_UNREACHABLE);
    assert_string_equal(error.word, "untrusted");
    assert_false(mcast_later(&error, NULL));
    assert_int_equal(mcast_exit_status(&error), MCAST_EXIT_NO_ANSWER);
    if (!strstr(error.text, words))
        fail_msg("\"%s\" is not in: %s", words, error.text);
    int client = accept_one(stand);
    assert_int_equal(recv(client, &byte, 1, 0), 0);
    close(client);
    assert_int_equal(stand->reached, 0);
}

static void way__a_server_of_another_user(void **state)
{
    struct stand *stand = *state;
    struct asked asked;
    if (geteuid() != 0)
        skip();
    close(stand->listener);
    listen_as(stand, 16, OTHER);
    expect_distrust(stand, "user 65533 serves it, who is neither root nor user 0, its folder's");
    expect_distrust(stand, "set server_user (or MCAST_SERVER_USER) to it");
    /* What the program says counts for more than the environment. */
    setenv("MCAST_SERVER_USER", "65533", 1);
    assert_int_equal(credentials_set_server_user(&stand->peer.credentials, "daemon", NULL), 0);
    expect_distrust(stand, "user 65533 serves it");
    assert_int_equal(credentials_set_server_user(&stand->peer.credentials, NULL, NULL), 0);
    ask(stand, &asked, "/v1/own");
    launch(stand, &asked);
    assert_false(asked.flight.landed);
    assert_int_equal(stand->reached, 1);
    int client = accept_one(stand);
    assert_int_equal(send(client, ANSWER, strlen(ANSWER), MSG_NOSIGNAL), strlen(ANSWER));
    close(client);
    await(stand, &asked);
    expect_answer(stand, &asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(way__an_answer_byte_by_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__a_connection_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__a_connection_is_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__a_kept_connection_dies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__broken_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__no_mcastd, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__a_long_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__an_early_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__nobody_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__no_answer_in_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__no_room_for_another_connection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(way__a_server_of_another_user, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
