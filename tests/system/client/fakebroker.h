/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Plays a broker on a Unix socket in a folder of its own: gives the answers of a script, in order,
 * and keeps every byte that it was sent. It speaks no HTTP of its own, so it can also break off, be
 * silent, or talk nonsense. */

#include <stdbool.h>
#include <stddef.h>

enum fakebroker_then {
    THEN_KEEP,  /* the connection stays open for the next request */
    THEN_CLOSE, /* and the next request comes over a new one */
    THEN_HANG,  /* silence until the client goes away or the broker is destroyed */
};

struct reply {
    long status;      /* 0: `body` is sent as it is, without a head */
    const char *type; /* media type; NULL: application/json */
    const char *body;
    enum fakebroker_then then;
};

struct fakebroker;

/* Runs in a thread from now on. The script must outlive it. Asserts on failure. */
struct fakebroker *fakebroker_create(const struct reply *script, size_t count);

/* "unix:/…" */
const char *fakebroker_url(const struct fakebroker *fake);

/* Its folder, for files of the test. */
const char *fakebroker_folder(const struct fakebroker *fake);

/* Waits (bounded) until so many requests have come, asserts that no more did, and compares the last
 * with what is expected, byte by byte. */
void fakebroker_expect(struct fakebroker *fake, size_t count, const char *request);

/* From now on it is a standby: it refuses each request with "not-leader", names this URL as the
 * leader's (NULL: none), and ends the connection. */
void fakebroker_stand_by(struct fakebroker *fake, const char *leader);

/* From now on it leads: its script goes on where it was. */
void fakebroker_lead(struct fakebroker *fake);

/* It is not there for new connections, or is there again. */
void fakebroker_hide(struct fakebroker *fake, bool hidden);

/* Connections accepted so far. */
size_t fakebroker_connections(struct fakebroker *fake);

void fakebroker_destroy(struct fakebroker *fake);
