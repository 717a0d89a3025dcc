/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* What a shell completes a word by, asked of the broker: it takes less than half a second, and
 * looks at a bounded number of what there is. */

/* Prints the jobs ("JOB"), nodes ("NODE") or clusters ("CLUSTER") that begin so, one a line. An
 * exit code, without a message. Where the time is over it ends the process. */
int values_print(struct call *call, const char *kind, const char *begin);
