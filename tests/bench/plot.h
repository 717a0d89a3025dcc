/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/report.h"

/* The curves of a report as one SVG: a panel each, both axes logarithmic, the median as a line and
 * the extremes as bars. 0, or -1 with a word on stderr. */
int plot_write(const struct report *report, const char *path);
