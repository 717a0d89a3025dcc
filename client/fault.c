/* SPDX-License-Identifier: Apache-2.0 */
#include "client/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fault_set_word(struct mcast_error *error, int code, const char *word, const char *format, ...)
{
    va_list args;
    if (!error)
        return code;
    memset(error, 0, sizeof(*error));
    error->code = code;
    snprintf(error->word, sizeof(error->word), "%s", word);
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    for (char *c = error->text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    }
    return code;
}

int fault_nomem(struct mcast_error *error)
{
    return fault_set(error, MCAST_NOMEM, "memory is exhausted");
}
