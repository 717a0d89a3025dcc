/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_METRICS_SCRAPE_H
#define MCAST_TESTS_METRICS_SCRAPE_H

#include "tests/system/rig/plainhttp.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One answer of /metrics, taken apart. Failures are asserts. */

struct scrape {
    char *text;
    json_t *families; /* {name: {"type", "help", "samples": n, "labels": "a, b"}}: labels in the
                         order in which they were seen, without a histogram's "le" */
    size_t samples;
};

void scrape_take(struct scrape *scrape, struct plainhttp *http);
void scrape_release(struct scrape *scrape);

/* The value of a series as it is written, e.g. mcastd_vnis{state="live"}; fails when there is none.
 */
double scrape_value(const struct scrape *scrape, const char *series);
bool scrape_has(const struct scrape *scrape, const char *series);

#endif
