/* SPDX-License-Identifier: Apache-2.0 */
/* What list_command prints (broker/jobs/joblines.h): a byte says how it is cut into pieces, then it
 * comes. */

#include "broker/jobs/joblines.h"
#include "base/names.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* In pieces of size bytes; 0: in one. */
static int take(struct joblines *lines, const char *bytes, size_t length, size_t size,
                struct error *err)
{
    int rc = 0;
    if (size == 0)
        size = length;
    for (size_t at = 0; rc == 0 && at < length; at += size)
        rc = joblines_add(lines, bytes + at, length - at < size ? length - at : size, err);
    return rc == 0 ? joblines_end(lines, err) : rc;
}

/* With a NUL behind it; strndup would look for one. */
static char *copy_of(const char *bytes, size_t length)
{
    char *copy = calloc(1, length + 1);
    memcpy(copy, bytes, length);
    return copy;
}

/* By hand: the id in a line, "" when there is none. */
static char *id_of(const char *line, size_t length)
{
    static const char hook[] = "\xc6\x92";
    if (length > 0 && line[length - 1] == '\r')
        length--;
    while (length > 0 && strchr(" \t", line[length - 1]))
        length--;
    while (length > 0 && strchr(" \t", *line))
        line++, length--;
    char *id = copy_of(line, length);
    if (strncmp(id, hook, 2) == 0) {
        memmove(id, id + 1, length);
        *id = 'f';
    }
    return id;
}

/* Hexadecimal, and in fours with dots between: Flux's other forms, under which no job is. */
static bool only_flux_has(const char *id)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *fours = strncmp(id, "job.", 4) == 0 ? id + 4 : id;
    if (strncmp(id, "0x", 2) == 0)
        return id[2] != '\0' && id[2 + strspn(id + 2, digits)] == '\0';
    for (int i = 0; i < 4; i++, fours += 5)
        if (strspn(fours, digits) != 4 || fours[4] != (i < 3 ? '.' : '\0'))
            return false;
    return true;
}

static void check_ids(const struct joblines *lines, const char *bytes, size_t length)
{
    uint32_t found = 0;
    FUZZ_CHECK(!memchr(bytes, '\0', length));
    for (const char *at = bytes, *end = bytes + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        char *id = id_of(at, size);
        if (*id != '\0') {
            FUZZ_CHECK(found < lines->count && strcmp(lines->ids[found], id) == 0);
            FUZZ_CHECK(job_id_valid(id) && !only_flux_has(id));
            found++;
        }
        at += size + 1;
        free(id);
    }
    FUZZ_CHECK(found == lines->count);
}

void fuzz_one(struct fuzz_input *in)
{
    struct joblines whole = {0}, pieces = {0};
    struct error err = {0}, other = {0};
    size_t length, size = fuzz_byte(in);
    char *bytes = fuzz_bytes(in, &length);
    int rc = take(&whole, bytes, length, 0, &err);
    FUZZ_CHECK(take(&pieces, bytes, length, size, &other) == rc);
    if (rc == 0) {
        check_ids(&whole, bytes, length);
        check_ids(&pieces, bytes, length);
    } else {
        FUZZ_CHECK(rc == ERROR_INVALID && err.code == rc && err.text[0] != '\0');
        FUZZ_CHECK(fuzz_is_line(err.text) && strcmp(err.text, other.text) == 0);
    }
    joblines_release(&whole);
    joblines_release(&pieces);
    free(bytes);
}
