/* SPDX-License-Identifier: Apache-2.0 */
/* The mock fabric manager's journal, line by line (mock-fm/objects/objects.h): a line changes the
 * objects, contradicts them or is none; what they hold can be recounted as changes. */

#include "mock-fm/objects/objects.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check_line(struct objects *objects, const char *line)
{
    json_t *change = json_loads(line, 0, NULL);
    int code = objects_apply(objects, change);
    FUZZ_CHECK(code == 0 || code == -EINVAL);
    json_decref(change);
}

static void check_copy(const struct objects *objects)
{
    struct objects *copy = objects_copy(objects);
    struct objects_totals totals = objects->totals, copied = copy->totals;
    FUZZ_CHECK(totals.jobs == copied.jobs && totals.trees == copied.trees &&
               totals.reserved == copied.reserved && totals.last_serial == copied.last_serial);
    objects_destroy(copy);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct objects *objects; /* always the same, emptied: they are large */
    if (!objects)
        objects = objects_create(64, true);
    check_line(objects, "{\"op\":\"reset\"}");
    while (in->left > 0) {
        char *line = fuzz_line(in);
        check_line(objects, line);
        free(line);
    }
    check_copy(objects);
}
