/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How many lines of one kind the log takes: LOGLIMIT_BURST at once, then LOGLIMIT_RATE a second.
 * What happens once, or a hundred times, is never left out, and lines that are left out are counted
 * and reported. Kinds do not share: a flood of one hides no other. */

enum { LOGLIMIT_BURST = 200, LOGLIMIT_RATE = 20, LOGLIMIT_KINDS = 512, LOGLIMIT_SAMPLE = 96 };

struct loglimit_kind {
    const void *kind;  /* NULL: free */
    int64_t filled_ms; /* when the bucket was looked at last */
    int64_t content;   /* thousandths of a line */
    uint32_t left_out;
    char sample[LOGLIMIT_SAMPLE]; /* the first line that was left out, cut */
};

/* In place; all zero is empty. */
struct loglimit {
    struct loglimit_kind kinds[LOGLIMIT_KINDS];
};

/* Whether one more line of the kind (any address that stands for it) may be written. If not, it is
 * counted. Kinds beyond LOGLIMIT_KINDS are not limited: there are fewer places that log. */
bool loglimit_take(struct loglimit *limit, const void *kind, int64_t now_ms, const char *text);

/* For each kind with lines left out and room for more by now: report(arg, count, sample). To be
 * called about once a second, so that the end of a flood is reported too. */
void loglimit_settle(struct loglimit *limit, int64_t now_ms,
                     void (*report)(void *arg, uint32_t left_out, const char *sample), void *arg);
