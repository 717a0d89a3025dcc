/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a sync (broker/http/api/bodies/bodies.h): the whole input. It has a JSON reader of
 * its own, so what that takes and understands is compared with jansson's. */

#include "broker/http/api/bodies/bodies.h"
#include "base/names.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Whether jansson reads the same ids from it. */
static void check_taken(const struct sync_body *body, const json_t *root)
{
    const json_t *active = json_object_get(root, "active");
    FUZZ_CHECK(json_is_object(root) && json_object_size(root) == 1);
    FUZZ_CHECK(json_is_array(active) && json_array_size(active) == body->count);
    for (size_t i = 0; i < body->count; i++) {
        const char *id = json_string_value(json_array_get(active, i));
        FUZZ_CHECK(job_id_valid(body->active[i]));
        FUZZ_CHECK(id && strcmp(id, body->active[i]) == 0);
    }
}

/* A body that is all that it should be must not be refused. */
static bool is_sync(const json_t *root)
{
    const json_t *active = json_object_get(root, "active");
    if (!json_is_object(root) || json_object_size(root) != 1 || !json_is_array(active))
        return false;
    for (size_t i = 0; i < json_array_size(active); i++) {
        const json_t *id = json_array_get(active, i);
        if (!json_is_string(id) || !job_id_valid(json_string_value(id)))
            return false;
    }
    return true;
}

void fuzz_one(struct fuzz_input *in)
{
    struct sync_body body;
    struct problem problem = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    json_t *root = json_loadb(length > 0 ? bytes : "", length, JSON_REJECT_DUPLICATES, NULL);
    /* jansson lets a NUL pass between values. */
    bool good = json_is_object(root) && !memchr(bytes, '\0', length);
    if (sync_body_parse(bytes, length, &body, &problem) == 0) {
        check_taken(&body, root);
        sync_body_release(&body);
    } else {
        FUZZ_CHECK(problem.status == 422 || (problem.status == 400 && !good));
        FUZZ_CHECK(problem.detail[0] != '\0' && !body.active && !is_sync(root));
    }
    json_decref(root);
    free(bytes);
}
