/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/writer.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST_SIZE = 2048 };

void writer_wipe(struct writer *writer)
{
    if (writer->data)
        explicit_bzero(writer->data, writer->used);
    writer->used = 0;
    writer->failed = false;
    writer->comma = false;
}

void writer_release(struct writer *writer)
{
    writer_wipe(writer);
    free(writer->data);
    *writer = (struct writer){0};
}

/* Not realloc: it would leave the old copy behind unwiped. */
static bool grow(struct writer *writer, size_t more)
{
    size_t size = writer->size ? writer->size : FIRST_SIZE;
    while (more > size - writer->used && size <= SIZE_MAX / 2)
        size *= 2;
    char *data = more <= size - writer->used ? malloc(size) : NULL;
    if (!data)
        return false;
    if (writer->data) {
        memcpy(data, writer->data, writer->used);
        explicit_bzero(writer->data, writer->used);
        free(writer->data);
    }
    writer->data = data;
    writer->size = size;
    return true;
}

/* Room for `more` bytes. Inline, for most of what is written is a byte or two. */
static inline char *reserve(struct writer *writer, size_t more)
{
    if (!writer->failed && more > writer->size - writer->used)
        writer->failed = !grow(writer, more);
    return writer->failed ? NULL : writer->data + writer->used;
}

static void put(struct writer *writer, const char *bytes, size_t length)
{
    char *at = reserve(writer, length);
    if (!at)
        return;
    memcpy(at, bytes, length);
    writer->used += length;
}

/* Comma and key of what comes next. */
static void lead(struct writer *writer, const char *key)
{
    size_t length = key ? strlen(key) : 0;
    char *at = reserve(writer, length + 4);
    if (!at)
        return;
    char *start = at;
    if (writer->comma)
        *at++ = ',';
    if (key) {
        *at++ = '"';
        memcpy(at, key, length);
        at += length;
        *at++ = '"';
        *at++ = ':';
    }
    writer->used += (size_t)(at - start);
    writer->comma = true;
}

static void put_bracket(struct writer *writer, char bracket)
{
    put(writer, &bracket, 1);
    writer->comma = bracket == '}' || bracket == ']';
}

void writer_begin_object(struct writer *writer, const char *key)
{
    lead(writer, key);
    put_bracket(writer, '{');
}

void writer_end_object(struct writer *writer)
{
    put_bracket(writer, '}');
}

void writer_begin_array(struct writer *writer, const char *key)
{
    lead(writer, key);
    put_bracket(writer, '[');
}

void writer_end_array(struct writer *writer)
{
    put_bracket(writer, ']');
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character that cannot stand as it is; returns how many bytes it took. */
static size_t put_special(struct writer *writer, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char c = (unsigned char)*text;
    const size_t length = c < 0x80 ? 1 : utf8_length(text, SIZE_MAX);
    if (c == '"' || c == '\\' || c == '\n')
        put(writer, (const char[]){'\\', c == '\n' ? 'n' : *text}, 2);
    else if (c < 0x80)
        put(writer, (const char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
    else if (length > 0)
        put(writer, text, length);
    else
        put(writer, "\xef\xbf\xbd", 3);
    return length > 0 ? length : 1;
}

void writer_string(struct writer *writer, const char *key, const char *value)
{
    lead(writer, key);
    if (!value) {
        put(writer, "null", 4);
        return;
    }
    put(writer, "\"", 1);
    while (*value) {
        const char *end = value;
        while (is_plain((unsigned char)*end))
            end++;
        put(writer, value, (size_t)(end - value));
        value = *end ? end + put_special(writer, end) : end;
    }
    put(writer, "\"", 1);
}

void writer_number(struct writer *writer, const char *key, uint64_t value)
{
    lead(writer, key);
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    put(writer, at, (size_t)(digits + sizeof digits - at));
}

void writer_bool(struct writer *writer, const char *key, bool value)
{
    lead(writer, key);
    writer_text(writer, value ? "true" : "false");
}

void writer_time(struct writer *writer, const char *key, int64_t unix_ms)
{
    struct tm tm;
    time_t seconds = (time_t)(unix_ms / 1000);
    if (unix_ms < 0 || !gmtime_r(&seconds, &tm) || tm.tm_year + 1900 > 9999) {
        writer_string(writer, key, NULL);
        return;
    }
    static const int widths[] = {4, 2, 2, 2, 2, 2, 3};
    const int numbers[] = {tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,           tm.tm_hour,
                           tm.tm_min,         tm.tm_sec,     (int)(unix_ms % 1000)};
    char text[] = "\"0000-00-00T00:00:00.000Z\"", *at = text + 1;
    for (int i = 0; i < 7; at += widths[i++] + 1)
        for (int j = widths[i], rest = numbers[i]; j-- > 0; rest /= 10)
            at[j] = (char)('0' + rest % 10);
    lead(writer, key);
    put(writer, text, sizeof text - 1);
}

void writer_text(struct writer *writer, const char *text)
{
    put(writer, text, strlen(text));
}

void writer_textf(struct writer *writer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *at = length < 0 ? NULL : reserve(writer, (size_t)length + 1);
    if (at)
        writer->used += (size_t)vsnprintf(at, (size_t)length + 1, format, again);
    else
        writer->failed = true;
    va_end(again);
    va_end(arguments);
}
