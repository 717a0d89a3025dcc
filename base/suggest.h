/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* What a person may have meant by a word that there is not. */

enum { SUGGEST_MAX = 3, SUGGEST_SIZE = 160 };

struct suggestion {
    const char *typed;
    const char *words[SUGGEST_MAX]; /* the most similar, all alike */
    size_t count, distance;
};

void suggest_begin(struct suggestion *suggestion, const char *typed);
/* A word that there is; it must stay as long as the suggestion. */
void suggest_try(struct suggestion *suggestion, const char *word);
/* The same, only if it is misspelt by one letter: of what does harm when it is not meant. */
void suggest_try_misspelt(struct suggestion *suggestion, const char *word);
/* "; did you mean status or step-down?", with lead before each word; "" when none is similar. */
const char *suggest_text(const struct suggestion *suggestion, const char *lead,
                         char out[SUGGEST_SIZE]);
