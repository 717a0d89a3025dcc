/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* A folder of a test's own, below $TMPDIR or /var/tmp (a disk, where /tmp may be memory), and gone
 * with it. Failures say why on stderr. */

enum { FOLDER_PATH_SIZE = 64 }; /* a Unix socket in it must fit into 108 bytes */

/* Makes a new one and writes its path. 0, or -1. */
int folder_create(char path[FOLDER_PATH_SIZE]);
/* Deletes it and all in it, after a search for secrets that do not belong there (secretscan.h),
 * which ends the test and keeps the folder when it finds one; kept, with a word on stderr, when
 * MCAST_KEEP is set. */
void folder_destroy(const char *path);

/* Writes folder/name into out (cut never: asserts that it fits). Returns out. */
char *folder_path(char *out, size_t size, const char *folder, const char *name);
/* Writes a text file in the folder. 0, or -1. */
int folder_write(const char *folder, const char *name, mode_t mode, const char *text);
