/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

/* Many requests, many connections. */

#define JOB "/v1/clusters/elcap/jobs/"

enum { CROWD = 1000, PIPELINED = 60 };

SITE_FIXTURE()

/* Answers that wait for a commit and answers that do not, and refusals, mixed on one connection. */
static void pipeline__keeps_the_order_of_slow_and_quick(void **state)
{
    struct site *site = *state;
    struct line *line = site_line(site);
    static char text[PIPELINED * 512];
    char *end = text;
    for (int i = 0; i < PIPELINED; i++) {
        end = site_append_request(end, "PUT", i);
        end += sprintf(end, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        end += sprintf(end, "PUT /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    }
    assert_int_equal(line_send(line, text, (size_t)(end - text)), 0);
    for (int i = 0; i < PIPELINED * 3; i++) {
        static const int expected[] = {201, 200, 404};
        struct answer answer;
        assert_int_equal(line_answer(line, false, &answer), 0);
        assert_int_equal(answer.status, expected[i % 3]);
        answer_release(&answer);
    }
    line_close(line);
}

/* How many descriptors the kernel's table has room for now; proc(5). */
static int files_table(const struct site *site)
{
    char path[64], line[256];
    int size = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process_pid(site_broker(site)));
    FILE *status = fopen(path, "re");
    assert_non_null(status);
    while (size < 0 && fgets(line, sizeof line, status))
        (void)sscanf(line, "FDSize: %d", &size);
    fclose(status);
    return size;
}

/* Of this process and those that it starts: a machine may allow fewer than a crowd needs. */
static bool has_descriptors(void)
{
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_cur >= 2 * CROWD)
        return true;
    print_message("skipped: only %zu descriptors are allowed\n", (size_t)files.rlim_cur);
    return false;
}

/* And nobody waits for a longer table of files (G11). */
static void thousand_connections__are_served_at_once(void **state)
{
    static struct line *lines[CROWD];
    struct site *site = *state;
    if (!has_descriptors())
        skip();
    const int table = files_table(site);
    assert_true(table > CROWD);
    for (int i = 0; i < CROWD; i++)
        lines[i] = site_line(site);
    for (int round = 0; round < 2; round++) {
        char text[256];
        for (int i = 0; i < CROWD; i++)
            assert_int_equal(
                line_send(lines[i], text,
                          (size_t)(site_append_request(text, round ? "DELETE" : "PUT", i) - text)),
                0);
        for (int i = CROWD - 1; i >= 0; i--) {
            struct answer answer;
            assert_int_equal(line_answer(lines[i], false, &answer), 0);
            assert_int_equal(answer.status, round ? 202 : 201);
            answer_release(&answer);
        }
    }
    assert_int_equal(files_table(site), table);
    for (int i = 0; i < CROWD; i++)
        line_close(lines[i]);
}

/* Those above the limit are told so, and room is made when others leave. */
static void surplus_connection__is_told_503_and_closed(void **state)
{
    enum { MAX = 20, MORE = 10 };
    struct site *site = *state;
    struct line *lines[MAX + MORE];
    struct answer answer;
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .broker = "connections_max = 20"});
    for (int i = 0; i < MAX + MORE; i++) {
        lines[i] = site_line(site);
        site_ask(site, lines[i], "PUT", JOB "f1", NULL, ONE_NODE, &answer);
        assert_int_equal(answer.status, i == 0 ? 201 : i < MAX ? 200 : 503);
        if (i >= MAX) {
            site_expect_problem(&answer, 503, "too-many-connections", NULL);
            assert_true(line_ended(lines[i]));
        } else {
            answer_release(&answer);
        }
    }
    for (int i = 0; i < MAX + MORE; i++)
        line_close(lines[i]);
    struct line *line = site_line(site);
    int status;
    while ((status = site_ask(site, line, "GET", "/v1/status", NULL, NULL, NULL)) == 503) {
        line_close(line); /* the broker has yet to see the others leave */
        line = site_line(site);
    }
    assert_int_equal(status, 200);
    line_close(line);
}

