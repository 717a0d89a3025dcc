/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jobid.h"

#include <string.h>

static const char hook[] = "\xc6\x92"; /* ƒ, U+0192, in UTF-8 */

bool jobid_plain(const char *given, char *out, size_t size)
{
    size_t length = 0;
    for (bool begins = true; *given; begins = out[length++] == '/') {
        bool hooked = begins && strncmp(given, hook, sizeof hook - 1) == 0;
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
