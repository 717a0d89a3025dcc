/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        err->code = code;
    }
    return code;
}

int error_prefix(struct error *err, const char *format, ...)
{
    if (!err)
        return ERROR_INVALID;
    char old[ERROR_TEXT_SIZE];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    size_t length = strlen(err->text);
    (void)snprintf(err->text + length, sizeof err->text - length, ": %.*s", (int)sizeof old - 1,
                   old);
    return err->code;
}

const char *error_word(int code)
{
    switch (code) {
    case ERROR_OK:
        return "ok";
#define ERROR_WORD_(name, word, when)                                                              \
    case ERROR_##name:                                                                             \
        return word;
        ERROR_CODES(ERROR_WORD_)
#undef ERROR_WORD_
    default:
        return "unknown";
    }
}
