/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/nodelist.h"

#include <stdbool.h>
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

/* A name as "elcap" and 0012, of four digits: the last, at most 9. */
struct nodefold_parts {
    size_t prefix;
    uint32_t number;
    unsigned width; /* 0: it does not end in a digit */
    bool padded;    /* its first digit is a 0 */
};
struct nodefold_parts nodefold_split(const char *name);

void nodefold_add(struct nodefold *fold, const char *name);
void nodefold_end(struct nodefold *fold);
