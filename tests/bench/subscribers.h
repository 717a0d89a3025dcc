/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Many streams of events at once, each on a connection of its own (F24). */

struct subscribers;

/* Opens that many, for what comes after the event `after`, each until it has its 200; NULL with a
 * word on stderr. */
struct subscribers *subscribers_open(const char *socket, size_t count, uint64_t after);
void subscribers_close(struct subscribers *subscribers); /* NULL is allowed */

/* Reads until each had that many events, or nothing came for so long. The number of events that are
 * missing, of all subscribers together. */
size_t subscribers_read(struct subscribers *subscribers, size_t events, int timeout_ms);

/* One more, which is to be turned away: true when it is told 503 with a Retry-After. */
bool subscribers_turned_away(const char *socket);
