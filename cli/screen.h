/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "client/mcast.h"

#include <stdbool.h>
#include <stddef.h>

/* What a command shows again and again until the user ends it: on a terminal in place, without
 * flicker, as wide and high as that is; elsewhere one after the other. There is one in a process.
 */

/* Takes SIGINT, SIGTERM, SIGQUIT and SIGHUP, which end it and what is asked by this handle. whole:
 * takes the whole screen of a terminal. keys: reads them there one by one. */
void screen_open(struct mcast *handle, bool whole, bool keys);
/* The terminal is as it was. */
void screen_close(void);

/* Whether it is a terminal; whether it was ended. */
bool screen_is_terminal(void);
bool screen_ended(void);

/* What is printed to stdout from one to the other is what is shown next; on a terminal above a
 * last line, which says also how much did not fit. An exit code. */
void screen_begin(void);
int screen_show(const char *last);
/* Where keys are read; -1: there are none. */
int screen_keys(void);

enum screen_event {
    SCREEN_TIME,    /* it is over */
    SCREEN_RESIZED, /* the terminal, or the program runs again: show it anew */
    SCREEN_INPUT,   /* the descriptor can be read */
    SCREEN_END,
};

/* Waits at most so long; descriptor: what else is waited for; -1: nothing. */
enum screen_event screen_wait(int descriptor, int64_t ms);
