/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A pretended machine in a folder of its own, and libcxi's functions as any program loads them: out
 * of the library that was built, by name and version node. */

#include "cxi/abi.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_MS = 180000 };

#define MACHINE_POINTER(name, returns, parameters, version) returns(*name) parameters;
struct machine {
    char folder[64];
    CXI_CALLS_NEEDED(MACHINE_POINTER)
    CXI_CALLS_OTHER(MACHINE_POINTER)
};
#undef MACHINE_POINTER

#define MACHINE_FOUR_NICS "[mock]\nnics = 4\nprivileged = any\nlog = yes\n"

static inline const char *machine_path(const struct machine *machine, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", machine->folder, name);
    return path;
}

/* Replaces cxi.conf in one step, as one should while programs run. */
static inline void machine_configure(const struct machine *machine, const char *text)
{
    char fresh[128];
    snprintf(fresh, sizeof fresh, "%s", machine_path(machine, "cxi.conf.new"));
    FILE *file = fopen(fresh, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(fresh, machine_path(machine, "cxi.conf")), 0);
}

static inline void machine_load(struct machine *machine)
{
    void *library = dlopen(MOCKCXI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
#define LOAD(name, returns, parameters, version)                                                   \
    *(void **)(void *)&machine->name = dlvsym(library, "cxil_" #name, version);                    \
    assert_non_null(machine->name);
    CXI_CALLS_NEEDED(LOAD)
    CXI_CALLS_OTHER(LOAD)
#undef LOAD
}

/* cmocka's setup and teardown: four NICs, and anyone may do anything. Everybody may write in the
 * folder, so that a test can become somebody else. */
static inline int machine_start(void **state)
{
    struct machine *machine = calloc(1, sizeof *machine);
    assert_non_null(machine);
    snprintf(machine->folder, sizeof machine->folder, "/tmp/mockcxi-XXXXXX");
    assert_non_null(mkdtemp(machine->folder));
    assert_int_equal(chmod(machine->folder, 0777), 0);
    machine_configure(machine, MACHINE_FOUR_NICS);
    assert_int_equal(setenv("MOCK_CXI", machine->folder, 1), 0);
    machine_load(machine);
    *state = machine;
    return 0;
}

static inline int machine_stop(void **state)
{
    struct machine *machine = *state;
    static const char *const names[] = {"cxi.conf", "state", "state.new", "lock", "log"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(machine_path(machine, names[i]));
    rmdir(machine->folder);
    free(machine);
    return 0;
}

static inline struct cxil_dev *machine_open(const struct machine *machine, unsigned int nic)
{
    struct cxil_dev *dev = NULL;
    assert_int_equal(machine->open_device(nic, &dev), 0);
    assert_non_null(dev);
    return dev;
}

/* What mcast-node asks for: one user, one VNI, best effort and low latency. */
static inline struct cxi_svc_desc machine_service(uint16_t vni)
{
    struct cxi_svc_desc desc = {
        .restricted_members = 1,
        .restricted_vnis = 1,
        .restricted_tcs = 1,
        .resource_limits = 1,
        .num_vld_vnis = 1,
        .vnis = {vni},
        .tcs = {[CXI_TC_LOW_LATENCY] = true, [CXI_TC_BEST_EFFORT] = true},
        .members = {{.svc_member.uid = geteuid(), .type = CXI_SVC_MEMBER_UID}},
    };
    return desc;
}

static inline unsigned int machine_count(const struct machine *machine, struct cxil_dev *dev)
{
    struct cxil_svc_list *list = NULL;
    assert_int_equal(machine->get_svc_list(dev, &list), 0);
    unsigned int count = list->count;
    machine->free_svc_list(list);
    return count;
}

/* How many lines of the log have this in them. */
static inline unsigned int machine_logged(const struct machine *machine, const char *what)
{
    char line[1100];
    unsigned int count = 0;
    FILE *file = fopen(machine_path(machine, "log"), "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        count += strstr(line, what) != NULL;
    fclose(file);
    return count;
}

static inline int64_t machine_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until a condition holds; a millisecond between looks. */
#define MACHINE_AWAIT(condition)                                                                   \
    for (int64_t until_ = machine_clock_ms() + DEADLINE_MS; !(condition);) {                       \
        if (machine_clock_ms() > until_)                                                           \
            fail_msg("waited too long for %s", #condition);                                        \
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);                                   \
    }
