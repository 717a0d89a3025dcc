/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLI_ENVFORMAT_H
#define MCAST_CLI_ENVFORMAT_H

/* Writes environment variables in the form that the reader wants. */

#include "client/mcast.h"

#include <stdio.h>

enum envformat {
    ENVFORMAT_NONE = 0,
    ENVFORMAT_PLAIN, /* NAME=value, a line each */
    ENVFORMAT_SH,    /* export NAME='value' or unset NAME, safe to eval whatever the value */
    ENVFORMAT_JSON,  /* {"NAME":"value",…}, null for what is to be unset */
    ENVFORMAT_NULL,  /* NAME=value, each ended by a NUL byte, as in /proc/PID/environ */
};

/* ENVFORMAT_NONE: there is no such word. */
enum envformat envformat_from_word(const char *word);

/* One variable; without a value it is to be unset, which PLAIN and NULL cannot say. first says
 * whether it is the first one. False: the form cannot carry it (a line break in ENVFORMAT_PLAIN),
 * nothing was written. */
bool envformat_write(FILE *out, enum envformat format, const struct mcast_variable *variable,
                     bool first);

/* After the last; none says that there was not a single one. */
void envformat_finish(FILE *out, enum envformat format, bool none);

#endif
