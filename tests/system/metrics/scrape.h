/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/plainhttp.h"

#include <stdbool.h>
#include <stddef.h>

/* One answer of /metrics. Failures are asserts. */

struct scrape {
    char *text; /* behind a newline */
    size_t samples;
};

void scrape_take(struct scrape *scrape, struct plainhttp *http);
void scrape_release(struct scrape *scrape);

/* The value of a series as it is written, e.g. mcastd_vnis{state="live"}; fails when there is none.
 */
double scrape_value(const struct scrape *scrape, const char *series);
bool scrape_has(const struct scrape *scrape, const char *series);

/* Whether a tool ends with 0; what it says goes to stderr. words: its command line behind its name,
 * NULL-terminated. input: a file, or NULL. */
bool tool_passes(const char *tool, const char *const words[], const char *input);

/* Whether promtool is installed; says so if not. */
bool promtool_there(void);
