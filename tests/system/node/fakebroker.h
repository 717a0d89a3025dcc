/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Plays the broker for mcast-node on a Unix socket: shows reservations, takes node reports and
 * keeps them, and can be told to refuse, or to be away. Runs in a thread of its own. */

#include <stdbool.h>

struct fakebroker;

/* Listens at the path, of cluster elcap. Asserts on failure. */
struct fakebroker *fakebroker_create(const char *socket);
void fakebroker_destroy(struct fakebroker *fakebroker);

/* The reservation of a job, a JSON text that must live on; NULL: there is none. */
void fakebroker_set_job(struct fakebroker *fakebroker, const char *job, const char *reservation);

/* What reports get from now on: 0 is the broker's own 200, or 404 without a reservation; else a
 * problem with this status and code. */
void fakebroker_answer(struct fakebroker *fakebroker, int status, const char *code);
/* 503 to the next ones of all requests, so many. */
void fakebroker_be_busy(struct fakebroker *fakebroker, unsigned int times);

/* Whether whoever asks is an admin, who sees every job. At first so; else it is node n1 of elcap,
 * and sees by name those jobs that name n1 as "n[1-2]", by list those that name no nodes, too. */
void fakebroker_set_admin(struct fakebroker *fakebroker, bool admin);

/* How many jobs a list for a node says that it does not show; negative: lists for nodes are
 * refused. */
void fakebroker_set_hidden(struct fakebroker *fakebroker, int hidden);

/* Nobody listens any more, until it comes back. */
void fakebroker_go(struct fakebroker *fakebroker);
void fakebroker_come(struct fakebroker *fakebroker);

/* The order of the last boot that was told, 0: none; code: what it is refused with, by 404, or
 * NULL.
 */
unsigned long long fakebroker_boot(struct fakebroker *fakebroker, const char *code);

/* Reports that were taken, in order, one a line: "f17/n1 created 4711 cxi0:2 cxi1:2\n",
 * or "n1 has booted\n". Valid until
 * the next call of the test. */
const char *fakebroker_reports(struct fakebroker *fakebroker);

/* How many reports that were taken did not tell the VNIs of their services. */
unsigned int fakebroker_untold(struct fakebroker *fakebroker);

/* All requests so far, refused ones too. */
unsigned int fakebroker_requests(struct fakebroker *fakebroker);
