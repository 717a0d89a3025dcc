/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-cleanup in the background, and what it leaves lying about: nothing (F19). */

#include "tests/system/hook/fixture.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Only when this is lifted can the work be done. */
#define REFUSE_ALL "{\"session\":true,\"status\":503}"

/* A deadline of minutes that no other run's hook has, which may be left over when a test failed. */
static const char *own_deadline(int which)
{
    static char text[16];
    snprintf(text, sizeof text, "%dms", 300000 + 100000 * which + (int)(getpid() % 100000));
    return text;
}

static void read_file(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void points_to(pid_t pid, const char *name, const char *wanted)
{
    char path[64], target[256];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    assert_true(length > 0);
    target[length] = '\0';
    assert_string_equal(target, wanted);
}

/* The caller's pipes are closed, or fixture_run would not come back. */
static void hook__comes_back_while_the_fabric_manager_does_not(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    char text[8192], line[128];
    fixture_tell_fm(fixture, "POST", "/mock/faults", REFUSE_ALL);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--deadline", own_deadline(0)), 0);
    assert_string_equal(fixture_said(fixture), "");
    fixture_trees_are(fixture, FIXTURE_ALL);

    pid_t pid = fixture_background(own_deadline(0));
    assert_true(pid > 0);
    assert_int_not_equal(getsid(pid), getsid(0));
    assert_int_not_equal(getsid(pid), pid); /* it leads no session: never a terminal of its own */
    points_to(pid, "cwd", "/");
    points_to(pid, "fd/0", "/dev/null");
    points_to(pid, "fd/1", "/dev/null");
    points_to(pid, "fd/2", "/dev/null");
    snprintf(line, sizeof line, "/proc/%d/fd/17", (int)pid);
    assert_int_equal(access(line, F_OK), -1);
    read_file(pid, "limits", text, sizeof text);
    assert_non_null(strstr(text, "Max core file size        0                    0 "));
    static const char *const names[] = {"cmdline", "comm", "status"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *token = fixture_get(fixture, "FI_CXI_COLL_MCAST_TOKEN");
        read_file(pid, names[i], text, sizeof text);
        assert_null(memmem(text, sizeof text, token, strlen(token)));
    }

    fixture_tell_fm(fixture, "DELETE", "/mock/faults", NULL);
    fixture_await_trees(fixture, FIXTURE_WITHOUT_STEP);
    fixture_close(fixture);
}

/* Also when nobody has asked for its exit status yet: then it has no words any more. */
static bool is_gone(void *arg)
{
    return fixture_background(arg) == 0;
}

/* It ends with its work, and with its time. */
static void hook__ends_in_the_background(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    fixture_tell_fm(fixture, "POST", "/mock/faults", REFUSE_ALL);
    assert_int_equal(FIXTURE_RUN(fixture, "--deadline", own_deadline(1)), 0);
    assert_true(fixture_background(own_deadline(1)) > 0);
    fixture_tell_fm(fixture, "DELETE", "/mock/faults", NULL);
    assert_true(await(is_gone, (void *)(uintptr_t)own_deadline(1), AWAIT_DEADLINE_MS));
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);

    fixture_tell_fm(fixture, "POST", "/mock/faults", REFUSE_ALL);
    assert_int_equal(FIXTURE_RUN(fixture, "--step", "/fC", "--deadline", "1009ms"), 0);
    assert_true(await(is_gone, (void *)(uintptr_t) "1009ms", AWAIT_DEADLINE_MS));
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    fixture_close(fixture);
}

static void slow__fabric_manager_is_waited_for(void **state)
{
    struct fixture *fixture = fixture_open("get", true);
    fixture_tell_fm(fixture, "POST", "/mock/faults", "{\"session\":true,\"act_after_ms\":300}");
    assert_int_equal(FIXTURE_RUN(fixture, "--below", "--strict", "--deadline", "10m"), 0);
    assert_string_equal(fixture_said(fixture), "");
    fixture_await_trees(fixture, FIXTURE_WITHOUT_BELOW);
    fixture_close(fixture);
}

/* Whatever takes its answers one byte a minute: the deadline holds. */
static void deadline__holds(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    fixture_tell_fm(fixture, "POST", "/mock/faults", "{\"session\":true,\"byte_every_ms\":60000}");
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--deadline", "3s"), 0);
    assert_non_null(strstr(fixture_said(fixture), "no whole answer in time"));
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--deadline", "3s"), 1);
    fixture_close(fixture);
}

/* The wait status of a hook that waits for the fabric manager, and gets this signal. */
static int status_after(int signum, const char *option)
{
    struct fixture *fixture = fixture_open("own-job", false);
    const char *const words[] = {"--wait", "--deadline", "5m", option, NULL};
    int status = 0;
    fixture_tell_fm(fixture, "POST", "/mock/faults", REFUSE_ALL);
    const long before = fixture_requests(fixture);
    pid_t child = fixture_start(fixture, words);
    while (fixture_requests(fixture) == before && waitpid(child, &status, WNOHANG) == 0) {
    }
    assert_int_equal(kill(child, signum), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    fixture_close(fixture);
    return status;
}

/* Not even a debugger of the user's own may look, and a crash leaves nothing. */
static void memory__is_in_no_core(void **state)
{
    const int status = status_after(SIGQUIT, NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
    assert_false(WCOREDUMP(status));
}

/* F19: without memory it aborts (base/memory.h), and fails no job either. */
static void memory__that_is_exhausted_fails_no_job(void **state)
{
    int status = status_after(SIGABRT, NULL);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    status = status_after(SIGABRT, "--strict");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

UNIT_MAIN(cmocka_unit_test(hook__comes_back_while_the_fabric_manager_does_not),
          cmocka_unit_test(hook__ends_in_the_background),
          cmocka_unit_test(slow__fabric_manager_is_waited_for), cmocka_unit_test(deadline__holds),
          cmocka_unit_test(memory__is_in_no_core),
          cmocka_unit_test(memory__that_is_exhausted_fails_no_job))
