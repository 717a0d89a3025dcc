/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What the library bench-allocations.so, loaded before a program's own, counts: into a file that
 * both the program and whoever looks have mapped, named by this variable. */

#define ALLOCATIONS_VARIABLE "BENCH_ALLOCATIONS"

struct allocations {
    uint64_t made;  /* malloc, calloc, realloc and their kin */
    uint64_t bytes; /* asked for */
    uint64_t freed; /* free of anything but NULL, by realloc as well */
};
