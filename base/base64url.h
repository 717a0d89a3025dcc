/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Base64 for URLs and headers (RFC 4648, section 5), without padding. Each sequence of bytes has
 * one text and the other way round: nothing else is decoded (3.5: bits left over are zero). */

/* Characters that so many bytes make. */
#define BASE64URL_LENGTH(size) (((size)*4 + 2) / 3)

/* Writes BASE64URL_LENGTH(size) characters and a NUL. */
void base64url_encode(const unsigned char *bytes, size_t size, char *out);

/* The number of bytes written to out, which has room for so many; -1: it is no such text, or holds
 * more. The time taken follows from length alone, unless it is refused. */
int base64url_decode(const char *text, size_t length, unsigned char *out, size_t room);
