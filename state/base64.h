/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Bytes in JSON: a string of base64 with padding (RFC 4648, 4). */

json_t *base64_json(const void *bytes, size_t size);

/* The bytes, and a NUL behind them, which size does not count; to be freed. NULL: it is no such
 * string. */
char *base64_bytes(const json_t *string, size_t *size);