/* Long bodies share 64 MiB: what does not fit is told to come again, short ones always fit. */
static void long_bodies__have_a_bound_together(void **state)
{
    enum { LONG = 16 << 20, SENT = 9 << 20, UNDER_WAY = 4 };
    static const char sync[] = "/v1/clusters/elcap/sync", list[] = "{\"active\":[]}";
    struct site *site = *state;
    struct line *lines[UNDER_WAY];
    struct answer answer;
    char head[256], retry[16];
    char *body = malloc(LONG + 1);
    assert_non_null(body);
    memset(body, ' ', LONG);
    body[LONG] = '\0';
    memcpy(body + LONG - strlen(list), list, strlen(list));
    sprintf(head, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", sync, LONG);
    for (int i = 0; i < UNDER_WAY; i++) { /* so much that the buffer of each has its last size */
        lines[i] = site_line(site);
        assert_int_equal(line_send(lines[i], head, strlen(head)), 0);
        assert_int_equal(line_send(lines[i], body, SENT), 0);
    }
    site_call(site, "POST", sync, body, &answer);
    assert_true(answer_header(&answer, "Retry-After", retry, sizeof retry));
    site_expect_problem(&answer, 503, "busy", NULL);
    assert_int_equal(site_call(site, "PUT", JOB "f1", ONE_NODE, NULL), 201);
    assert_int_equal(line_send(lines[0], body + SENT, LONG - SENT), 0);
    assert_int_equal(line_answer(lines[0], false, &answer), 0);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
    assert_int_equal(site_call(site, "POST", sync, body, NULL), 200); /* in its place */
    for (int i = 0; i < UNDER_WAY; i++)
        line_close(lines[i]);
    free(body);
}

/* ---- users without a role ---- */

/* As newuidmap gives them to one user: 33 uids, each with its own share (B8). */
enum { SUB_UID = 100000, SUB_UIDS = 33, OWNER = 65534, EACH = 20, CONNECTIONS_MAX = 128 };

static void become(uid_t uid)
{
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(seteuid(uid), 0);
}

static int connect_to(const struct site *site)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", site_socket(site));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static struct line *line_as(const struct site *site, uid_t uid)
{
    become(uid);
    struct line *line = site_line(site);
    become(0);
    return line;
}

/* False, with a word: users without a role cannot be tried. */
static bool open_to_all(struct site *site)
{
    if (geteuid() != 0) {
        print_message("only root can ask as other users\n");
        return false;
    }
    site_restart(site,
                 &(struct site_options){.mcastd = MCASTD,
                                        .broker = "connections_max = 128\nsocket_mode = 0666"});
    assert_int_equal(chmod(site_folder(site), 0711), 0);
    return true;
}

static bool is_told_to_go(struct line *line)
{
    struct answer answer;
    char retry[16];
    if (line_answer(line, false, &answer) < 0)
        return false;
    const bool told = answer_header(&answer, "Retry-After", retry, sizeof retry);
    site_expect_problem(&answer, 503, "too-many-connections", NULL);
    return told && line_ended(line);
}

/* All that the sub-uids have: unsaid, but for why it ends. */
struct greedy {
    int fds[SUB_UIDS * EACH];
};

static bool is_over(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) == 1;
}

static int open_of(const struct greedy *greedy)
{
    int open = 0;
    for (int i = 0; i < SUB_UIDS * EACH; i++)
        open += !is_over(greedy->fds[i]);
    return open;
}

static bool have_their_share(void *arg)
{
    return open_of(arg) == CONNECTIONS_MAX / 8;
}

static void assert_told(const struct greedy *greedy)
{
    for (int i = 0; i < SUB_UIDS * EACH; i++) {
        char text[1024] = "";
        if (!is_over(greedy->fds[i]))
            continue;
        assert_true(recv(greedy->fds[i], text, sizeof text - 1, 0) > 0);
        assert_memory_equal(text, "HTTP/1.1 503 ", 13);
        assert_non_null(strstr(text, "\r\nRetry-After: 1\r\n"));
        assert_non_null(strstr(text, "\"code\":\"too-many-connections\""));
    }
}

/* However many uids a user has, he takes nothing from managers and nodes, and of what is left for
 * users an owner gets a connection: that of one that is idle. */
static void sub_uids__keep_nobody_out(void **state)
{
    enum { USERS = CONNECTIONS_MAX / 8 };
    static struct greedy greedy;
    struct line *managers[CONNECTIONS_MAX - USERS];
    struct site *site = *state;
    if (!open_to_all(site))
        skip();
    for (int i = 0; i < SUB_UIDS * EACH; i++) {
        become((uid_t)(SUB_UID + i / EACH));
        greedy.fds[i] = connect_to(site);
    }
    become(0);
    assert_true(await(have_their_share, &greedy, AWAIT_DEADLINE_MS));
    struct line *owner = line_as(site, OWNER);
    assert_int_equal(site_ask(site, owner, "GET", "/v1/jobs", NULL, NULL, NULL), 200);
    assert_int_equal(open_of(&greedy), USERS - 1);
    for (int i = 0; i < CONNECTIONS_MAX - USERS; i++) {
        managers[i] = site_line(site);
        assert_int_equal(site_ask(site, managers[i], "GET", "/v1/status", NULL, NULL, NULL), 200);
    }
    assert_int_equal(site_ask(site, owner, "GET", "/v1/jobs", NULL, NULL, NULL), 200);
    assert_told(&greedy);
    for (int i = 0; i < SUB_UIDS * EACH; i++)
        close(greedy.fds[i]);
    for (int i = 0; i < CONNECTIONS_MAX - USERS; i++)
        line_close(managers[i]);
    line_close(owner);
}

