/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A node under test: mock-cxi's NICs, a spool, a node.conf and a pretended broker, in a folder of
 * their own. Asserts on failure. */

#include "tests/system/node/fakebroker.h"
#include "tests/system/rig/process.h"
#include "tests/unit/unit.h"

#include <stdbool.h>

enum { FIXTURE_TEXT_SIZE = 1 << 15 };

struct fixture {
    char folder[64];
    struct fakebroker *broker;
    bool prints_secrets; /* the next runs may, on standard output */
    /* Of the last fixture_run. */
    char out[FIXTURE_TEXT_SIZE], err[FIXTURE_TEXT_SIZE];
};

/* Four NICs, no node.conf; the environment (MCAST_URL, …) is set for every program that is started.
 * For cmocka's setup and teardown. */
int fixture_create(void **state);
int fixture_destroy(void **state);

/* cxi.conf's text, from now on; the mock's lines that let anyone be privileged come before it. */
void fixture_set_cxi(struct fixture *fixture, const char *text);
void fixture_set_config(struct fixture *fixture, const char *text);

/* Whether the mock's log has the text; needs log = yes. */
bool fixture_cxi_logged(struct fixture *fixture, const char *text);

/* Runs mcast-node with arguments as a shell would split them at blanks; its exit status, -1 when a
 * signal ended it. */
__attribute__((format(printf, 2, 3))) int fixture_run(struct fixture *fixture,
                                                      const char *arguments, ...);
/* The same with a text on standard input. */
int fixture_run_with(struct fixture *fixture, const char *input, const char *arguments);
/* Starts it and goes on; for process_kill or fixture_join. */
struct process *fixture_start(struct fixture *fixture, const char *arguments);
int fixture_join(struct process *process); /* awaits its end */

/* How many services there are on a NIC, or on all (NULL), beside the default one; by mcast-node
 * list, so that NICs that are absent do not count. */
unsigned int fixture_services(struct fixture *fixture, const char *nic);

/* Whether the spool remembers anything. */
bool fixture_remembers(struct fixture *fixture);
/* Whether a file of the spool has the text; replaces it everywhere, when to is not NULL. */
bool fixture_edit_spool(struct fixture *fixture, const char *number, const char *from,
                        const char *to);

/* A reservation of cluster elcap on two nodes, active, traffic classes as the broker gives them;
 * the text is one of a few static places. */
const char *fixture_job(const char *job, uint64_t number, const char *vnis, unsigned int cores);
/* The broker has such a job, and its prolog makes its services. */
void fixture_make_services(struct fixture *fixture, const char *job, uint64_t number,
                           const char *vnis, unsigned int cores);
/* A reservation as of fixture_job, released. */
const char *fixture_released(const char *job, uint64_t number, const char *vnis);

void fixture_expect_out(const struct fixture *fixture, const char *words);
void fixture_expect_err(const struct fixture *fixture, const char *words);

/* Of a test that has `fixture`: the exit status of a run; the services on all NICs; both. */
#define EXPECT_RUN(status, ...) assert_int_equal(fixture_run(fixture, __VA_ARGS__), status)
#define EXPECT_SERVICES(count) assert_int_equal(fixture_services(fixture, NULL), count)
#define EXPECT_RUN_LEAVES(status, count, ...)                                                      \
    do {                                                                                           \
        EXPECT_RUN(status, __VA_ARGS__);                                                           \
        EXPECT_SERVICES(count);                                                                    \
    } while (0)
