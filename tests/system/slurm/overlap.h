/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* I1, as the NICs saw it: whenever a VNI was given to a job, no CXI service anywhere had it.
 *
 * reservations: a file of lines "2026-11-21T20:51:14.019Z JOB VNI[,VNI…]", when which job was given
 * which VNIs. logs: of mock-cxi, one a node. Writes what is wrong into out, one line each, and
 * returns how many there are. *looked: how many pairs of a reservation and a service of the same
 * VNI were compared, so that a test can see that there was something to look at. */
size_t overlap_find(const char *reservations, const char *const *logs, size_t log_count, char *out,
                    size_t size, size_t *looked);
