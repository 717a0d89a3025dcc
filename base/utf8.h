/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* What a character of UTF-8 is (RFC 3629): for whatever reads, writes or logs text of others. */

/* Bytes of the well-formed sequence that text, of which there are `size` bytes, begins with; 0: it
 * begins with none (overlong forms, surrogates and what is beyond U+10FFFF are none). A NUL is a
 * sequence of one byte, and never within one: size may be SIZE_MAX for a text that ends with NUL.
 */
size_t utf8_length(const char *text, size_t size);
