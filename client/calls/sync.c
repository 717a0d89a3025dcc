/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the broker which jobs of a cluster are active. */

#include "client/fault.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "client/calls/names.h"

#include <stdlib.h>

/* What the caller sees comes first, so that its address is the whole's. */
struct whole {
    struct mcast_sync_result seen;
    json_t *root;
};

static int encode(const char *const *jobs, size_t count, json_t **out, struct mcast_error *error)
{
    json_t *list = json_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = names_check_job(jobs[i], error);
        if (rc == 0 && json_array_append_new(list, json_string(jobs[i])) < 0)
            rc = fault_nomem(error);
    }
    json_t *body = json_pack("{s:o}", "active", list);
    if (rc == 0 && !body)
        rc = fault_nomem(error);
    if (rc == 0)
        *out = body;
    else
        json_decref(body);
    return rc;
}

static int decode(json_t *root, struct mcast_sync_result **out, struct mcast_error *error)
{
    struct whole *whole = calloc(1, sizeof(*whole));
    int rc;
    if (!whole) {
        json_decref(root);
        return fault_nomem(error);
    }
    struct mcast_sync_result *seen = &whole->seen;
    whole->root = root;
    if ((rc = field_uint64(root, "active", FIELD_REQUIRED, UINT64_MAX, &seen->active, error)) < 0 ||
        (rc = field_uint64(root, "confirmed", FIELD_REQUIRED, UINT64_MAX, &seen->confirmed,
                           error)) < 0 ||
        (rc = field_uint64(root, "suspect_count", FIELD_OPTIONAL, UINT64_MAX, &seen->suspect_count,
                           error)) < 0 ||
        (rc = field_uint64(root, "released_count", FIELD_OPTIONAL, UINT64_MAX,
                           &seen->released_count, error)) < 0 ||
        (rc = field_uint64(root, "unknown_count", FIELD_OPTIONAL, UINT64_MAX, &seen->unknown_count,
                           error)) < 0 ||
        (rc = field_words(root, "suspect", &seen->suspect, error)) < 0 ||
        (rc = field_words(root, "released", &seen->released, error)) < 0 ||
        (rc = field_words(root, "unknown", &seen->unknown, error)) < 0) {
        mcast_sync_result_free(seen);
        return rc;
    }
    *out = seen;
    return 0;
}

static int read_sync(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    json_t *root = NULL;
    int rc = field_parse(text_string(&answer->body), answer->body.length, &root, error);
    return rc < 0 ? rc : decode(root, &result->sync, error);
}

static int make_sync(struct call *call, const char *cluster, const char *const *jobs,
                     size_t job_count, struct mcast_error *error)
{
    json_t *body = NULL;
    int rc;
    if ((rc = names_check_cluster(cluster, error)) < 0 ||
        (rc = call_set(call, "POST", read_sync, error, "/v1/clusters/%s/sync", cluster)) < 0 ||
        (rc = encode(jobs, job_count, &body, error)) < 0)
        return rc;
    return call_set_body(call, body, "the jobs' names are", error);
}

int mcast_sync(struct mcast *handle, const char *cluster, const char *const *jobs, size_t job_count,
               struct mcast_sync_result **out, struct mcast_error *error)
{
    struct call call = {0};
    struct result result = {0};
    int made = make_sync(&call, cluster, jobs, job_count, error);
    if (!out)
        call.read = NULL;
    int rc = handle_run(handle, &call, made, &result, error);
    if (rc == 0 && out)
        *out = result.sync;
    return rc;
}

int mcast_async_sync(struct mcast_async *async, const char *cluster, const char *const *jobs,
                     size_t job_count, mcast_done_fn *done, void *arg, uint64_t *request,
                     struct mcast_error *error)
{
    struct call call = {0};
    int made = make_sync(&call, cluster, jobs, job_count, error);
    return async_begin(async, &call, made, done, arg, request, error);
}

void mcast_sync_result_free(struct mcast_sync_result *result)
{
    struct whole *whole = (struct whole *)result;
    if (!whole)
        return;
    free((void *)whole->seen.suspect);
    free((void *)whole->seen.released);
    free((void *)whole->seen.unknown);
    json_decref(whole->root);
    free(whole);
}

char *mcast_sync_result_json(const struct mcast_sync_result *result, unsigned flags)
{
    return json_dumps(((const struct whole *)result)->root,
                      flags & MCAST_JSON_INDENT ? JSON_INDENT(2) : JSON_COMPACT);
}
