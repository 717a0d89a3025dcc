/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *format, ...)
{
    if (err != NULL) {
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
    if (err == NULL)
        return ERROR_INVALID;
    char old[ERROR_TEXT_SIZE];
    memcpy(old, err->text, sizeof old);
    old[sizeof old - 1] = '\0';

    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    strncat(err->text, ": ", sizeof err->text - strlen(err->text) - 1);
    strncat(err->text, old, sizeof err->text - strlen(err->text) - 1);
    return err->code;
}

const char *error_word(int code)
{
    switch (code) {
    case ERROR_OK:
        return "ok";
    case ERROR_INVALID:
        return "invalid";
    case ERROR_NOMEM:
        return "out-of-memory";
    case ERROR_IO:
        return "io";
    case ERROR_FULL:
        return "full";
    case ERROR_NOT_LEADER:
        return "not-leader";
    case ERROR_CORRUPT:
        return "corrupt";
    case ERROR_VERSION:
        return "version";
    case ERROR_REFUSED:
        return "refused";
    case ERROR_NOT_FOUND:
        return "not-found";
    default:
        return "unknown";
    }
}
