#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"
#include "tests/system/rig/await.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

/* Many requests, many connections. */

#define JOB "/v1/clusters/elcap/jobs/"

enum { CROWD = 1000, PIPELINED = 60 };

static int open_site(void **state)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    *state = site_open(&(struct site_options){.mcastd = MCASTD});
    return 0;
}

static int close_site(void **state)
{
    site_close(*state);
    return 0;
}

static char *append_request(char *at, const char *method, int i)
{
    const char *body = strcmp(method, "PUT") ? "" : "{\"uid\":1,\"node_count\":1}";
    return at + sprintf(at, "%s " JOB "f%d HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                        method, i, strlen(body), body);
}

/* 60 requests in one write: 60 answers, in their order. */
static void pipeline__gets_all_its_answers(void **state)
{
    static const struct {
        const char *method;
        int status;
    } rounds[] = {{"PUT", 201}, {"PUT", 200}, {"GET", 200}, {"DELETE", 202}, {"DELETE", 200}};
    struct site *site = *state;
    struct line *line = site_line(site);
    static char text[PIPELINED * 256];
    for (size_t round = 0; round < sizeof rounds / sizeof rounds[0]; round++) {
        char *end = text;
        for (int i = 0; i < PIPELINED; i++)
            end = append_request(end, rounds[round].method, i);
        assert_int_equal(line_send(line, text, (size_t)(end - text)), 0);
        for (int i = 0; i < PIPELINED; i++) {
            struct answer answer;
            char job[16];
            assert_int_equal(line_answer(line, false, &answer), 0);
            assert_int_equal(answer.status, rounds[round].status);
            snprintf(job, sizeof job, "f%d", i);
            assert_string_equal(json_string_value(json_object_get(answer.json, "job")), job);
            answer_release(&answer);
        }
    }
    line_close(line);
}

/* Answers that wait for a commit and answers that do not, and refusals, mixed on one connection. */
static void pipeline__keeps_the_order_of_slow_and_quick(void **state)
{
    struct site *site = *state;
    struct line *line = site_line(site);
    static char text[PIPELINED * 512];
    char *end = text;
    for (int i = 0; i < PIPELINED; i++) {
        end = append_request(end, "PUT", i);
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

/* And nobody waits for a longer table of files (G11). */
static void thousand_connections__are_served_at_once(void **state)
{
    static struct line *lines[CROWD];
    struct site *site = *state;
    const int table = files_table(site);
    assert_true(table > CROWD);
    for (int i = 0; i < CROWD; i++)
        lines[i] = site_line(site);
    for (int round = 0; round < 2; round++) {
        char text[256];
        for (int i = 0; i < CROWD; i++)
            assert_int_equal(
                line_send(lines[i], text,
                          (size_t)(append_request(text, round ? "DELETE" : "PUT", i) - text)),
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
        site_ask(site, lines[i], "PUT", JOB "f1", NULL, "{\"uid\":1,\"node_count\":1}", &answer);
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
    assert_int_equal(site_call(site, "PUT", JOB "f1", "{\"uid\":1,\"node_count\":1}", NULL), 201);
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

enum { STRANGER = 65534, GREEDY = 300, PLACES = 100 };

static bool closed(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) == 1 && (look.revents & (POLLIN | POLLHUP));
}

/* In a process of its own: takes all the connections there are, says nothing on them, and tells
 * when none but its share is left open. Exit status: 0, or the line that failed. */
static int hold_connections(const char *path, int tell, int end)
{
    static int fds[GREEDY];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int64_t give_up = await_now_ns() + AWAIT_DEADLINE_MS * INT64_C(1000000);
    char byte = 0;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (setgid(STRANGER) < 0 || setuid(STRANGER) < 0)
        return __LINE__ % 256;
    for (int i = 0; i < GREEDY; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fds[i], (struct sockaddr *)&address, sizeof address) < 0)
            return __LINE__ % 256;
    }
    for (int open = GREEDY; open != PLACES / 2;) {
        open = 0;
        for (int i = 0; i < GREEDY; i++)
            open += !closed(fds[i]);
        if (open < PLACES / 2 || await_now_ns() > give_up)
            return __LINE__ % 256;
    }
    return write(tell, "x", 1) == 1 && read(end, &byte, 1) == 0 ? 0 : __LINE__ % 256;
}

/* Whoever has no role can neither take the managers' places nor those for their 503; those of TCP
 * have none either. */
static void stranger__cannot_lock_the_manager_out(void **state)
{
    struct site *site = *state;
    struct line *lines[PLACES / 2], *tcp;
    int tell[2], end[2], status = 0;
    char byte = 0;
    if (geteuid() != 0)
        skip();
    site_restart(site,
                 &(struct site_options){.mcastd = MCASTD,
                                        .broker = "connections_max = 100\nsocket_mode = 0666"});
    assert_int_equal(chmod(site_folder(site), 0711), 0);
    assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
    assert_int_equal(pipe2(end, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        close(end[1]);
        _exit(hold_connections(site_socket(site), tell[1], end[0]));
    }
    close(tell[1]);
    close(end[0]);
    bool held = read(tell[0], &byte, 1) == 1;
    for (int i = 0; held && i < PLACES / 2; i++) {
        lines[i] = site_line(site);
        assert_int_equal(site_ask(site, lines[i], "GET", "/v1/status", NULL, NULL, NULL), 200);
    }
    tcp = site_tcp(site);
    assert_true(line_ended(tcp));
    line_close(tcp);
    close(end[1]);
    close(tell[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < PLACES / 2; i++)
        line_close(lines[i]);

    struct answer answer; /* the broker has yet to see them leave */
    for (tcp = site_tcp(site); line_request(tcp, "GET", "/healthz", NULL, NULL) < 0 ||
                               line_answer(tcp, false, &answer) < 0;
         tcp = site_tcp(site))
        line_close(tcp);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
    line_close(tcp);
}

/* What was accepted before SIGTERM is answered: B6. */
static void stop__answers_what_was_accepted(void **state)
{
    struct site *site = *state;
    static struct line *lines[CROWD];
    char text[256];
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    for (int i = 0; i < CROWD; i++) {
        lines[i] = site_line(site);
        assert_int_equal(line_send(lines[i], text, (size_t)(append_request(text, "PUT", i) - text)),
                         0);
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
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, &answer), 200);
    json_t *jobs = json_object_get(answer.json, "jobs");
    assert_int_equal(json_integer_value(json_object_get(jobs, "active")), created);
    answer_release(&answer);
}

/* ---- strangers who never pause ---- */

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

/* One door's crowd takes nothing from the other's: they have turns of their own. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pipeline__gets_all_its_answers, open_site, close_site),
        cmocka_unit_test_setup_teardown(pipeline__keeps_the_order_of_slow_and_quick, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(thousand_connections__are_served_at_once, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(surplus_connection__is_told_503_and_closed, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(long_bodies__have_a_bound_together, open_site, close_site),
        cmocka_unit_test_setup_teardown(stranger__cannot_lock_the_manager_out, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(flood__over_tcp_keeps_nobody_from_the_socket, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(stop__answers_what_was_accepted, open_site, close_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
