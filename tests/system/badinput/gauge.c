/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/gauge.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>

/* The number behind a name in /proc/PID/status. */
static unsigned long read_status(pid_t pid, const char *name)
{
    char path[64], line[256];
    unsigned long value = 0;
    size_t length = strlen(name);
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, name, length) && line[length] == ':')
            value = strtoul(line + length + 1, NULL, 10);
    fclose(file);
    return value;
}

size_t gauge_memory(pid_t pid)
{
    size_t kib = read_status(pid, "VmRSS");
    assert_int_not_equal(kib, 0);
    return kib * 1024;
}

unsigned long gauge_sleeps(pid_t pid)
{
    return read_status(pid, "voluntary_ctxt_switches");
}

uint64_t gauge_busy_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec busy;
    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &busy), 0);
    return (uint64_t)busy.tv_sec * 1000000000 + (uint64_t)busy.tv_nsec;
}

size_t gauge_descriptors(pid_t pid)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    assert_true(count > 2); /* "." and ".." */
    return count - 2;
}

size_t gauge_allow_descriptors(void)
{
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    return (size_t)files.rlim_cur;
}

struct wanted {
    pid_t pid;
    size_t descriptors;
};

static bool descriptors_are_back(void *arg)
{
    const struct wanted *wanted = arg;
    return gauge_descriptors(wanted->pid) <= wanted->descriptors;
}

bool gauge_await_descriptors(pid_t pid, size_t most)
{
    struct wanted wanted = {pid, most};
    return await(descriptors_are_back, &wanted, AWAIT_DEADLINE_MS);
}
