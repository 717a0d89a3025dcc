/* SPDX-License-Identifier: Apache-2.0 */
/* The mock fabric manager's journal, line by line (mock-fm/objects/change.h): what is understood is
 * written as it was, and changes the objects or contradicts them. */

#include "mock-fm/objects/objects.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check_line(struct objects *objects, const char *line)
{
    struct change_read read, again;
    if (change_decode(line, strlen(line), &read) < 0)
        return;
    char *text = change_encode(&read.change);
    FUZZ_CHECK(text && change_decode(text, strlen(text), &again) == 0);
    char *second = change_encode(&again.change);
    FUZZ_CHECK(second && strcmp(text, second) == 0);
    int code = objects_apply(objects, &read.change);
    FUZZ_CHECK(code == 0 || code == -EINVAL);
    change_release(&again);
    change_release(&read);
    free(second);
    free(text);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct objects *objects; /* always the same, emptied: they are large */
    if ((!objects && !(objects = objects_create(64, true))) ||
        objects_apply(objects, &(struct change){.kind = CHANGE_RESET}) != 0)
        abort();
    while (in->left > 0) {
        char *line = fuzz_line(in);
        check_line(objects, line);
        free(line);
    }
}
