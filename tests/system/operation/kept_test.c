/* SPDX-License-Identifier: Apache-2.0 */
/* Nobody is refused while the service is restarted: its service manager keeps the listening
 * sockets. This one does what systemd does with FDSTORE and LISTEN_FDS. */

#include "tests/system/http/line.h"
#include "tests/system/operation/managedbroker.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/port.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { STORED_MAX = 4, FIRST_FD = 3, PORTS_MAX = 4 };

static struct port ports[PORTS_MAX]; /* of this test */
static size_t port_count;

static struct {
    int manager; /* where notifications come */
    size_t count;
    struct {
        int fd;
        char name[128];
    } stored[STORED_MAX];
} store;

/* ---- the service manager ---- */

/* In the new process, before main: this program becomes mcastd with what is kept. */
__attribute__((constructor)) static void become_service(void)
{
    char *fds = getenv("KEPT_FDS"), text[16];
    int count = 0, copies[STORED_MAX];
    if (!fds)
        return;
    for (char *word; (word = strsep(&fds, ","));)
        if (word[0] && count < STORED_MAX)
            copies[count++] = fcntl(atoi(word), F_DUPFD, FIRST_FD + STORED_MAX);
    for (int i = 0; i < count; i++)
        (void)dup2(copies[i], FIRST_FD + i);
    for (int i = 0; i < count; i++)
        (void)close(copies[i]);
    (void)snprintf(text, sizeof text, "%d", (int)getpid());
    (void)setenv("LISTEN_PID", text, 1);
    (void)snprintf(text, sizeof text, "%d", count);
    (void)setenv("LISTEN_FDS", text, 1);
    (void)setenv("LISTEN_FDNAMES", getenv("KEPT_NAMES"), 1);
    (void)unsetenv("KEPT_FDS");
    (void)unsetenv("KEPT_NAMES");
    char *const argv[] = {(char *)(uintptr_t)MCASTD, (char *)(uintptr_t) "--config",
                          getenv("KEPT_CONFIG"), NULL};
    (void)execv(MCASTD, argv);
    _exit(127);
}

static void open_store(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", managed_path("notify"));
    memset(&store, 0, sizeof store);
    store.manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(store.manager, (struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
}

static void forget(size_t i)
{
    close(store.stored[i].fd);
    store.stored[i] = store.stored[--store.count];
}

/* "…FDNAME=name…" */
static void obey(const char *words, int fd)
{
    char name[128] = "";
    const char *at = strstr(words, "FDNAME=");
    if (at)
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
    if (strstr(words, "FDSTOREREMOVE=1")) {
        for (size_t i = store.count; i-- > 0;)
            if (strcmp(store.stored[i].name, name) == 0)
                forget(i);
    } else if (strstr(words, "FDSTORE=1")) {
        assert_true(fd >= 0 && store.count < STORED_MAX);
        assert_null(strchr(name, ':'));
        store.stored[store.count].fd = fd;
        (void)snprintf(store.stored[store.count++].name, sizeof name, "%s", name);
        fd = -1;
    }
    if (fd >= 0)
        close(fd);
}

static void hear(void)
{
    char words[2048];
    ssize_t size;
    do {
        union {
            struct cmsghdr header;
            char space[CMSG_SPACE(sizeof(int))];
        } control;
        struct iovec text = {.iov_base = words, .iov_len = sizeof words - 1};
        struct msghdr message = {.msg_iov = &text,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof control};
        int fd = -1;
        size = recvmsg(store.manager, &message, MSG_CMSG_CLOEXEC);
        if (size < 0)
            return;
        words[size] = '\0';
        const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (header && header->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(header), sizeof fd);
        obey(words, fd);
    } while (size >= 0);
}

/* Starts it with what is kept. */
static void start_until(const char *word)
{
    char fds[64] = "", names[1024] = "", own[256];
    for (size_t i = 0; i < store.count; i++) {
        assert_int_equal(fcntl(store.stored[i].fd, F_SETFD, 0), 0);
        (void)snprintf(fds + strlen(fds), sizeof fds - strlen(fds), "%d,", store.stored[i].fd);
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                       i > 0 ? ":" : "", store.stored[i].name);
    }
    setenv("KEPT_FDS", fds, 1);
    setenv("KEPT_NAMES", names, 1);
    (void)snprintf(own, sizeof own, "%s", managed_path("mcastd.conf"));
    setenv("KEPT_CONFIG", own, 1);
    managed_start_until(word);
    unsetenv("KEPT_FDS");
    hear();
}

static void start(void)
{
    start_until(" READY ");
}

static bool is_stored(const char *key)
{
    for (size_t i = 0; i < store.count; i++)
        if (strncmp(store.stored[i].name, key, strlen(key)) == 0)
            return true;
    return false;
}

/* ---- */

static int open_house(void **state)
{
    managed_open("/proc/self/exe", MOCK_FM);
    unsetenv("WATCHDOG_USEC");
    open_store();
    return 0;
}

static int close_house(void **state)
{
    managed_close();
    unsetenv("NOTIFY_SOCKET");
    while (store.count > 0)
        forget(0);
    close(store.manager);
    while (port_count > 0)
        port_release(&ports[--port_count]);
    return 0;
}

static int free_port(void)
{
    assert_true(port_count < PORTS_MAX);
    port_draw(&ports[port_count]);
    return ports[port_count++].number;
}

static void configure(int listen, int front)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "[broker]\nlisten = 127.0.0.1:%d\n[front]\nlisten = 127.0.0.1:%d\n"
                   "url = http://127.0.0.1:%d\n",
                   listen, front, front);
    managed_configure(text);
}

