/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a job that have multicast trees. */

#include "client/fault.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "client/calls/names.h"

#include <stdlib.h>

enum { TREE_MAX = UINT16_MAX };

/* What the caller sees comes first, so that its address is the whole's. */
struct whole {
    struct mcast_steps seen;
    json_t *root; /* the names live here */
    struct mcast_step *steps;
    uint16_t *trees; /* of all steps, one after the other */
};

/* Writes its trees where they have their place; returns the place after them, NULL after an error.
 */
static uint16_t *decode_step(const json_t *object, struct mcast_step *step, uint16_t *place,
                             struct mcast_error *error)
{
    json_t *trees = NULL;
    if (field_string(object, "step", FIELD_REQUIRED, &step->step, error) < 0 ||
        field_array(object, "trees", &trees, error) < 0)
        return NULL;
    step->trees = place;
    step->tree_count = json_array_size(trees);
    for (size_t i = 0; i < step->tree_count; i++) {
        const json_t *tree = json_array_get(trees, i);
        json_int_t value = json_integer_value(tree);
        if (!json_is_integer(tree) || value < 0 || value > TREE_MAX) {
            field_fault(error, "trees", "not a list of numbers from 0 to 65535");
            return NULL;
        }
        *place++ = (uint16_t)value;
    }
    return place;
}

/* numbers: how many there can be at most. */
static int decode(struct whole *whole, size_t numbers, struct mcast_error *error)
{
    struct mcast_steps *seen = &whole->seen;
    json_t *steps = NULL;
    int rc = field_array(whole->root, "steps", &steps, error);
    if (rc < 0 ||
        (rc = field_uint64(whole->root, "skipped", FIELD_OPTIONAL, UINT64_MAX, &seen->skipped,
                           error)) < 0 ||
        (rc = field_uint64(whole->root, "unreachable", FIELD_OPTIONAL, UINT64_MAX,
                           &seen->unreachable, error)) < 0)
        return rc;
    seen->step_count = json_array_size(steps);
    whole->steps = calloc(seen->step_count + 1, sizeof(*whole->steps));
    whole->trees = calloc(numbers, sizeof(*whole->trees));
    if (!whole->steps || !whole->trees)
        return fault_nomem(error);
    seen->steps = whole->steps;
    uint16_t *place = whole->trees;
    for (size_t i = 0; place && i < seen->step_count; i++)
        place = decode_step(json_array_get(steps, i), &whole->steps[i], place, error);
    return place ? 0 : MCAST_UNCLEAR;
}

static int read_steps(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    struct whole *whole = calloc(1, sizeof(*whole));
    if (!whole)
        return fault_nomem(error);
    result->steps = &whole->seen;
    int rc = field_parse(text_string(&answer->body), answer->body.length, &whole->root, error);
    /* Each has a digit and a comma or bracket. */
    return rc < 0 ? rc : decode(whole, answer->body.length / 2 + 1, error);
}

static int make_steps(struct call *call, const char *cluster, const char *job, unsigned wait_ms,
                      struct mcast_error *error)
{
    call->wait_ms = wait_ms;
    int rc = names_check_wait(wait_ms, error);
    if (rc == 0)
        rc = names_check(cluster, job, error);
    return rc < 0 ? rc
                  : call_set(call, "GET", read_steps, error, NAMES_JOB_PATH "/steps?wait=%ums",
                             cluster, job, wait_ms);
}

int mcast_steps(struct mcast *handle, const char *cluster, const char *job, unsigned wait_ms,
                struct mcast_steps **out, struct mcast_error *error)
{
    struct call call = {0};
    struct result result = {0};
    int made = make_steps(&call, cluster, job, wait_ms, error);
    int rc = handle_run(handle, &call, made, &result, error);
    if (rc == 0)
        *out = result.steps;
    return rc;
}

int mcast_async_steps(struct mcast_async *async, const char *cluster, const char *job,
                      unsigned wait_ms, mcast_done_fn *done, void *arg, uint64_t *request,
                      struct mcast_error *error)
{
    struct call call = {0};
    int made = make_steps(&call, cluster, job, wait_ms, error);
    return async_begin(async, &call, made, done, arg, request, error);
}

void mcast_steps_free(struct mcast_steps *steps)
{
    struct whole *whole = (struct whole *)steps;
    if (!whole)
        return;
    free(whole->steps);
    free(whole->trees);
    json_decref(whole->root);
    free(whole);
}

char *mcast_steps_json(const struct mcast_steps *steps, unsigned flags)
{
    return json_dumps(((const struct whole *)steps)->root,
                      flags & MCAST_JSON_INDENT ? JSON_INDENT(2) : JSON_COMPACT);
}
