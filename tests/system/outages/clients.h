/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/replay/notes.h"
#include "tests/system/rig/testbed.h"

#include <stdint.h>

/* Clients of a broker that has bad days: they ask for jobs of 128 nodes, repeat what was not
 * acknowledged, and write down what was. Jobs are numbered from 0. Failures end the test. */

struct clients {
    struct testbed *testbed;
    struct notes *notes;
    char answer[4096]; /* the last one's body, cut */
};

/* A broker with a fabric manager, both started, link up. */
void clients_open(struct clients *clients, uint32_t jobs);
/* Every fault of the notes fails the test. */
void clients_close(struct clients *clients);

/* Each returns the status. A reserve or release that was not acknowledged may be repeated. */
int clients_reserve(struct clients *clients, uint32_t job);
int clients_release(struct clients *clients, uint32_t job);
int clients_get(struct clients *clients, const char *path);
int clients_post(struct clients *clients, const char *path); /* without a body */

/* Asks for each job that was acknowledged, and compares; while the disk fails, too. */
void clients_compare(struct clients *clients);

/* No token that a client was told stands in any file of the broker's: ledger, log of it, key, lock,
 * or what it logged (B8). */
void clients_assert_secrets_kept(struct clients *clients);

/* Starts the broker again, after a stop or a kill, and compares. */
void clients_restart_broker(struct clients *clients);

/* Everything is released in the end; nothing is left at the fabric manager. */
void clients_conclude(struct clients *clients);

/* A file in the stage's folder. Returns out. */
char *clients_file(const struct clients *clients, const char *name, char out[160]);
