/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Node lists as resource managers write them: "elcap[1-128]", "a[01-10,20]b,c3", "x[1-2]y[3-4]". */

enum { NODELIST_COUNT_MAX = 1000000 };

/* How many nodes the text names, without expanding it: time and memory follow the text's length.
 * ERROR_INVALID says what is wrong and at which byte; more than NODELIST_COUNT_MAX is invalid too.
 * Names twice in the list count twice. */
int nodelist_count(const char *text, uint32_t *count, struct error *err);

/* A node's name is at most this long; no list contains a longer one. */
enum { NODELIST_NAME_MAX = 255 };

/* Whether the text, which nodelist_count takes, names the node. Not expanded either. Numbers are
 * written as Slurm and Flux write them: with zeros in front up to the length of their range's first
 * one, so that "n[01-10]" names n01 and n10 but neither n1 nor n010. */
bool nodelist_contains(const char *text, const char *node);

/* Names that differ in their last number only: "a[08-11]" is a08, a09, a10, a11. */
struct nodelist_run {
    const char *prefix;   /* what stands before the number; it may end in a digit */
    uint32_t first, last; /* at most 9 digits */
    unsigned width; /* digits that the first is written with; 0: the prefix is the whole name */
};

/* The names in the text, which nodelist_count takes, as often as they are named and in the text's
 * order, without those that are longer than any node's: a bracket that ends a name as runs, each
 * name of all others as a run of its own. Time follows the number of runs. */
void nodelist_runs(const char *text, void (*each)(void *arg, const struct nodelist_run *run),
                   void *arg);

/* The same, expanded: each name. */
void nodelist_each(const char *text, void (*each)(void *arg, const char *name), void *arg);
