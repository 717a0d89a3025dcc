/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* A script that becomes a program under other circumstances: below valgrind, with a library loaded
 * before its own. Whoever starts it takes it for the program. It also says which process it is. */

enum { WRAPPER_PATH_SIZE = 128, WRAPPER_TEXT_SIZE = 1024 };

/* Writes folder/name.sh and its path to out. before: words in front of the program's, or "". 0, or
 * -1 with a word on stderr. */
int wrapper_write(char out[WRAPPER_PATH_SIZE], const char *folder, const char *name,
                  const char *before, const char *program);

/* CPU time that the last process of this wrapper has used, ns; -1 with a word on stderr. */
long long wrapper_cpu_ns(const char *folder, const char *name);
