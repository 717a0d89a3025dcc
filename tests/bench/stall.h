/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/report.h"
#include "tests/system/rig/testbed.h"

/* How long the broker served nobody, at worst, during the whole benchmark (G11). */

/* To be told of each broker before it is stopped, and at least every five minutes, as long as its
 * own memory of it is. key: the figure of the part that it belongs to. 0, or -1. */
int absence_note(struct report *report, const struct testbed *testbed, const char *key);
