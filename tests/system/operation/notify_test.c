/* SPDX-License-Identifier: Apache-2.0 */
/* What a service manager hears of the real broker through its whole life (sd_notify(3)). */

#include "tests/system/operation/managedbroker.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/wire.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int manager;
static char heard[256 * 1024]; /* datagrams, each between "<" and ">" */

static void listen_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(manager, (struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", name, 1);
}

static int open_house(void **state)
{
    managed_open(MCASTD, MOCK_FM);
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    heard[0] = '\0';
    listen_at(managed_path("notify"));
    return 0;
}

static int close_house(void **state)
{
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    managed_close();
    close(manager);
    return 0;
}

/* Takes what has come, waiting at most so long for the first. */
static void hear(int wait_ms)
{
    struct pollfd fd = {.fd = manager, .events = POLLIN};
    while (poll(&fd, 1, wait_ms) == 1) {
        size_t length = strlen(heard);
        char words[2048];
        ssize_t size = recv(manager, words, sizeof words - 1, 0);
        assert_true(size >= 0 && length + (size_t)size + 4 < sizeof heard);
        words[size] = '\0';
        (void)snprintf(heard + length, sizeof heard - length, "<%s>", words);
        wait_ms = 0;
    }
}

/* Waits until the words have come after `from`; where they begin. */
static const char *await_words(const char *from, const char *words)
{
    int64_t give_up = await_now_ns() + (int64_t)AWAIT_DEADLINE_MS * 1000000;
    const char *at;
    while (!(at = strstr(from, words))) {
        if (await_now_ns() > give_up)
            fail_msg("\"%s\" did not come; heard: %s", words, heard);
        hear(100);
    }
    return at;
}

static void life__is_told(void **state)
{
    char text[128];
    const char *url = managed_fm(0);
    (void)snprintf(text, sizeof text, "[fm]\nurl = %s\n", url);
    managed_configure(text);
    managed_start();
    /* More time is asked for before the store is opened, which may have to recover. */
    const char *at = await_words(heard, "<EXTEND_TIMEOUT_USEC=");
    at = await_words(at, "<READY=1\nSTATUS=");
    (void)snprintf(text, sizeof text, "Fabric manager %s is up. 0 jobs, 0 being released, ", url);
    at = await_words(at, text);

    managed_fm_kill(0);
    assert_int_equal(managed_reserve("f1", "on", NULL), 201);
    at = await_words(at, "<STATUS=Fabric manager ");
    at = await_words(at, ": down (");
    managed_stop();
    at = await_words(at, "<STOPPING=1\nSTATUS=Stopping");
    assert_null(strstr(at + 1, "<READY=1"));
}

enum { JOBS = 3000 /* each is a reservation and an event: more records than between two words */ };

static void on_answer(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    assert_int_equal(reply->status, 201);
    ++*(unsigned *)arg;
}

static void reserve_many(void)
{
    unsigned sent = 0, done = 0;
    const struct wire_options options = {
        .socket = managed_path("s"), .connections = 8, .depth = 8, .done = on_answer, .arg = &done};
    struct wire *wire = wire_create(&options);
    assert_non_null(wire);
    while (done < JOBS) {
        for (; sent < JOBS && wire_has_room(wire); sent++) {
            char path[96];
            (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/j%u", sent);
            assert_int_equal(wire_send(wire, sent, "PUT", path, "{\"uid\":1,\"nodes\":\"n1\"}"), 0);
        }
        (void)wire_turn(wire, 1000);
        hear(0);
    }
    wire_destroy(wire);
}

/* Start-up killed by a time-out during recovery. */
static void large_ledger__asks_for_time(void **state)
{
    managed_start();
    reserve_many();
    managed_stop();
    hear(0);
    const char *at = heard + strlen(heard);
    managed_start();
    at = await_words(at, "<EXTEND_TIMEOUT_USEC=60000000\nSTATUS=Opening the ledger.>");
    at = await_words(at, "<EXTEND_TIMEOUT_USEC=60000000\nSTATUS=Loading the ledger: 4096 records");
    (void)await_words(at, "<READY=1\nSTATUS=No fabric manager is configured. 3000 jobs, ");
}

static void reload__is_told(void **state)
{
    managed_start();
    const char *at = await_words(heard, "<READY=1\nSTATUS=");
    assert_true(managed_reload());
    at = await_words(at, "<RELOADING=1\nMONOTONIC_USEC=");
    at = await_words(at, "<READY=1\nSTATUS=No fabric manager");
    managed_configure("nonsense\n");
    assert_false(managed_reload());
    at = await_words(at, "<RELOADING=1\n");
    at = await_words(at, "<READY=1\nSTATUS=The last reload was refused (see the log). ");
    managed_configure("");
    assert_true(managed_reload());
    at = await_words(at, "<RELOADING=1\n");
    (void)await_words(at, "<READY=1\nSTATUS=No fabric manager");
}

static int listen_on_loopback(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* Somebody reads the pipe: from now on only the test's end keeps him waiting. */
static bool is_being_read(void *arg)
{
    int *fd = arg;
    *fd = open(managed_path("ca.pem"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return *fd >= 0;
}

/* Stops the main thread, and none of the others. */
static bool hold_loop(pid_t pid)
{
    int status;
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 &&
           ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid &&
           WIFSTOPPED(status);
}

/* Nobody feeds it from another thread: while the loop is away, none comes. */
static void watchdog__is_not_fed_by_a_loop_that_hangs(void **state)
{
    setenv("WATCHDOG_USEC", "300000", 1);
    managed_start();
    (void)await_words(heard, "<WATCHDOG=1>");
    if (!hold_loop(managed_pid()))
        skip(); /* no process may look into another here */
    hear(0);
    const char *at = heard + strlen(heard);
    hear(1000); /* for what must not come: three times as long as the watchdog would wait */
    assert_null(strstr(at, "<WATCHDOG=1>"));
    assert_int_equal(ptrace(PTRACE_DETACH, managed_pid(), NULL, NULL), 0);
    (void)await_words(at, "<WATCHDOG=1>");
}

/* Authorities that are a pipe are not read in the loop (G11). */
static void watchdog__is_fed_while_authorities_do_not_come(void **state)
{
    char text[256];
    int port, pipe = -1;
    setenv("WATCHDOG_USEC", "300000", 1);
    managed_start();
    const int listener = listen_on_loopback(&port);
    assert_int_equal(mkfifo(managed_path("ca.pem"), 0644), 0);
    (void)snprintf(text, sizeof text, "[fm]\nurl = https://127.0.0.1:%d\nca = %s\n", port,
                   managed_path("ca.pem"));
    managed_configure(text);
    assert_true(managed_reload());
    assert_true(await(is_being_read, &pipe, AWAIT_DEADLINE_MS));
    hear(0);
    const char *at = heard + strlen(heard);
    for (int i = 0; i < 3; i++)
        at = await_words(at, "<WATCHDOG=1>") + 1;
    managed_remove("ca.pem"); /* or it would be read again */
    assert_int_equal(close(pipe), 0);
    close(listener);
}

/* Nor does a reload keep the loop: its files are read elsewhere (G11). */
static void watchdog__is_fed_while_a_reload_hangs(void **state)
{
    setenv("WATCHDOG_USEC", "300000", 1);
    managed_start();
    managed_remove("mcastd.conf");
    assert_int_equal(mkfifo(managed_path("mcastd.conf"), 0644), 0);
    assert_int_equal(kill(managed_pid(), SIGHUP), 0);
    const char *at = await_words(heard, "<RELOADING=1");
    for (int i = 0; i < 3; i++)
        at = await_words(at, "<WATCHDOG=1>") + 1;
    assert_null(strstr(heard, "<READY=1\nSTATUS=The last reload"));
    FILE *pipe = fopen(managed_path("mcastd.conf"), "w");
    assert_non_null(pipe);
    fputs("nonsense\n", pipe);
    fclose(pipe);
    (void)await_words(at, "<READY=1\nSTATUS=The last reload was refused");
}

/* With nobody there to be told, or no socket at all, it runs as well. */
static void nobody_there__is_no_trouble(void **state)
{
    setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
    managed_start();
    managed_stop();
    setenv("NOTIFY_SOCKET", "vsock:2:1", 1);
    managed_start();
    assert_true(managed_logged("the service manager gets no notifications: NOTIFY_SOCKET="));
}

#define BROKER_TEST(name) cmocka_unit_test_setup_teardown(name, open_house, close_house)

UNIT_MAIN(BROKER_TEST(life__is_told), BROKER_TEST(large_ledger__asks_for_time),
          BROKER_TEST(reload__is_told), BROKER_TEST(watchdog__is_not_fed_by_a_loop_that_hangs),
          BROKER_TEST(watchdog__is_fed_while_authorities_do_not_come),
          BROKER_TEST(watchdog__is_fed_while_a_reload_hangs),
          BROKER_TEST(nobody_there__is_no_trouble))
