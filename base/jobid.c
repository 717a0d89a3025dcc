/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jobid.h"

#include <string.h>

static const char hook[] = "\xc6\x92"; /* ƒ, U+0192, in UTF-8 */

static bool is_hooked(const char *text)
{
    return strncmp(text, hook, sizeof hook - 1) == 0;
}

bool jobid_plain(const char *given, char *out, size_t size)
{
    bool hooked = is_hooked(given);
    if (hooked)
        given++; /* its second byte is where the f goes */
    size_t length = strlen(given);
    if (length >= size)
        return false;
    memmove(out, given, length + 1);
    if (hooked)
        out[0] = 'f';
    return true;
}

bool jobid_plain_path(const char *given, char *out, size_t size)
{
    size_t length = 0;
    for (bool begins = true; *given; begins = out[length++] == '/') {
        bool hooked = begins && is_hooked(given);
        if (length + 1 >= size)
            return false;
        out[length] = hooked ? 'f' : *given;
        given += hooked ? sizeof hook - 1 : 1;
    }
    if (length >= size)
        return false;
    out[length] = '\0';
    return true;
}
