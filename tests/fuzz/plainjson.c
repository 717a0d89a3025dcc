/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is read faster where it is plain (state/plainjson.h): jansson reads the same. */

#include "state/plainjson.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

void fuzz_one(struct fuzz_input *in)
{
    size_t length;
    char *text = fuzz_bytes(in, &length);
    json_t *read = plainjson_load(text, length);
    json_t *expected = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_CHECK((read != NULL) == json_is_object(expected));
    FUZZ_CHECK(!read || json_equal(read, expected));
    json_decref(read);
    json_decref(expected);
    free(text);
}
