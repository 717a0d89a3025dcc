/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/testbed.h"

/* What the broker of the stage says of itself: the value of a metric without labels, or -1 with a
 * word on stderr. */
double metric_value(const struct testbed *testbed, const char *name);
/* The sum over all labels but those lines that have the word; NULL: all. The same. */
double metric_sum(const struct testbed *testbed, const char *name, const char *but);
/* As metric_value, of any broker. */
double metric_ask(struct plainhttp *http, const char *name);
