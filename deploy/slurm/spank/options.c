/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/options.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 32, VNIS_MAX = 4, LIMIT_MAX = 65535, LIMIT_DIGITS = 5, SHOWN_MAX = 40 };

struct word {
    const char *name, *value; /* not ended: lengths count */
    size_t name_length, value_length;
};

static const char grammar[] =
    "vnis=N, vni=K, hwcoll=on|off|required, tc=A:B, single-node=on|off, res_les=N";

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool among(const char *text, size_t length, const char *const *words, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || is(text, length, words[i]);
    return found;
}

/* Cuts the next word off; false: no more. */
static bool next_word(const char **rest, struct word *word)
{
    if (!*rest)
        return false;
    const char *comma = strchr(*rest, ',');
    const size_t length = comma ? (size_t)(comma - *rest) : strlen(*rest);
    const char *equals = memchr(*rest, '=', length);
    word->name = *rest;
    word->name_length = equals ? (size_t)(equals - *rest) : length;
    word->value = equals ? equals + 1 : *rest + length;
    word->value_length = equals ? length - word->name_length - 1 : 0;
    *rest = comma ? comma + 1 : NULL;
    return true;
}

/* So much of it is shown. */
static int shown(size_t length)
{
    return length < SHOWN_MAX ? (int)length : SHOWN_MAX;
}

static int refuse(struct error *err, const struct word *word, const char *allowed)
{
    return error_set(err, ERROR_INVALID, "%.*s=%.*s: %s", shown(word->name_length), word->name,
                     shown(word->value_length), word->value, allowed);
}

static int read_vnis(const struct word *word, struct error *err)
{
    if (word->value_length == 1 && word->value[0] >= '0' && word->value[0] <= '0' + VNIS_MAX)
        return 0;
    return refuse(err, word, "a job can have 0 to 4 VNIs");
}

static int read_vni(struct options *options, const struct word *word, struct error *err)
{
    if (word->value_length != 1 || word->value[0] < '1' || word->value[0] > '0' + VNIS_MAX)
        return refuse(err, word, "which of the job's VNIs, 1 to 4, a step is to have");
    options->vni = (unsigned)(word->value[0] - '0');
    return 0;
}

static int read_hwcoll(struct options *options, const struct word *word, struct error *err)
{
    static const char *const words[] = {
#define OPTIONS_WORD_(name, text) [OPTIONS_HWCOLL_##name] = (text),
        OPTIONS_HWCOLL(OPTIONS_WORD_)
#undef OPTIONS_WORD_
    };
    for (int i = OPTIONS_HWCOLL_AUTO; i <= OPTIONS_HWCOLL_REQUIRED; i++) {
        if (is(word->value, word->value_length, words[i])) {
            options->hwcoll = (enum options_hwcoll)i;
            return 0;
        }
    }
    return refuse(err, word, "auto, on, off or required");
}

static int read_classes(const struct word *word, struct error *err)
{
    static const char *const classes[] = {"best_effort", "low_latency", "bulk_data",
                                          "dedicated_access"};
    const char *at = word->value, *end = word->value + word->value_length;
    for (;;) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        const char *stop = colon ? colon : end;
        if (!among(at, (size_t)(stop - at), classes, sizeof classes / sizeof classes[0]))
            return refuse(err, word,
                          "best_effort, low_latency, bulk_data and dedicated_access, with colons "
                          "between them");
        if (!colon)
            return 0;
        at = colon + 1;
    }
}

static int read_single_node(const struct word *word, struct error *err)
{
    static const char *const words[] = {"on", "off"};
    return among(word->value, word->value_length, words, 2) ? 0 : refuse(err, word, "on or off");
}

/* def_les and its like. */
static bool is_limit(const struct word *word)
{
    static const char *const kinds[] = {"def_", "res_", "max_"};
    static const char *const resources[] = {"txqs", "tgqs", "eqs", "cts",
                                            "tles", "ptes", "les", "acs"};
    return word->name_length > 4 && among(word->name, 4, kinds, 3) &&
           among(word->name + 4, word->name_length - 4, resources, 8);
}

static int read_limit(const struct word *word, struct error *err)
{
    unsigned long number = 0;
    bool digits = word->value_length > 0 && word->value_length <= LIMIT_DIGITS;
    for (size_t i = 0; digits && i < word->value_length; i++) {
        digits = word->value[i] >= '0' && word->value[i] <= '9';
        number = number * 10 + (unsigned long)(word->value[i] - '0');
    }
    return digits && number <= LIMIT_MAX ? 0 : refuse(err, word, "a number from 0 to 65535");
}

/* What steps of one job can differ in. */
static bool is_of_step(const struct word *word)
{
    return is(word->name, word->name_length, "hwcoll") || is(word->name, word->name_length, "vni");
}

static int read_word(struct options *options, const struct word *word, struct error *err)
{
    options->of_job = options->of_job || !is_of_step(word);
    if (is(word->name, word->name_length, "hwcoll"))
        return read_hwcoll(options, word, err);
    if (is(word->name, word->name_length, "vni"))
        return read_vni(options, word, err);
    if (is(word->name, word->name_length, "vnis"))
        return read_vnis(word, err);
    if (is(word->name, word->name_length, "tc"))
        return read_classes(word, err);
    if (is(word->name, word->name_length, "single-node"))
        return read_single_node(word, err);
    if (is_limit(word))
        return read_limit(word, err);
    return error_set(err, ERROR_INVALID, "'%.*s' is none of its words: %s",
                     shown(word->name_length), word->name, grammar);
}

/* It goes through environments and shells: nothing but what the words are made of. */
static int check_letters(const char *text, struct error *err)
{
    const size_t length = strnlen(text, OPTIONS_TEXT_MAX + 1);
    if (length == 0)
        return error_set(err, ERROR_INVALID, "nothing is said: %s", grammar);
    if (length > OPTIONS_TEXT_MAX)
        return error_set(err, ERROR_INVALID, "longer than %d letters", OPTIONS_TEXT_MAX);
    if (strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-=,:") != length)
        return error_set(err, ERROR_INVALID, "has letters that none of its words has: %s", grammar);
    return 0;
}

int options_read(struct options *options, const char *text, struct error *err)
{
    struct word words[WORDS_MAX];
    size_t count = 0;
    const char *rest = text;
    *options = (struct options){0};
    int rc = check_letters(text, err);
    for (struct word word; rc == 0 && next_word(&rest, &word); count++) {
        if (count == WORDS_MAX)
            return error_set(err, ERROR_INVALID, "more than %d words", WORDS_MAX);
        for (size_t i = 0; rc == 0 && i < count; i++) {
            if (words[i].name_length == word.name_length &&
                memcmp(words[i].name, word.name, word.name_length) == 0)
                rc = error_set(err, ERROR_INVALID, "%.*s is said twice", shown(word.name_length),
                               word.name);
        }
        words[count] = word;
        if (rc == 0)
            rc = read_word(options, &word, err);
    }
    return rc;
}

static bool has(const char *text, const struct word *wanted)
{
    struct word word;
    while (next_word(&text, &word)) {
        if (word.name_length == wanted->name_length && word.value_length == wanted->value_length &&
            memcmp(word.name, wanted->name, word.name_length) == 0 &&
            memcmp(word.value, wanted->value, word.value_length) == 0)
            return true;
    }
    return false;
}

bool options_step_fits(const char *step, const char *job)
{
    struct word word;
    while (next_word(&step, &word)) {
        if (!is_of_step(&word) && !(job && has(job, &word)))
            return false;
    }
    return true;
}
