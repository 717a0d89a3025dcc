/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_SYSTEM_NODE_PRETENDER_H
#define MCAST_TESTS_SYSTEM_NODE_PRETENDER_H

/* Plays the broker for mcast-node on a Unix socket: shows reservations, takes node reports and
 * keeps them, and can be told to refuse, or to be away. Runs in a thread of its own. */

#include <stdbool.h>

struct pretender;

/* Listens at the path, of cluster elcap. Asserts on failure. */
struct pretender *pretender_create(const char *socket);
void pretender_destroy(struct pretender *pretender);

/* The reservation of a job, a JSON text that must live on; NULL: there is none. */
void pretender_set_job(struct pretender *pretender, const char *job, const char *reservation);

/* What reports get from now on: 0 is the broker's own 200, or 404 without a reservation; else a
 * problem with this status and code. */
void pretender_answer(struct pretender *pretender, int status, const char *code);
/* 503 to the next ones of all requests, so many. */
void pretender_be_busy(struct pretender *pretender, unsigned int times);

/* Whether whoever asks is an admin, who sees every job. At first so; else it is node n1 of elcap,
 * and sees by name those jobs that name n1 as "n[1-2]", by list those that name no nodes, too. */
void pretender_set_admin(struct pretender *pretender, bool admin);

/* How many jobs a list for a node says that it does not show; negative: lists for nodes are
 * refused. */
void pretender_set_hidden(struct pretender *pretender, int hidden);

/* Nobody listens any more, until it comes back. */
void pretender_go(struct pretender *pretender);
void pretender_come(struct pretender *pretender);

/* The order of the last boot that was told, 0: none; code: what it is refused with, by 404, or
 * NULL.
 */
unsigned long long pretender_boot(struct pretender *pretender, const char *code);

/* Reports that were taken, in order, one a line: "f17/n1 created 4711 cxi0:2 cxi1:2\n",
 * or "n1 has booted\n". Valid until
 * the next call of the test. */
const char *pretender_reports(struct pretender *pretender);

/* How many reports that were taken did not tell the VNIs of their services. */
unsigned int pretender_untold(struct pretender *pretender);

/* All requests so far, refused ones too. */
unsigned int pretender_requests(struct pretender *pretender);

#endif
