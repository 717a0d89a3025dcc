#ifndef MCAST_BROKER_CONFIG_WORDS_H
#define MCAST_BROKER_CONFIG_WORDS_H

#include <stdbool.h>
#include <stdio.h>

/* Values that are several words: users, a command with its arguments. A list is NULL-terminated and
 * each word in it is owned; NULL is an empty one. */

/* Appends the words in text, which any number of the bytes in `between` keep apart. False: memory
 * is exhausted; the list is good, but not whole. */
bool config_words_add(char ***words, const char *text, const char *between);
void config_words_print(FILE *out, char *const *words);
void config_words_destroy(char **words);

#endif
