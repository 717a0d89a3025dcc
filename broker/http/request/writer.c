/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/writer.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST_SIZE = 2048 };

void writer_reset(struct writer *writer)
{
    writer->used = 0;
    writer->failed = false;
    writer->comma = false;
}

void writer_wipe(struct writer *writer)
{
    if (writer->data)
        explicit_bzero(writer->data, writer->used);
    writer_reset(writer);
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

static void open_with(struct writer *writer, const char *key, char bracket)
{
    lead(writer, key);
    put(writer, &bracket, 1);
    writer->comma = false;
}

static void close_with(struct writer *writer, char bracket)
{
    put(writer, &bracket, 1);
    writer->comma = true;
}

void writer_begin_object(struct writer *writer, const char *key)
{
    open_with(writer, key, '{');
}

void writer_end_object(struct writer *writer)
{
    close_with(writer, '}');
}

void writer_begin_array(struct writer *writer, const char *key)
{
    open_with(writer, key, '[');
}

void writer_end_array(struct writer *writer)
{
    close_with(writer, ']');
}

static bool plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character that cannot stand as it is; returns how many bytes it took. */
static size_t put_special(struct writer *writer, const unsigned char *text)
{
    static const char hex[] = "0123456789abcdef";
    if (*text == '"' || *text == '\\') {
        put(writer, (const char[]){'\\', (char)*text}, 2);
        return 1;
    }
    if (*text == '\n') {
        put(writer, "\\n", 2);
        return 1;
    }
    if (*text < 0x80) {
        put(writer, (const char[]){'\\', 'u', '0', '0', hex[*text >> 4], hex[*text & 15]}, 6);
        return 1;
    }
    size_t length = utf8_length((const char *)text, SIZE_MAX);
    if (length) {
        put(writer, (const char *)text, length);
        return length;
    }
    put(writer, "\xef\xbf\xbd", 3);
    return 1;
}

void writer_string(struct writer *writer, const char *key, const char *value)
{
    if (!value) {
        writer_null(writer, key);
        return;
    }
    lead(writer, key);
    put(writer, "\"", 1);
    const unsigned char *at = (const unsigned char *)value;
    while (*at) {
        const unsigned char *end = at;
        while (plain(*end))
            end++;
        put(writer, (const char *)at, (size_t)(end - at));
        at = *end ? end + put_special(writer, end) : end;
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

void writer_null(struct writer *writer, const char *key)
{
    lead(writer, key);
    put(writer, "null", 4);
}

static char *digits_put(char *at, int value, int width)
{
    for (int i = width - 1; i >= 0; i--, value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + width;
}

void writer_time(struct writer *writer, const char *key, int64_t unix_ms)
{
    struct tm tm;
    time_t seconds = (time_t)(unix_ms / 1000);
    if (unix_ms < 0 || !gmtime_r(&seconds, &tm) || tm.tm_year + 1900 > 9999) {
        writer_null(writer, key);
        return;
    }
    char text[26], *at = text;
    *at++ = '"';
    at = digits_put(at, tm.tm_year + 1900, 4);
    *at++ = '-';
    at = digits_put(at, tm.tm_mon + 1, 2);
    *at++ = '-';
    at = digits_put(at, tm.tm_mday, 2);
    *at++ = 'T';
    at = digits_put(at, tm.tm_hour, 2);
    *at++ = ':';
    at = digits_put(at, tm.tm_min, 2);
    *at++ = ':';
    at = digits_put(at, tm.tm_sec, 2);
    *at++ = '.';
    at = digits_put(at, (int)(unix_ms % 1000), 3);
    *at++ = 'Z';
    *at++ = '"';
    lead(writer, key);
    put(writer, text, (size_t)(at - text));
}

void writer_text(struct writer *writer, const char *text)
{
    put(writer, text, strlen(text));
}

void writer_textf(struct writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *at = length < 0 ? NULL : reserve(writer, (size_t)length + 1);
    if (!at) {
        writer->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(at, (size_t)length + 1, format, arguments);
    va_end(arguments);
    writer->used += (size_t)length;
}
