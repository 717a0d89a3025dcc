/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_SYSTEM_NODE_STAND_H
#define MCAST_TESTS_SYSTEM_NODE_STAND_H

/* A node under test: mock-cxi's NICs, a spool, a node.conf and a pretended broker, in a folder of
 * their own. Asserts on failure. */

#include "tests/system/node/pretender.h"
#include "tests/system/rig/process.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

enum { STAND_TEXT_SIZE = 1 << 15 };

struct stand {
    char folder[64];
    struct pretender *broker;
    /* Of the last stand_run. */
    char out[STAND_TEXT_SIZE], err[STAND_TEXT_SIZE];
};

/* Four NICs, no node.conf; the environment (MCAST_URL, …) is set for every program that is started.
 * For cmocka's setup and teardown. */
int stand_create(void **state);
int stand_destroy(void **state);

/* cxi.conf's text, from now on; the mock's lines that let anyone be privileged come before it. */
void stand_set_cxi(struct stand *stand, const char *text);
void stand_set_config(struct stand *stand, const char *text);

/* Whether the mock's log has the text; needs log = yes. */
bool stand_cxi_logged(struct stand *stand, const char *text);

/* Runs mcast-node with arguments as a shell would split them at blanks; its exit status, -1 when a
 * signal ended it. */
__attribute__((format(printf, 2, 3))) int stand_run(struct stand *stand, const char *arguments,
                                                    ...);
/* The same with a text on standard input. */
int stand_run_with(struct stand *stand, const char *input, const char *arguments);
/* Starts it and goes on; for process_kill or stand_join. */
struct process *stand_start(struct stand *stand, const char *arguments);
int stand_join(struct process *process); /* awaits its end */

/* How many services there are on a NIC, or on all (NULL), beside the default one; by mcast-node
 * list, so that NICs that are absent do not count. */
unsigned int stand_services(struct stand *stand, const char *nic);

/* Whether the spool remembers anything. */
bool stand_remembers(struct stand *stand);
/* Whether a file of the spool has the text; replaces it everywhere, when to is not NULL. */
bool stand_edit_spool(struct stand *stand, const char *number, const char *from, const char *to);

/* A reservation of cluster elcap on two nodes, active, traffic classes as the broker gives them;
 * the text is one of a few static places. */
const char *stand_job(const char *job, uint64_t number, const char *vnis, unsigned int cores);
/* The same, released. */
const char *stand_released(const char *job, uint64_t number, const char *vnis);

void stand_expect_out(const struct stand *stand, const char *words);
void stand_expect_err(const struct stand *stand, const char *words);

#endif
