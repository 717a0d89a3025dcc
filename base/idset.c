/* SPDX-License-Identifier: Apache-2.0 */
#include "base/idset.h"

#include <stdlib.h>
#include <string.h>

void idset_init(struct idset *set)
{
    memset(set, 0, sizeof *set);
}

bool idset_has(const struct idset *set, uint16_t id)
{
    return (set->words[id / 64] >> (id % 64)) & 1;
}

void idset_add(struct idset *set, uint16_t id)
{
    if (idset_has(set, id))
        return;
    set->words[id / 64] |= UINT64_C(1) << (id % 64);
    set->count++;
}

void idset_remove(struct idset *set, uint16_t id)
{
    if (!idset_has(set, id))
        return;
    set->words[id / 64] &= ~(UINT64_C(1) << (id % 64));
    set->count--;
}

/* What is left of a word, by the same word of another set. */
static void change_words(struct idset *set, const struct idset *other, char how)
{
    set->count = 0;
    for (size_t i = 0; i < IDSET_WORDS; i++) {
        const uint64_t its = other->words[i];
        set->words[i] =
            how == '+' ? set->words[i] | its : set->words[i] & (how == '-' ? ~its : its);
        set->count += (uint32_t)__builtin_popcountll(set->words[i]);
    }
}

void idset_add_all(struct idset *set, const struct idset *other)
{
    change_words(set, other, '+');
}

void idset_remove_all(struct idset *set, const struct idset *other)
{
    change_words(set, other, '-');
}

void idset_keep_only(struct idset *set, const struct idset *other)
{
    change_words(set, other, '&');
}

bool idset_equal(const struct idset *a, const struct idset *b)
{
    return memcmp(a->words, b->words, sizeof a->words) == 0;
}

uint32_t idset_common(const struct idset *a, const struct idset *b)
{
    if (a->count == 0 || b->count == 0) /* as most are: this is asked for often */
        return 0;
    struct idset both = *a;
    idset_keep_only(&both, b);
    return both.count;
}

static int next_without_wrapping(const struct idset *set, uint32_t from)
{
    for (uint32_t word = from / 64; word < IDSET_WORDS; word++) {
        uint64_t bits = set->words[word];
        if (word == from / 64)
            bits &= UINT64_MAX << (from % 64);
        if (bits != 0)
            return (int)(word * 64) + __builtin_ctzll(bits);
    }
    return -1;
}

int idset_next(const struct idset *set, uint32_t from)
{
    int id = next_without_wrapping(set, from);
    return id >= 0 ? id : next_without_wrapping(set, 0);
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* A word at a time: a text can name all ids thousands of times. */
static void add_range(struct idset *set, uint32_t first, uint32_t last)
{
    for (uint32_t word = first / 64; word <= last / 64; word++) {
        uint64_t wanted = word == first / 64 ? UINT64_MAX << (first % 64) : UINT64_MAX;
        if (word == last / 64)
            wanted &= UINT64_MAX >> (63 - last % 64);
        set->count += (uint32_t)__builtin_popcountll(wanted & ~set->words[word]);
        set->words[word] |= wanted;
    }
}

/* Reads a number 0–65535 at *at. */
static int parse_id(const char **at, uint32_t *id, struct error *err)
{
    const char *c = skip_blanks(*at);
    if (*c < '0' || *c > '9')
        return error_set(err, ERROR_INVALID, "a number is expected at \"%.20s\"", c);
    char *end;
    unsigned long value = strtoul(c, &end, 10);
    if (value > UINT16_MAX)
        return error_set(err, ERROR_INVALID, "ids are 0-65535, this is more: \"%.20s\"", *at);
    *id = (uint32_t)value;
    *at = skip_blanks(end);
    return 0;
}

static int parse_range(const char **at, struct idset *set, struct error *err)
{
    uint32_t first, last;
    int rc = parse_id(at, &first, err);
    if (rc != 0)
        return rc;
    last = first;
    if (**at == '-') {
        (*at)++;
        if ((rc = parse_id(at, &last, err)) != 0)
            return rc;
        if (last < first)
            return error_set(err, ERROR_INVALID, "the range %u-%u runs backwards", first, last);
    }
    add_range(set, first, last);
    return 0;
}

int idset_parse(struct idset *set, const char *text, struct error *err)
{
    struct idset parsed;
    idset_init(&parsed);
    const char *at = skip_blanks(text);
    while (*at != '\0') {
        int rc = parse_range(&at, &parsed, err);
        if (rc != 0)
            return rc;
        if (*at == ',' && *skip_blanks(at + 1) != '\0')
            at = skip_blanks(at + 1);
        else if (*at != '\0')
            return error_set(err, ERROR_INVALID,
                             "ids and ranges are separated by commas, as in 1024-2047,4096; "
                             "this is not: \"%.20s\"",
                             at);
    }
    *set = parsed;
    return 0;
}

void idset_print(FILE *out, const struct idset *set)
{
    const char *before = "";
    for (int first = next_without_wrapping(set, 0); first >= 0;) {
        int last = first;
        while (last < UINT16_MAX && idset_has(set, (uint16_t)(last + 1)))
            last++;
        fprintf(out, "%s%d", before, first);
        if (last > first)
            fprintf(out, "-%d", last);
        before = ",";
        first = next_without_wrapping(set, (uint32_t)last + 1);
    }
}
