/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/soak/reading.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <jansson.h>

/* All readings of a campaign: printed, written as JSON, and judged. */

struct curve {
    struct reading *readings;
    size_t count, room;
};

int curve_add(struct curve *curve, const struct reading *reading); /* -1: out of memory */
void curve_release(struct curve *curve);

/* A line for every few readings (their medians, so that it has about so many lines), with a bar for
 * the memory. */
void curve_print(const struct curve *curve, size_t lines, FILE *out);
json_t *curve_json(const struct curve *curve); /* NULL: out of memory */

/* Judges each figure of the broker's first life after its warm-up, and the ends of its lives one
 * after the other. Prints what it finds, and appends it to verdicts (an array, or NULL). False when
 * anything grows, or when there is too little to judge the first life by. */
bool curve_judge(const struct curve *curve, double warm_up_s, FILE *out, json_t *verdicts);
