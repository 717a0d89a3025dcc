#include "cli/jobid.h"

#include <stdio.h>
#include <string.h>

bool jobid_plain(const char *given, char *out, size_t size)
{
    static const char hook[] = "\xc6\x92"; /* ƒ, U+0192, in UTF-8 */
    bool hooked = strncmp(given, hook, strlen(hook)) == 0;
    int length =
        snprintf(out, size, "%s%s", hooked ? "f" : "", given + (hooked ? strlen(hook) : 0));
    return length >= 0 && (size_t)length < size;
}
