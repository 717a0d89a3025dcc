/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The first lines of `mcastctl status` and `top`: what is wrong with the broker. */

#include <jansson.h>
#include <stddef.h>

/* Prints each fault that the answer of /v1/status shows, the worst first, with its cause, since
 * when, and below it what to do; or that all is well. Takes about half of a screen of that height
 * at most: of more faults the number is told. How many lines it printed. */
size_t verdict_print(const json_t *root, size_t height);
