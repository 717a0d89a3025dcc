/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The broker's events as its subscribers hear them (F24): the same for everyone and after every
 * crash, and together one story for each reservation (I4). */

/* What is said of one reservation, by its number. */
struct story {
    bool begun;    /* "reserved", or why not: "denied", "timeout", "unavailable" */
    bool reserved; /* it was "reserved" */
    bool released, lost, adopted;
    /* What clients know of it. */
    bool told;          /* a reserve was answered with it */
    bool told_released; /* a release of it was answered */
    bool live;          /* set and cleared by the audit */
};

struct history {
    struct verdict *verdict;
    uint64_t *prints; /* of the event's text, by seq - 1 */
    size_t count, room;
    struct story *stories; /* by number */
    size_t story_room;
    uint64_t highest; /* number */
    uint64_t heard, lost, link_downs, adopted;
    uint64_t late;      /* of the adopted, by the broker: came of a reserve that it had given up */
    unsigned leftovers; /* rounds in which anything may be found at the fabric manager: an old state
                           was put back, or others' reservations under names of ours */
};

void history_init(struct history *history, struct verdict *verdict);
void history_release(struct history *history);

/* Somebody heard the event seq, whose data is the text. Everybody hears from seq 1 on without a
 * gap, so it is known, or the next one. */
void history_hear(struct history *history, uint64_t seq, const char *text, size_t length);

/* The story of a number, for reading and for what clients know. */
struct story *history_story(struct history *history, uint64_t number);
