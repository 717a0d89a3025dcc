/* SPDX-License-Identifier: Apache-2.0 */
/* The last requests seen, and how many there were: what tests ask "did it, how often, over how many
 * connections?". Methods, paths, statuses and what kind of login: never a header or a body. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define REQUESTLOG_ENTRIES 20000 /* older ones are forgotten, but stay counted */
#define REQUESTLOG_PENDING 0     /* statuses that are none of HTTP's */
#define REQUESTLOG_DROPPED (-1)

struct requestlog;

struct requestlog *requestlog_create(void);
void requestlog_destroy(struct requestlog *log);

/* Numbers a connection when its first request comes. */
uint64_t requestlog_connection(struct requestlog *log);

/* Notes a request that came in, and whether it shows a session token; the number returned is for
 * requestlog_finish. */
uint64_t requestlog_begin(struct requestlog *log, uint64_t connection, const char *method,
                          const char *path, bool session, int64_t now_us);

/* Notes what became of it: a status or REQUESTLOG_DROPPED. */
void requestlog_finish(struct requestlog *log, uint64_t number, int status);

/* {"requests":total,"connections":total,"entries":[…]} with the entries after number `since`. */
json_t *requestlog_document(const struct requestlog *log, uint64_t since);
