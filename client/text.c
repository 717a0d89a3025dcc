/* SPDX-License-Identifier: Apache-2.0 */
#include "client/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was cut within a character is no UTF-8, which JSON must be. */
static void drop_cut_character(char *text)
{
    unsigned char *end = (unsigned char *)text + strlen(text);
    while ((char *)end > text && (end[-1] & 0xc0) == 0x80)
        end--;
    if ((char *)end > text && end[-1] >= 0xc0)
        end[-1] = '\0';
}

int fault_set_word(struct mcast_error *error, int code, const char *word, const char *format, ...)
{
    va_list args;
    if (!error)
        return code;
    memset(error, 0, sizeof *error);
    error->code = code;
    snprintf(error->word, sizeof error->word, "%s", word);
    va_start(args, format);
    if (vsnprintf(error->text, sizeof error->text, format, args) >= (int)sizeof error->text)
        drop_cut_character(error->text);
    va_end(args);
    /* No control character of ASCII or of UTF-8 (U+0080 to U+009F) gets to a terminal. */
    for (unsigned char *c = (unsigned char *)error->text; *c; c++) {
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
            c[0] = c[1] = ' ';
        else if (*c < 0x20 || *c == 0x7f)
            *c = ' ';
    }
    return code;
}

int struct_adopt(void *mine, const void *given, const char *init, struct mcast_error *error)
{
    const unsigned char *bytes = given;
    size_t known, size;
    memcpy(&known, mine, sizeof known);
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return fault_set(error, MCAST_USAGE, "a struct's size is not set; begin with %s", init);
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return fault_set(error, MCAST_USAGE,
                             "the program sets more, after %s, than libmcast %s knows; update "
                             "libmcast",
                             init, MCAST_VERSION);
    memcpy(mine, given, size < known ? size : known);
    return 0;
}

int fault_nomem(struct mcast_error *error)
{
    return fault_set(error, MCAST_NOMEM, "memory is exhausted");
}

bool text_add(struct text *text, const char *bytes, size_t length)
{
    if (text->capacity - text->length <= length) {
        size_t capacity = (text->length + length + 1) * 2;
        char *grown = realloc(text->bytes, capacity);
        if (!grown)
            return false;
        text->bytes = grown;
        text->capacity = capacity;
    }
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
    return true;
}

bool text_add_escaped(struct text *text, const char *plain)
{
    static const char unreserved[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *plain; plain++) {
        char escaped[sizeof "%00"];
        unsigned char byte = (unsigned char)*plain;
        int length =
            snprintf(escaped, sizeof escaped, strchr(unreserved, *plain) ? "%c" : "%%%02X", byte);
        if (!text_add(text, escaped, (size_t)length))
            return false;
    }
    return true;
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->bytes)
        text->bytes[0] = '\0';
}

void text_release(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

const char *text_string(const struct text *text)
{
    return text->bytes ? text->bytes : "";
}
