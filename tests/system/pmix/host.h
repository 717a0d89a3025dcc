/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A small host of a PMIx server, within the test: one namespace of ranks on this node, and tools.
 * Ranks and tools are programs `peer`. Asserts on failure. */

#include "pmix/mcast_pmix.h"
#include "tests/unit/unit.h"

#include <pmix.h>

#include <sys/types.h>

enum { HOST_ANSWER_SIZE = 1 << 15 };

struct peer {
    pid_t pid;
    int fd;
    char answer[HOST_ANSWER_SIZE]; /* the last one, without its end of line */
};

/* Starts the server, whose files are below folder, and whose module hands to pmix what it should.
 */
void host_start(struct mcast_pmix *pmix, const char *folder);
void host_stop(void);

/* Registers a namespace of so many ranks, with what pmix has for it beside the host's own, and
 * admits them. */
void host_register(const char *nspace, unsigned ranks);

/* The environment of a rank as the host makes it, for PMIX_ARGV_FREE. */
char **host_environment(const char *nspace, unsigned rank);

void peer_start_rank(struct peer *peer, const char *nspace, unsigned rank);
void peer_start_tool(struct peer *peer);
/* Sends a line, without its end, and waits for the answer, which it returns. */
__attribute__((format(printf, 2, 3))) const char *peer_ask(struct peer *peer, const char *format,
                                                           ...);
int peer_end(struct peer *peer); /* its exit status */
