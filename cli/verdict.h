/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The first lines of `mcastctl status` and `top`: what is wrong with the broker. */

#include <jansson.h>
#include <stdbool.h>

/* Prints a line for each fault that the answer of /v1/status shows, the most important first, and
 * what to do; or that all is well. Whether there is one. */
bool verdict_print(const json_t *root);