static bool has_served(void *arg)
{
    struct site *site = arg;
    return site_call(site, "GET", "/v1/status", NULL, NULL) == 200;
}

/* Clients that connect and leave, over and over, do not delay those behind them in the listen queue
 * (B8). */
static void gone_clients__are_not_accepted(void **state)
{
    enum { GONE = 100 };
    struct site *site = *state;
    if (!open_to_all(site))
        skip();
    const pid_t broker = process_pid(site_broker(site));
    const long before = site_accepted(site, "unix");
    assert_int_equal(kill(broker, SIGSTOP), 0);
    for (int i = 0; i < GONE; i++) {
        become((uid_t)(SUB_UID + i));
        const int fd = connect_to(site);
        if (i % 2)
            assert_true(send(fd, "GET", 3, MSG_NOSIGNAL) == 3);
        close(fd);
    }
    become(0);
    assert_int_equal(kill(broker, SIGCONT), 0);
    assert_true(await(has_served, site, AWAIT_DEADLINE_MS));
    assert_true(site_accepted(site, "unix") - before < GONE);
}

/* A request that waits for its answer is not given up for a newcomer's; one that is not whole is.
 */
static void unfinished_request__makes_room(void **state)
{
    static const char half[] = "GET /v1/status HTTP/1.1\r\nHost: x";
    enum { USERS = CONNECTIONS_MAX / 8 };
    struct line *lines[USERS], *more;
    struct site *site = *state;
    if (!open_to_all(site))
        skip();
    for (int i = 0; i < USERS; i++) {
        lines[i] = line_as(site, (uid_t)(SUB_UID + i));
        if (i == 0)
            assert_int_equal(line_send(lines[i], half, strlen(half)), 0);
        else
            assert_int_equal(site_ask(site, lines[i], "GET", "/v1/whoami", NULL, NULL, NULL), 200);
    }
    more = line_as(site, OWNER);
    assert_int_equal(site_ask(site, more, "GET", "/v1/whoami", NULL, NULL, NULL), 200);
    assert_true(is_told_to_go(lines[0]));
    for (int i = 1; i < USERS; i++)
        assert_int_equal(site_ask(site, lines[i], "GET", "/v1/whoami", NULL, NULL, NULL), 200);
    for (int i = 0; i < USERS; i++)
        line_close(lines[i]);
    line_close(more);
}

/* ---- heads that do not end ---- */

static void assert_too_slow(struct line *line)
{
    struct answer answer;
    assert_int_equal(line_answer(line, false, &answer), 0);
    site_expect_problem(&answer, 503, "too-slow", NULL);
    assert_true(line_ended(line));
}

/* One more byte of its header, until an answer is there. */
static bool trickles_no_more(void *arg)
{
    const int fd = *(const int *)arg;
    struct pollfd look = {.fd = fd, .events = POLLIN};
    (void)send(fd, "x", 1, MSG_NOSIGNAL);
    return poll(&look, 1, 0) == 1;
}

/* Half a head has its time, from its first byte, whoever sends it and however slowly the next bytes
 * come (B8); a connection that is only idle has more. */
