/* SPDX-License-Identifier: Apache-2.0 */
/* sd_notify's protocol, against a datagram socket of the test's own. */

#include "tests/unit/unit.h"

#include "broker/service/notify.h"
#include "tests/unit/broker/datagrams.h"

#include <time.h>
#include <unistd.h>

static void bind_to(const char *name)
{
    datagrams_bind(name);
    setenv("NOTIFY_SOCKET", name, 1);
}

static int open_folder(void **state)
{
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return datagrams_open(state);
}

static struct notify opened(void)
{
    struct notify notify;
    struct error err = {0};
    assert_int_equal(notify_init(&notify, &err), 0);
    return notify;
}

#define FOLDER_TEST(name) UNIT_WITH(name, open_folder, datagrams_close)

FOLDER_TEST(words__arrive_as_one_datagram)
{
    setenv("NOTIFY_SOCKET", datagrams_path, 1);
    struct notify notify = opened();
    assert_true(notify.fd >= 0);
    (void)notify_send(&notify, true, "READY=1\nSTATUS=%d jobs", 3);
    assert_string_equal(datagrams_next(), "READY=1\nSTATUS=3 jobs");
    assert_true(notify_send(&notify, false, "WATCHDOG=1"));
    assert_string_equal(datagrams_next(), "WATCHDOG=1");
    notify_release(&notify);
    assert_false(notify.fd >= 0);
}

/* The name of an abstract socket ends where its length says, not at a NUL. */
FOLDER_TEST(abstract_socket__is_reached)
{
    char name[64];
    (void)snprintf(name, sizeof name, "@mcast-notify-%d", (int)getpid());
    bind_to(name);
    struct notify notify = opened();
    (void)notify_send(&notify, true, "STOPPING=1");
    assert_string_equal(datagrams_next(), "STOPPING=1");
    notify_release(&notify);
}

FOLDER_TEST(no_socket__is_silence)
{
    struct notify notify = opened();
    assert_false(notify.fd >= 0);
    (void)notify_send(&notify, true, "READY=1");
    notify_reloading(&notify);
    assert_false(notify_send(&notify, false, "WATCHDOG=1"));
    assert_true(notify.watchdog_us == 0);
    notify_release(&notify);
}

FOLDER_TEST(odd_socket__is_told_and_silence)
{
    struct notify notify;
    struct error err;
    char longest[200];
    setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
    assert_int_equal(notify_init(&notify, &err), ERROR_INVALID);
    assert_non_null(strstr(err.text, "vsock:2:1234"));
    assert_false(notify.fd >= 0);
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    setenv("NOTIFY_SOCKET", longest, 1);
    assert_int_equal(notify_init(&notify, &err), ERROR_INVALID);
    assert_false(notify.fd >= 0);
    (void)notify_send(&notify, true, "READY=1");
}

/* Type=notify-reload compares the moment with its own clock: CLOCK_MONOTONIC in microseconds. */
FOLDER_TEST(reloading__tells_the_moment)
{
    struct timespec before, after;
    unsigned long long moment = 0;
    setenv("NOTIFY_SOCKET", datagrams_path, 1);
    struct notify notify = opened();
    clock_gettime(CLOCK_MONOTONIC, &before);
    notify_reloading(&notify);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_int_equal(sscanf(datagrams_next(), "RELOADING=1\nMONOTONIC_USEC=%llu", &moment), 1);
    assert_true(moment >= (unsigned long long)before.tv_sec * 1000000 +
                              (unsigned long long)before.tv_nsec / 1000);
    assert_true(moment <= (unsigned long long)after.tv_sec * 1000000 +
                              (unsigned long long)after.tv_nsec / 1000);
    notify_release(&notify);
}

static uint64_t watchdog_with(const char *usec, const char *pid)
{
    setenv("WATCHDOG_USEC", usec, 1);
    if (pid)
        setenv("WATCHDOG_PID", pid, 1);
    else
        unsetenv("WATCHDOG_PID");
    struct notify notify = opened();
    uint64_t wanted = notify.watchdog_us;
    notify_release(&notify);
    return wanted;
}

FOLDER_TEST(watchdog__is_ours_when_it_names_us)
{
    char self[32];
    setenv("NOTIFY_SOCKET", datagrams_path, 1);
    (void)snprintf(self, sizeof self, "%d", (int)getpid());
    assert_true(watchdog_with("30000000", NULL) == 30000000);
    assert_true(watchdog_with("30000000", self) == 30000000);
    assert_true(watchdog_with("30000000", "1") == 0); /* inherited, meant for another */
    assert_true(watchdog_with("30000000", "") == 0);
    assert_true(watchdog_with("-1", NULL) == 0);
    assert_true(watchdog_with("30s", NULL) == 0);
    assert_true(watchdog_with("99999999999999999999999", NULL) == 0);
}

FOLDER_TEST(hint__never_waits)
{
    setenv("NOTIFY_SOCKET", datagrams_path, 1);
    struct notify notify = opened();
    unsigned sent = 0;
    /* Nobody reads: the socket's queue is full before long. */
    while (sent < 100000 && notify_send(&notify, false, "STATUS=%u", sent))
        sent++;
    assert_true(sent < 100000);
    notify_release(&notify);
}

UNIT_RUN(NULL, NULL)
