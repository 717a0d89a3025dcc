/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Base64 with padding (RFC 4648, 4), as in JSON. */

/* Characters that so many bytes make, without a NUL. */
#define BASE64_LENGTH(size) (((size) + 2) / 3 * 4)

/* Writes BASE64_LENGTH(size) characters and a NUL; returns their number. */
size_t base64_encode(const void *bytes, size_t size, char *out);

/* The number of bytes written to out, which has room for three of four characters; -1: it is no
 * such text. */
int base64_decode(const char *text, size_t length, unsigned char *out);
