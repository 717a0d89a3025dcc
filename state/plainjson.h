/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* As json_loadb with JSON_REJECT_DUPLICATES, for an object; NULL: it is none. Several times as fast
 * where the text is plain, as what etcd's gateway and we ourselves write: strings of printable
 * ASCII without escapes, and whole numbers. jansson reads all else. */
json_t *plainjson_load(const char *text, size_t length);

/* The same without jansson's reader. NULL: the text is no object, or not plain. */
json_t *plainjson_load_plain(const char *text, size_t length);