static void head__that_does_not_end_is_given_up(void **state)
{
    static const char half[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ",
                      whole[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    struct site *site = *state;
    char answer[4096] = "";
    process_signal(site_broker(site), SIGSTOP); /* so that it is there when they are accepted */
    struct line *quiet = site_line(site), *remote = site_tcp(site);
    assert_int_equal(line_send(quiet, half, strlen(half)), 0);
    assert_int_equal(line_send(remote, half, strlen(half)), 0);
    process_signal(site_broker(site), SIGCONT);
    struct line *idle = site_line(site);
    int slow = connect_to(site);
    assert_int_equal(send(slow, whole, strlen(whole), 0), strlen(whole)); /* and a second one: */
    assert_true(recv(slow, answer, sizeof answer - 1, 0) > 0);
    assert_int_equal(send(slow, half, strlen(half), 0), strlen(half));
    assert_true(await(trickles_no_more, &slow, AWAIT_DEADLINE_MS));
    memset(answer, 0, sizeof answer);
    assert_true(recv(slow, answer, sizeof answer - 1, 0) > 0);
    assert_memory_equal(answer, "HTTP/1.1 503 ", 13);
    assert_non_null(strstr(answer, "too-slow"));
    close(slow);
    assert_too_slow(quiet);
    assert_too_slow(remote);
    assert_int_equal(site_ask(site, idle, "GET", "/healthz", NULL, NULL, NULL), 200);
    line_close(quiet);
    line_close(remote);
    line_close(idle);
}

/* What was accepted before SIGTERM is answered: B6. */
static void stop__answers_what_was_accepted(void **state)
{
    struct site *site = *state;
    static struct line *lines[CROWD];
    char text[256];
    if (!has_descriptors())
        skip();
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    for (int i = 0; i < CROWD; i++) {
        lines[i] = site_line(site);
        assert_int_equal(
            line_send(lines[i], text, (size_t)(site_append_request(text, "PUT", i) - text)), 0);
    }
    struct answer answer;
    assert_int_equal(line_answer(lines[CROWD - 1], false, &answer), 0);
    answer_release(&answer);
    site_stop(site);
    int created = 1;
    for (int i = 0; i < CROWD - 1; i++) {
        if (line_answer(lines[i], false, &answer) < 0)
            continue; /* was not read before the end: nothing was promised */
        assert_true(answer.status == 201 || answer.status == 503);
        created += answer.status == 201;
        answer_release(&answer);
    }
    for (int i = 0; i < CROWD; i++)
        line_close(lines[i]);
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    assert_int_equal(site_number(site, "/v1/status", "jobs.active"), created);
}

/* ---- unauthenticated peers that never pause ---- */

enum { FLOODERS = 16, ASKED = 20 }; /* as many as one address may have connections */

static const char asked_again[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

struct flooder {
    int fd;
    size_t sent; /* of the text, which begins again at its end */
};

static bool write_on(struct flooder *flooder, const char *text, size_t length)
{
    const ssize_t sent = send(flooder->fd, text + flooder->sent, length - flooder->sent,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0)
        flooder->sent = (flooder->sent + (size_t)sent) % length;
    return sent >= 0 || errno == EAGAIN;
}

/* In a process of its own, until it is killed: requests without end on each connection, whatever is
 * answered. Tells when the first answer is there. Returns the line that failed. */
static int flood(int port, int tell)
{
    static char text[sizeof asked_again * PIPELINED], answers[65536];
    struct flooder flooders[FLOODERS];
    struct pollfd looks[FLOODERS];
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    bool told = false;
    for (int i = 0; i < PIPELINED; i++)
        strcat(text, asked_again);
    const size_t length = strlen(text);
    for (int i = 0; i < FLOODERS; i++) {
        flooders[i] = (struct flooder){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        looks[i] = (struct pollfd){.fd = flooders[i].fd, .events = POLLIN | POLLOUT};
        if (connect(flooders[i].fd, (const struct sockaddr *)&address, sizeof address) < 0)
            return __LINE__;
    }
    for (;;) {
        if (poll(looks, FLOODERS, AWAIT_DEADLINE_MS) <= 0)
            return __LINE__;
        for (int i = 0; i < FLOODERS; i++) {
            if ((looks[i].revents & POLLOUT) && !write_on(&flooders[i], text, length))
                return __LINE__;
            if ((looks[i].revents & POLLIN) &&
                recv(looks[i].fd, answers, sizeof answers, MSG_DONTWAIT) > 0 && !told)
                told = write(tell, "x", 1) == 1;
        }
    }
}

/* Many requests at one listener take nothing from the other: both have turns of their own. */
static void flood__over_tcp_keeps_nobody_from_the_socket(void **state)
{
    struct site *site = *state;
    int tell[2];
    char byte = 0;
    assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(flood(site_port(site), tell[1]) % 256);
    close(tell[1]);
    bool flooded = read(tell[0], &byte, 1) == 1;
    struct line *line = site_line(site);
    for (int i = 0; flooded && i < ASKED; i++)
        assert_int_equal(site_ask(site, line, "GET", "/v1/status", NULL, NULL, NULL), 200);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0); /* it has not given up */
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(flooded);
    line_close(line);
    close(tell[0]);
}

UNIT_MAIN(ON_SITE(pipeline__keeps_the_order_of_slow_and_quick),
          ON_SITE(thousand_connections__are_served_at_once),
          ON_SITE(surplus_connection__is_told_503_and_closed),
          ON_SITE(long_bodies__have_a_bound_together), ON_SITE(sub_uids__keep_nobody_out),
          ON_SITE(gone_clients__are_not_accepted), ON_SITE(unfinished_request__makes_room),
          ON_SITE(head__that_does_not_end_is_given_up),
          ON_SITE(flood__over_tcp_keeps_nobody_from_the_socket),
          ON_SITE(stop__answers_what_was_accepted))
