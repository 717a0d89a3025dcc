/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodefold.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    DIGITS_MAX = 9,                        /* of a number, as nodelist_count takes it */
    RUN_SIZE = DIGITS_MAX + 1 + DIGITS_MAX /* "first-last" */
};

struct nodefold_parts nodefold_split(const char *name)
{
    assert(name);
    struct nodefold_parts parts = {.prefix = strlen(name)};
    uint32_t unit = 1;
    while (parts.prefix > 0 && parts.width < DIGITS_MAX && name[parts.prefix - 1] >= '0' &&
           name[parts.prefix - 1] <= '9') {
        parts.number += (uint32_t)(name[--parts.prefix] - '0') * unit;
        unit *= 10;
        parts.width++;
    }
    parts.padded = name[parts.prefix] == '0';
    return parts;
}

__attribute__((format(printf, 2, 3))) static void append(struct nodefold *fold, const char *format,
                                                         ...)
{
    va_list args;
    va_start(args, format);
    fold->used +=
        (size_t)vsnprintf(fold->text + fold->used, sizeof fold->text - fold->used, format, args);
    va_end(args);
    assert(fold->used < sizeof fold->text);
}

/* Each has made sure of room for this when it began. */
static void close_run(struct nodefold *fold)
{
    assert(fold->width > 0);
    if (fold->last != fold->first)
        append(fold, "-%0*" PRIu32, (int)fold->width, fold->last);
}

static void close_prefix(struct nodefold *fold)
{
    if (fold->width == 0)
        return;
    assert(fold->text[fold->body - 1] == '[');
    close_run(fold);
    fold->width = 0;
    if (strpbrk(fold->text + fold->body, ",-")) {
        append(fold, "]");
        return;
    }
    memmove(fold->text + fold->body - 1, fold->text + fold->body, fold->used - fold->body + 1);
    fold->used--;
}

static void open_run(struct nodefold *fold, const struct nodefold_parts *parts)
{
    assert(parts->width > 0);
    append(fold, "%0*" PRIu32, (int)parts->width, parts->number);
    fold->first = fold->last = parts->number;
    fold->width = parts->width;
}

static void add_prefix(struct nodefold *fold, const char *name, const struct nodefold_parts *parts)
{
    assert(parts->prefix <= NODELIST_NAME_MAX);
    close_prefix(fold);
    append(fold, "%s%.*s", fold->used > 0 ? "," : "", (int)parts->prefix, name);
    if (parts->width == 0)
        return;
    append(fold, "[");
    fold->prefix = parts->prefix;
    fold->body = fold->used;
    open_run(fold, parts);
}

/* Whether the number goes on the open run, and would be written there as in the name. */
static bool continues_run(const struct nodefold *fold, const struct nodefold_parts *parts)
{
    assert(fold->width > 0);
    return parts->number == fold->last + 1 &&
           (parts->width == fold->width || (parts->width > fold->width && !parts->padded));
}

void nodefold_add(struct nodefold *fold, const char *name)
{
    assert(name);
    const struct nodefold_parts parts = nodefold_split(name);
    const bool same = parts.width > 0 && fold->width > 0 && fold->prefix == parts.prefix &&
                      memcmp(fold->text + fold->body - 1 - fold->prefix, name, parts.prefix) == 0;
    /* What is open may still become a range, and gets its bracket. */
    const size_t left = sizeof fold->text - fold->used - (fold->width > 0 ? DIGITS_MAX + 3 : 1);
    if (fold->left_out == 0 && same && continues_run(fold, &parts)) {
        fold->last = parts.number;
    } else if (fold->left_out == 0 && same && left >= sizeof "," + RUN_SIZE) {
        close_run(fold);
        append(fold, ",");
        open_run(fold, &parts);
    } else if (fold->left_out == 0 && !same && left >= parts.prefix + sizeof ",[]" + RUN_SIZE) {
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
