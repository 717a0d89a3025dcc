#include "cli/jobid.h"

#include <stdio.h>
#include <string.h>

static const char hook[] = "\xc6\x92"; /* ƒ, U+0192, in UTF-8 */

bool jobid_plain(const char *given, char *out, size_t size)
{
    bool hooked = strncmp(given, hook, strlen(hook)) == 0;
    int length =
        snprintf(out, size, "%s%s", hooked ? "f" : "", given + (hooked ? strlen(hook) : 0));
    return length >= 0 && (size_t)length < size;
}

bool jobid_plain_path(const char *given, char *out, size_t size)
{
    size_t length = 0;
    for (bool begins = true; *given; begins = out[length++] == '/') {
        bool hooked = begins && strncmp(given, hook, strlen(hook)) == 0;
        if (length + 1 >= size)
            return false;
        out[length] = hooked ? 'f' : *given;
        given += hooked ? strlen(hook) : 1;
    }
    if (length >= size)
        return false;
    out[length] = '\0';
    return true;
}
