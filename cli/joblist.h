/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A list of job ids in their plain form (base/jobid.h). */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct joblist {
    char **ids;
    size_t count;
    size_t room;
};

enum joblist_fault {
    JOBLIST_LONG = -1,   /* an id that is too long */
    JOBLIST_BINARY = -2, /* a NUL byte: this is no text */
    JOBLIST_READ = -3,   /* reading failed, see errno: the list is not whole */
};

/* 0 or an enum joblist_fault. */
int joblist_add(struct joblist *list, const char *id);

/* One id a line; white space around it and empty lines are skipped. *line is the number of the line
 * at which it ended. */
int joblist_read(struct joblist *list, FILE *in, size_t *line);

void joblist_release(struct joblist *list);
