/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A list of job ids in their plain form (base/jobid.h). */

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

struct idlist {
    char **ids;
    size_t count;
    size_t room;
};

/* at: which one it is, for the sentence. 0; ERROR_INVALID: it is too long. */
int idlist_add(struct idlist *list, const char *id, size_t at, struct error *err);

/* One id a line; white space around it and empty lines are skipped. 0; ERROR_INVALID: one is too
 * long, or there is a NUL byte; ERROR_IO: the list is not whole. */
int idlist_read(struct idlist *list, FILE *in, struct error *err);

void idlist_release(struct idlist *list);
