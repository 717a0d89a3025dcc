/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One request after the other, each timed, its answer not decoded: what the broker takes, not what
 * the reader does with a megabyte. */

struct stopwatch;

struct stopwatch *stopwatch_create(const char *socket); /* NULL: out of memory */
void stopwatch_destroy(struct stopwatch *watch);        /* NULL is allowed */

/* How long the answer took, ms; -1 with a word on stderr when it is not 200. Its text is the
 * callee's, good until the next call. */
double stopwatch_ask(struct stopwatch *watch, const char *method, const char *path,
                     const char *body, const char **text);
