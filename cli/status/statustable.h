/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What `mcastctl status` and `top` show: the verdict, and below it the broker's numbers. */

#include <jansson.h>

/* Prints what people ask for of the answer of /v1/status, at most a screen of it (24 lines where
 * there is no terminal); what is zero and matters only when it is not is left out, and `--json` has
 * all. An exit code. */
int statustable_print(const json_t *root);
