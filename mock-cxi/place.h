/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The directory in which the pretended machine lives: MOCK_CXI, else /var/lib/mock-cxi.
 *
 * cxi.conf is the user's. state, lock and log are made here as needed, with the permission bits of
 * the directory. */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct place {
    int directory; /* -1: there is none, and so no NIC */
    int lock;      /* -1: not held */
};

/* No directory is no error: `directory` is -1 then. For programs that run with more rights than
 * their caller, MOCK_CXI is ignored. 0 or ERROR_IO. */
int place_open(struct place *place, struct error *err);

/* Also releases the lock. */
void place_close(struct place *place);

/* Waits until no other process or thread has it. A process that dies releases it. */
int place_lock(struct place *place, struct error *err);
void place_unlock(struct place *place); /* if it is held */

/* A whole file with a NUL after it, for free(); ERROR_NOT_FOUND: there is none. */
int place_read(const struct place *place, const char *name, char **content, size_t *length,
               struct error *err);

/* Replaces a file in one step: a reader sees the old or the new one. Needs the lock. */
int place_replace(const struct place *place, const char *name, const void *content, size_t length,
                  struct error *err);

/* Adds a line, in one piece, to a file; errors are ignored. */
void place_append(const struct place *place, const char *name, const char *line, size_t length);
