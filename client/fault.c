#include "client/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int set(struct mcast_error *error, int code, const char *word, const char *format,
               va_list args)
{
    if (!error)
        return code;
    memset(error, 0, sizeof(*error));
    error->code = code;
    snprintf(error->word, sizeof(error->word), "%s", word);
    vsnprintf(error->text, sizeof(error->text), format, args);
    for (char *c = error->text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    }
    return code;
}

int fault_set(struct mcast_error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(error, code, "", format, args);
    va_end(args);
    return code;
}

int fault_set_word(struct mcast_error *error, int code, const char *word, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(error, code, word, format, args);
    va_end(args);
    return code;
}

int fault_nomem(struct mcast_error *error)
{
    return fault_set(error, MCAST_NOMEM, "memory is exhausted");
}
