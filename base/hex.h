/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Bytes as hexadecimal digits, two each. */

/* Lower-case digits, without a NUL. */
void hex_write(const unsigned char *bytes, size_t size, char *out);

/* Reads 2 × size digits, of either case. 0, or -1: one of them is none. */
int hex_read(const char *digits, unsigned char *bytes, size_t size);
