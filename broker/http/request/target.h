/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a request line points at: the segments of its path and its query, percent-decoded. Decoded
 * after splitting, so that an encoded slash stays part of its segment (job id paths). */

enum { TARGET_SEGMENTS_MAX = 8, TARGET_QUERY_MAX = 8 };

struct target {
    size_t segment_count;
    size_t query_count;
    const char *segments[TARGET_SEGMENTS_MAX]; /* none for "/" */
    struct {
        const char *name, *value; /* value "" without '=' */
    } query[TARGET_QUERY_MAX];
};

/* Splits and decodes in place; target points into text afterwards. Origin form ("/a/b?c=d") or
 * absolute form ("http://host/a/b"). '+' stands for itself. 0, or -1 with a 400 in problem (bad or
 * NUL escape, a parameter given twice or too many) or a 404 (too many segments). */
int target_split(char *text, struct target *target, struct problem *problem);

/* The parameter of this name, or NULL. */
const char *target_query(const struct target *target, const char *name);

/* The parameter wait of calls that can wait for the fabric manager: "?wait=2s"; initial_ms when it
 * is not given. 0, or -1 with a 422. */
enum { TARGET_WAIT_MAX_MS = 60 * 1000 };
int target_wait(const struct target *target, int64_t initial_ms, int64_t *wait_ms,
                struct problem *problem);

/* The parameter of this name, a whole number; *value stays when it is not given. 0, or -1 with a
 * 422. */
int target_query_number(const struct target *target, const char *name, uint64_t min, uint64_t max,
                        uint64_t *value, struct problem *problem);

/* Plain decimal digits up to max; false for anything else. */
bool target_number(const char *text, uint64_t max, uint64_t *value);
