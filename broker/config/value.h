/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/table.h"
#include "base/error.h"

/* The types of configuration values: text to value and back, and a sentence on what is allowed. */

enum { CONFIG_ALLOWED_SIZE = 192 };

/* Sets the key's value in base (struct config or struct config_cluster) from text, which has no
 * blanks around it. more: the text continues a list in base instead of replacing it. 0 or
 * ERROR_INVALID with what is wrong and what is allowed; base is unchanged then. */
int config_value_set(const struct config_key *key, void *base, const char *text, bool more,
                     struct error *err);

/* The value in base as it would be written, "unset" when it is so; owned by the caller. */
char *config_value_text(const struct config_key *key, const void *base);

/* "a duration of 100ms to 10m", "basic or none", … */
void config_value_allowed(const struct config_key *key, char *out, size_t size);

/* Whether it may go on in further lines. */
bool config_value_is_list(const struct config_key *key);

/* Values that are several words: users, a command with its arguments. A list is NULL-terminated and
 * each word in it is owned; NULL is an empty one. */
void config_words_destroy(char **words);
