/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/fleet.h"
#include "tests/system/kills/history.h"

#include <stdint.h>

/* Someone who follows the broker's events, and when the connection is lost comes back with the last
 * one it has had (F24). All it hears goes into the history; a gap is a fault. */

struct subscriber;

/* It goes where the fleet is at; borrowed. NULL: out of memory. */
struct subscriber *subscriber_create(struct history *history, const struct fleet *fleet);
void subscriber_destroy(struct subscriber *subscriber); /* NULL is allowed */

/* Takes what has come, connects when it is not connected, and waits for nothing. */
void subscriber_turn(struct subscriber *subscriber);
/* Leaves; the next turn comes back. */
void subscriber_leave(struct subscriber *subscriber);
/* Forgets the last so many events that it has heard: the next turn has them replayed. */
void subscriber_replay(struct subscriber *subscriber, uint64_t events);

uint64_t subscriber_last(const struct subscriber *subscriber); /* event heard */