/* 0, or errno. */
static int connected(int port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((uint16_t)port)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int cause =
        connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    close(fd);
    return cause;
}

static void asks(struct line *line, const char *path)
{
    assert_int_equal(line_request(line, "GET", path, NULL, NULL), 0);
}

static void is_answered(struct line *line, int status)
{
    struct answer answer;
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, status);
    answer_release(&answer);
    line_close(line);
}

#define LIST "/fabric/collectives/jobs/" /* 401 here: no login is shown */

static void restart__refuses_nobody(void **state)
{
    const int listen = free_port(), front = free_port();
    configure(listen, front);
    start();
    assert_true(is_stored("front=127.0.0.1_") && is_stored("listen=127.0.0.1_"));
    assert_int_equal(store.count, 2);
    for (int round = 0; round < 3; round++) {
        /* Accepted before, and asks when it is being stopped. */
        struct line *early = line_open(NULL, front), *probe = line_open(NULL, front);
        asks(probe, LIST);
        is_answered(probe, 401);
        if (round == 1) {
            managed_kill();
            line_close(early);
        } else {
            process_signal(managed_broker(), SIGTERM);
            assert_true(managed_logged("stopping: answering what was accepted"));
            asks(early, LIST);
            is_answered(early, 401);
            managed_stop();
        }
        struct line *late = line_open(NULL, front), *other = line_open(NULL, listen);
        asks(late, LIST);
        asks(other, "/healthz");
        start();
        is_answered(late, 401);
        is_answered(other, 200);
        assert_int_equal(store.count, 2);
        assert_non_null(strstr(managed_log(), "with the socket that the service manager has kept"));
    }
}

static void address__that_is_not_configured_any_more_refuses(void **state)
{
    const int listen = free_port(), front = free_port(), next = free_port();
    configure(listen, front);
    start();
    managed_stop();
    assert_int_equal(connected(front), 0); /* kept */
    configure(listen, next);
    start();
    assert_int_equal(connected(front), ECONNREFUSED);
    assert_int_equal(connected(next), 0);
    assert_int_equal(store.count, 2);
    managed_stop();
    managed_configure("");
    start();
    assert_int_equal(connected(listen), ECONNREFUSED);
    assert_int_equal(connected(next), ECONNREFUSED);
    assert_int_equal(store.count, 0);
}

/* It may be anybody's: the socket of a unit that a site has made, or one with a name of ours at
 * another address. */
static void socket__of_another_address_is_not_taken(void **state)
{
    const int listen = free_port(), front = free_port(), next = free_port();
    configure(listen, front);
    start();
    managed_stop();
    for (size_t i = 0; i < store.count; i++)
        if (strncmp(store.stored[i].name, "front=", 6) == 0)
            (void)snprintf(store.stored[i].name, sizeof store.stored[i].name, "front=127.0.0.1_%d",
                           next);
    configure(listen, next);
    start();
    assert_int_equal(connected(front), ECONNREFUSED);
    struct line *line = line_open(NULL, next);
    asks(line, LIST);
    is_answered(line, 401);
}

/* B7: who cannot serve now refuses, so that clients ask the broker that leads. */
static void broker__among_several_keeps_none(void **state)
{
    char text[512];
    const int listen = free_port(), front = free_port();
    configure(listen, front);
    start();
    managed_stop();
    assert_int_equal(store.count, 2);
    (void)snprintf(text, sizeof text,
                   "[broker]\nlisten = 127.0.0.1:%d\nadvertise = http://127.0.0.1:%d\n"
                   "[state]\nstore = etcd\nendpoints = http://127.0.0.1:%d\n"
                   "[front]\nlisten = 127.0.0.1:%d\nurl = http://127.0.0.1:%d\n",
                   listen, listen, free_port(), front, front);
    managed_configure(text);
    start_until(" STANDBY ");
    assert_int_equal(connected(front), ECONNREFUSED);
    assert_int_equal(connected(listen), 0);
    assert_int_equal(store.count, 0);
    managed_kill();
    assert_int_equal(connected(listen), ECONNREFUSED);
}

#define KEPT_TEST(name) cmocka_unit_test_setup_teardown(name, open_house, close_house)

UNIT_MAIN(KEPT_TEST(restart__refuses_nobody),
          KEPT_TEST(address__that_is_not_configured_any_more_refuses),
          KEPT_TEST(socket__of_another_address_is_not_taken),
          KEPT_TEST(broker__among_several_keeps_none))
