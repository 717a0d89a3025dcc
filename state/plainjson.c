/* SPDX-License-Identifier: Apache-2.0 */
#include "state/plainjson.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 16,
    NAME_SIZE = 64,
    DIGITS_MAX = 18, /* fit into 64 bits */
};

struct scan {
    const char *at, *end;
    unsigned depth;
};

static bool take(struct scan *scan, char wanted)
{
    while (scan->at < scan->end && *scan->at == ' ')
        scan->at++;
    if (scan->at == scan->end || *scan->at != wanted)
        return false;
    scan->at++;
    return true;
}

static bool take_word(struct scan *scan, const char *word)
{
    assert(word[0] != '\0');
    const size_t length = strlen(word);
    const bool there =
        (size_t)(scan->end - scan->at) >= length && memcmp(scan->at, word, length) == 0;
    scan->at += there ? length : 0;
    return there;
}

/* NULL: it is not plain. */
static const char *take_text(struct scan *scan, size_t *length)
{
    assert(length);
    if (!take(scan, '"'))
        return NULL;
    const char *text = scan->at;
    while (scan->at < scan->end && *scan->at >= ' ' && *scan->at <= '~' && *scan->at != '"' &&
           *scan->at != '\\')
        scan->at++;
    *length = (size_t)(scan->at - text);
    return take(scan, '"') ? text : NULL;
}

static json_t *take_number(struct scan *scan)
{
    char digits[DIGITS_MAX + 2] = "";
    size_t length = 0;
    for (; scan->at < scan->end && length < sizeof digits - 1; length++, scan->at++) {
        if (!(*scan->at >= '0' && *scan->at <= '9') && !(*scan->at == '-' && length == 0))
            break;
        digits[length] = *scan->at;
    }
    const size_t sign = digits[0] == '-';
    const bool whole = length > sign && length - sign <= DIGITS_MAX &&
                       !(digits[sign] == '0' && length > sign + 1) &&
                       !(scan->at < scan->end && strchr(".eE", *scan->at));
    return whole ? json_integer(strtoll(digits, NULL, 10)) : NULL;
}

static json_t *take_value(struct scan *scan);

static bool take_member(struct scan *scan, json_t *object)
{
    char name[NAME_SIZE];
    size_t length;
    const char *text = take_text(scan, &length);
    if (!text || length >= sizeof name || !take(scan, ':'))
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return !json_object_get(object, name) &&
           json_object_set_new_nocheck(object, name, take_value(scan)) == 0;
}

static bool take_element(struct scan *scan, json_t *array)
{
    return json_array_append_new(array, take_value(scan)) == 0;
}

static json_t *take_list(struct scan *scan, json_t *list,
                         bool (*take_one)(struct scan *scan, json_t *list), char end)
{
    assert(scan->depth <= DEPTH_MAX);
    assert(take_one);
    bool whole = ++scan->depth <= DEPTH_MAX;
    if (whole && !take(scan, end)) {
        do
            whole = take_one(scan, list);
        while (whole && take(scan, ','));
        whole = whole && take(scan, end);
    }
    scan->depth--;
    if (whole)
        return list;
    json_decref(list);
    return NULL;
}

/* NULL: it is not plain. */
static json_t *take_value(struct scan *scan)
{
    size_t length;
    if (take(scan, '{'))
        return take_list(scan, json_object(), take_member, '}');
    if (take(scan, '['))
        return take_list(scan, json_array(), take_element, ']');
    if (scan->at < scan->end && *scan->at == '"') {
        const char *text = take_text(scan, &length);
        return text ? json_stringn_nocheck(text, length) : NULL;
    }
    if (take_word(scan, "true"))
        return json_true();
    return take_word(scan, "false") ? json_false() : take_number(scan);
}

static json_t *object_or_null(json_t *value, bool whole)
{
    if (json_is_object(value) && whole)
        return value;
    json_decref(value);
    return NULL;
}

json_t *plainjson_load_plain(const char *text, size_t length)
{
    struct scan scan = {.at = text, .end = text + length};
    assert(text || length == 0);
    json_t *value = take_value(&scan);
    assert(scan.at <= scan.end);
    assert(scan.depth == 0);
    return object_or_null(value, scan.at == scan.end);
}

json_t *plainjson_load(const char *text, size_t length)
{
    json_t *plain = plainjson_load_plain(text, length);
    return plain ? plain
                 : object_or_null(json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL), true);
}
