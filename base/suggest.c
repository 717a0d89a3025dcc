/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 32, SHORT_WORD = 5, PREFIX_MIN = 2 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters are to be changed, added, left out or swapped with the next one to make one of
 * the other (optimal string alignment). */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1], width = strlen(b), height = strlen(a);
    if (width > WORD_MAX || height > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t *row = rows[i % 3];
        const size_t *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] =
                smaller(smaller(row[j - 1], last[j]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return rows[height % 3][width];
}

void suggest_begin(struct suggestion *suggestion, const char *typed)
{
    *suggestion =
        (struct suggestion){.typed = typed, .distance = strlen(typed) < SHORT_WORD ? 1 : 2};
}

void suggest_try(struct suggestion *suggestion, const char *word)
{
    const size_t length = strlen(suggestion->typed);
    const bool begun = length >= PREFIX_MIN && strncmp(word, suggestion->typed, length) == 0;
    const size_t far = begun ? 1 : distance(suggestion->typed, word);
    if (far > suggestion->distance)
        return;
    if (far < suggestion->distance)
        suggestion->count = 0;
    suggestion->distance = far;
    if (suggestion->count < SUGGEST_MAX)
        suggestion->words[suggestion->count++] = word;
}

void suggest_try_misspelt(struct suggestion *suggestion, const char *word)
{
    if (distance(suggestion->typed, word) <= 1)
        suggest_try(suggestion, word);
}

const char *suggest_text(const struct suggestion *suggestion, const char *lead,
                         char out[SUGGEST_SIZE])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < suggestion->count && used < SUGGEST_SIZE; i++)
        used += (size_t)snprintf(out + used, SUGGEST_SIZE - used, "%s%s%s",
                                 i == 0                      ? "; did you mean "
                                 : i + 1 < suggestion->count ? ", "
                                                             : " or ",
                                 lead, suggestion->words[i]);
    if (used > 0 && used < SUGGEST_SIZE)
        (void)snprintf(out + used, SUGGEST_SIZE - used, "?");
    return out;
}
