/* SPDX-License-Identifier: Apache-2.0 */
/* Job ids from a file or a pipe, one a line (mcastctl sync; cli/idlist.h): the whole input. */

#include "cli/idlist.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { ID_MAX = 159 };

/* With a NUL behind it; strndup would look for one. */
static char *copy_of(const char *bytes, size_t length)
{
    char *copy = calloc(1, length + 1);
    memcpy(copy, bytes, length);
    return copy;
}

/* By hand: the id that text holds, NULL for none. */
static char *id_of(const char *text, size_t length)
{
    static const char white[] = " \t\r\n";
    while (length > 0 && memchr(white, text[length - 1], 4))
        length--;
    while (length > 0 && memchr(white, *text, 4))
        text++, length--;
    if (length == 0)
        return NULL;
    bool hooked = length >= 2 && memcmp(text, "\xc6\x92", 2) == 0;
    char *id = copy_of(text + hooked, length - hooked);
    if (hooked)
        *id = 'f';
    return id;
}

/* Line by line: all that was read is as it should be, and it ended where it had to. */
static void check(const struct idlist *list, int rc, const char *bytes, size_t length)
{
    size_t found = 0;
    bool refused = false;
    const char *at = bytes, *end = bytes + length;
    for (; at < end && !refused; at++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        char *id = id_of(at, size);
        refused = memchr(at, '\0', size) || (id && strlen(id) > ID_MAX);
        if (id && !refused)
            FUZZ_CHECK(found < list->count && strcmp(list->ids[found++], id) == 0);
        at += size;
        free(id);
    }
    FUZZ_CHECK(found == list->count && refused == (rc != 0));
}

void fuzz_one(struct fuzz_input *in)
{
    struct idlist list = {0};
    struct error err = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    FILE *file = length > 0 ? fmemopen(bytes, length, "r") : NULL;
    if (file) {
        int rc = idlist_read(&list, file, &err);
        check(&list, rc, bytes, length);
        idlist_release(&list);
        (void)fclose(file);
    }
    free(bytes);
}
