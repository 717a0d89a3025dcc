/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodefold.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    DIGITS_MAX = 9,                        /* of a number, as nodelist_count takes it */
    RUN_SIZE = DIGITS_MAX + 1 + DIGITS_MAX /* "first-last" */
};

/* A name as "elcap" and 0012, of four digits. */
struct parts {
    size_t prefix;
    uint32_t number;
    unsigned width; /* 0: it does not end in a digit */
};

static struct parts split_name(const char *name)
{
    assert(name != NULL);
    struct parts parts = {.prefix = strlen(name)};
    uint32_t unit = 1;
    while (parts.prefix > 0 && parts.width < DIGITS_MAX && name[parts.prefix - 1] >= '0' &&
           name[parts.prefix - 1] <= '9') {
        parts.number += (uint32_t)(name[--parts.prefix] - '0') * unit;
        unit *= 10;
        parts.width++;
    }
    return parts;
}

static unsigned count_digits(uint32_t number)
{
    unsigned count = 1;
    for (; number >= 10; number /= 10)
        count++;
    return count;
}

/* Whether a range that begins with this width would write the number as the name does. */
static bool keeps_digits(const struct parts *parts, unsigned width)
{
    unsigned least = count_digits(parts->number);
    return parts->width == (least > width ? least : width);
}

static bool same_prefix(const struct nodefold *fold, const char *name, const struct parts *parts)
{
    assert(parts->width > 0);
    return fold->width > 0 && strlen(fold->prefix) == parts->prefix &&
           memcmp(fold->prefix, name, parts->prefix) == 0;
}

/* Room for a run has been made sure of when it began. */
static void close_run(struct nodefold *fold)
{
    assert(fold->width > 0);
    char *out = fold->runs + fold->runs_used;
    const size_t size = sizeof fold->runs - fold->runs_used;
    const char *comma = fold->runs_used > 0 ? "," : "";
    const int width = (int)fold->width;
    fold->runs_used += (size_t)(fold->first == fold->last
                                    ? snprintf(out, size, "%s%0*" PRIu32, comma, width, fold->first)
                                    : snprintf(out, size, "%s%0*" PRIu32 "-%0*" PRIu32, comma,
                                               width, fold->first, width, fold->last));
    assert(fold->runs_used < sizeof fold->runs);
}

static void open_run(struct nodefold *fold, const struct parts *parts)
{
    assert(parts->width > 0);
    fold->first = fold->last = parts->number;
    fold->width = parts->width;
}

static void close_prefix(struct nodefold *fold)
{
    if (fold->width == 0)
        return;
    close_run(fold);
    const bool one = strpbrk(fold->runs, ",-") == NULL;
    fold->used += (size_t)snprintf(fold->text + fold->used, sizeof fold->text - fold->used,
                                   "%s%s%s%s%s", fold->used > 0 ? "," : "", fold->prefix,
                                   one ? "" : "[", fold->runs, one ? "" : "]");
    assert(fold->used < sizeof fold->text);
    fold->runs_used = 0;
    fold->width = 0;
}

/* What is open may still grow to a whole run. */
static size_t size_so_far(const struct nodefold *fold)
{
    assert(fold->used < sizeof fold->text);
    const size_t open = strlen(fold->prefix) + sizeof ",[]" + fold->runs_used + RUN_SIZE + 1;
    return fold->used + (fold->width > 0 ? open : 0);
}

static bool has_space(const struct nodefold *fold, size_t more)
{
    return fold->left_out == 0 && size_so_far(fold) + more < sizeof fold->text;
}

static void add_prefix(struct nodefold *fold, const char *name, const struct parts *parts)
{
    assert(parts->prefix <= NODELIST_NAME_MAX);
    close_prefix(fold);
    memcpy(fold->prefix, name, parts->prefix);
    fold->prefix[parts->prefix] = '\0';
    if (parts->width > 0)
        open_run(fold, parts);
    else
        fold->used += (size_t)snprintf(fold->text + fold->used, sizeof fold->text - fold->used,
                                       "%s%s", fold->used > 0 ? "," : "", name);
}

void nodefold_add(struct nodefold *fold, const char *name)
{
    assert(name != NULL);
    const struct parts parts = split_name(name);
    const bool same = parts.width > 0 && same_prefix(fold, name, &parts);
    if (same && fold->left_out == 0 && parts.number == fold->last + 1 &&
        keeps_digits(&parts, fold->width)) {
        fold->last = parts.number;
    } else if (same && has_space(fold, RUN_SIZE + 1)) {
        close_run(fold);
        open_run(fold, &parts);
    } else if (!same && has_space(fold, parts.prefix + sizeof ",[]" + RUN_SIZE + 1)) {
        add_prefix(fold, name, &parts);
    } else {
        fold->left_out++;
        return;
    }
    fold->count++;
}

void nodefold_end(struct nodefold *fold)
{
    close_prefix(fold);
}
