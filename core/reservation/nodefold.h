/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/nodelist.h"

#include <stddef.h>
#include <stdint.h>

/* Folds names of nodes, one after the other, into a node list (nodelist.h): "elcap[3-5,9],login1".
 * Consecutive numbers are folded; nothing is sorted. The text is bounded: once a name
 * does not fit, that one and all that follow are only counted. */

enum { NODEFOLD_TEXT_SIZE = 512 };

/* All zero is an empty list. */
struct nodefold {
    char text[NODEFOLD_TEXT_SIZE]; /* whole once nodefold_end was called */
    size_t used;
    uint32_t count;    /* names in the text */
    uint32_t left_out; /* names that did not fit */
    /* The numbers behind one prefix, while more may follow: */
    size_t prefix, body;  /* length of the prefix; where the numbers begin in the text */
    uint32_t first, last; /* of the last run, at most 9 digits; last is not yet in the text */
    unsigned width;       /* digits of its first number as written; 0: there is none */
};

void nodefold_add(struct nodefold *fold, const char *name);
void nodefold_end(struct nodefold *fold);
