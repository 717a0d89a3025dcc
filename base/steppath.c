/* SPDX-License-Identifier: Apache-2.0 */
#include "base/steppath.h"

#include <string.h>

/* The part that begins at text; *end is set to what comes after it. */
static int check_part(const char *text, const char **end, struct error *err)
{
    const char *at = text;
    while (job_char(*at))
        at++;
    *end = at;
    if (*at != '\0' && *at != '/')
        return error_set(err, ERROR_INVALID,
                         "byte 0x%02x has no place in a step: its parts are letters and digits of "
                         "ASCII and . _ : @ + -, with / between them",
                         (unsigned)(unsigned char)*at);
    if (at == text)
        return error_set(err, ERROR_INVALID,
                         "a part of the step is empty: no // and no / at its end");
    if ((at - text == 1 && text[0] == '.') || (at - text == 2 && text[0] == '.' && text[1] == '.'))
        return error_set(err, ERROR_INVALID, "a part of the step is . or .., which names no step");
    return 0;
}

int steppath_check(const char *step, struct error *err)
{
    if (step[0] == '\0')
        return error_set(err, ERROR_INVALID, "the step is empty");
    if (strnlen(step, STEP_ID_MAX + 1) > STEP_ID_MAX)
        return error_set(err, ERROR_INVALID, "the step is longer than %d bytes", STEP_ID_MAX);
    bool path = step[0] == '/';
    const char *at = path ? step + 1 : step;
    for (;;) {
        int code = check_part(at, &at, err);
        if (code < 0 || *at == '\0')
            return code;
        if (!path)
            return error_set(err, ERROR_INVALID,
                             "a step of several parts is a path and begins with /");
        at++;
    }
}

bool steppath_within(const char *step, const char *scope)
{
    if (!steppath_valid(step) || !steppath_valid(scope))
        return false;
    size_t length = strlen(scope);
    /* A part alone has no slash in it, so it can only be the whole of what begins with it. */
    return strncmp(step, scope, length) == 0 && (step[length] == '\0' || step[length] == '/');
}
