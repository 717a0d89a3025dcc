/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/metrics/histogram.h"
#include "broker/http/request/writer.h"

#include <stdint.h>

/* Writes metrics in the text format of Prometheus, 0.0.4: families, each with its help and type,
 * and below each its samples.
 *
 * Names and help are literals of ours and written as they are. Labels are pairs of a name and a
 * text, ended by NULL, or NULL for none; texts are escaped, and what is not printable ASCII becomes
 * "?".
 * A family without a sample is allowed: nothing is known of it now. */

extern const char EXPOSITION_TYPE[]; /* the content type */

enum exposition_kind { COUNTER, GAUGE, HISTOGRAM };

struct exposition {
    struct writer *out;
    const char *name; /* of the family that is being written */
};

void exposition_family(struct exposition *to, const char *name, enum exposition_kind kind,
                       const char *help);

/* exposition_count(to, 3, LABELS("state", "free")) */
#define LABELS(...)                                                                                \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

void exposition_count(struct exposition *to, uint64_t value, const char *const *labels);
void exposition_real(struct exposition *to, double value, const char *const *labels);
/* A time in Unix milliseconds as seconds; 0 is a time that is not known: no sample. */
void exposition_time(struct exposition *to, int64_t unix_ms, const char *const *labels);
/* A histogram of times is written in seconds, one of sizes as it is. */
void exposition_histogram(struct exposition *to, const struct histogram *histogram,
                          const char *const *labels);
