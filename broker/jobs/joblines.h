/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The job ids that a command prints, one a line (list_command), taken in piece by
 * piece as they come out of the pipe. Pure.
 *
 * Blanks around an id, empty lines and the CR of CRLF are not looked at. Flux's "ƒLxs…" becomes
 * "fLxs…", the form that jobs are reserved under. Anything else that is no job id by
 * base/names.h makes the whole list worthless, and so do the forms that only Flux has, which no
 * reservation has: compared as they are, all jobs would be missing. */

enum {
    JOBLINES_IDS_MAX = 2000000,
    JOBLINES_BYTES_MAX = 64 * 1024 * 1024,
};

/* In place; all zero is an empty one. */
struct joblines {
    char *text; /* ids, each with its NUL, then the line that is being read */
    size_t length, room;
    size_t line_at; /* where that line begins */
    size_t bytes;   /* taken in so far */
    uint32_t count, line;
    const char **ids; /* since joblines_end */
};

/* Takes in some bytes, cut anywhere. 0; ERROR_INVALID or ERROR_FULL with what is wrong
 * in which line: then it is over, and only joblines_release may follow. The text is ASCII without
 * control characters, whatever was printed. */
int joblines_add(struct joblines *lines, const char *bytes, size_t size, struct error *err);

/* The list is over; a last line need not end with a newline. 0, or as above. Then lines->ids are
 * lines->count job ids, valid until joblines_release. */
int joblines_end(struct joblines *lines, struct error *err);

void joblines_release(struct joblines *lines);
