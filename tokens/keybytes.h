/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stddef.h>

enum { KEYBYTES_SIZE = 32, KEYBYTES_ID_SIZE = 8 };

/* Random bytes from the kernel, at most 256. 0, or ERROR_IO. */
int keybytes_draw(unsigned char *bytes, size_t size, struct error *err);

/* The same, as an even number of hexadecimal digits and a NUL. */
int keybytes_draw_digits(char *text, size_t digits, struct error *err);

/* Identifies a key of KEYBYTES_SIZE and reveals nothing of it: the first bytes of SHA-256(purpose,
 * NUL, key). 0, or ERROR_NOMEM. */
int keybytes_id(const char *purpose, const unsigned char *key,
                unsigned char id[static KEYBYTES_ID_SIZE], struct error *err);
