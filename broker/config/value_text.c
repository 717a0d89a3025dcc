/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/value.h"

#include "core/config.h"
#include "base/duration.h"
#include "base/idset.h"
#include "base/memory.h"
#include "core/reservation/record.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists of words, and values as they would be written. */

void config_words_add(char ***words, const char *text, const char *between)
{
    size_t count = 0;
    while (*words != NULL && (*words)[count] != NULL)
        count++;
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        size_t length = strcspn(text, between);
        char *word = memory_zeroed(length + 1);
        memcpy(word, text, length);
        *words = memory_resized(*words, count + 2, sizeof **words);
        (*words)[count++] = word;
        (*words)[count] = NULL;
        text += length;
    }
}

void config_words_print(FILE *out, char *const *words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
}

void config_words_destroy(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

static void print_choice(FILE *out, const char *words, int index)
{
    for (; index > 0 && *words != '\0'; index--) {
        words += strcspn(words, "|");
        words += *words == '|';
    }
    fprintf(out, "%.*s", (int)strcspn(words, "|"), words);
}

/* The usual ones first. */
static void print_classes(FILE *out, uint32_t bits)
{
    static const enum traffic_class order[] = {TC_BEST_EFFORT, TC_LOW_LATENCY, TC_BULK_DATA,
                                               TC_DEDICATED_ACCESS};
    const char *before = "";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if ((bits & order[i]) == 0)
            continue;
        fprintf(out, "%s%s", before, traffic_class_word((int)order[i]));
        before = " ";
    }
}

static void print_idset(FILE *out, const struct idset *set)
{
    size_t size = idset_format(set, NULL, 0) + 1;
    char *text = memory_zeroed(size);
    (void)idset_format(set, text, size);
    fputs(text, out);
    free(text);
}

static void print_urls(FILE *out, const char (*urls)[FM_URL_SIZE])
{
    for (size_t i = 0; i < FM_URLS_MAX && urls[i][0] != '\0'; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", urls[i]);
}

static void print_duration(FILE *out, const struct config_key *key, int64_t ms)
{
    char text[32];
    if (ms < 0) {
        assert(key->words != NULL);
        fputs(key->words, out);
        return;
    }
    duration_format(text, sizeof text, ms);
    fputs(text, out);
}

static void print_value(FILE *out, const struct config_key *key, const void *value)
{
    switch (key->type) {
    case CONFIG_TEXT:
    case CONFIG_PATH:
    case CONFIG_LISTEN:
    case CONFIG_JOB_CA:
    case CONFIG_URL:
        fputs(value, out);
        break;
    case CONFIG_URLS:
        print_urls(out, value);
        break;
    case CONFIG_NUMBER:
    case CONFIG_AUTO:
        if (*(const uint32_t *)value != 0 || key->min == 0)
            fprintf(out, "%" PRIu32, *(const uint32_t *)value);
        else if (key->type == CONFIG_AUTO)
            fputs("auto", out);
        break;
    case CONFIG_MODE:
        fprintf(out, "%04" PRIo32, *(const uint32_t *)value);
        break;
    case CONFIG_DURATION:
        print_duration(out, key, *(const int64_t *)value);
        break;
    case CONFIG_BOOL:
        fputs(*(const bool *)value ? "yes" : "no", out);
        break;
    case CONFIG_CHOICE:
        print_choice(out, key->words, *(const int *)value - (int)key->min);
        break;
    case CONFIG_CLASSES:
        print_classes(out, *(const uint32_t *)value);
        break;
    case CONFIG_IDSET:
        print_idset(out, value);
        break;
    case CONFIG_USERS:
    case CONFIG_COMMAND:
        config_words_print(out, *(char *const *const *)value);
        break;
    }
}

char *config_value_text(const struct config_key *key, const void *base)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out != NULL)
        print_value(out, key, (const char *)base + key->offset);
    if (out == NULL || fclose(out) != 0)
        abort(); /* without memory, as base/memory.h */
    if (length > 0)
        return text;
    free(text);
    return memory_text("unset");
}
