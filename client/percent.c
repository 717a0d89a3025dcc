#include "client/percent.h"

#include <stdio.h>
#include <string.h>

static const char unreserved[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

bool percent_add(struct text *text, const char *plain)
{
    while (*plain) {
        char escaped[sizeof("%00")];
        size_t as_it_is = strspn(plain, unreserved);
        if (!text_add(text, plain, as_it_is))
            return false;
        plain += as_it_is;
        if (!*plain)
            break;
        snprintf(escaped, sizeof(escaped), "%%%02X", (unsigned)(unsigned char)*plain++);
        if (!text_add(text, escaped, sizeof(escaped) - 1))
            return false;
    }
    return true;
}
