/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the broker which jobs of a cluster are active. */

#include "client/calls/field.h"
#include "client/fault.h"
#include "client/handle.h"

#define AT(member) offsetof(struct mcast_sync_result, member)

static const struct field counts[] = {
    {"active", FIELD_UINT64, FIELD_REQUIRED, AT(active)},
    {"confirmed", FIELD_UINT64, FIELD_REQUIRED, AT(confirmed)},
    {"suspect_count", FIELD_UINT64, FIELD_OPTIONAL, AT(suspect_count)},
    {"released_count", FIELD_UINT64, FIELD_OPTIONAL, AT(released_count)},
    {"unknown_count", FIELD_UINT64, FIELD_OPTIONAL, AT(unknown_count)},
};

static int read_sync(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    json_t *root = NULL;
    int rc = field_parse(text_string(&answer->body), answer->body.length, &root, error);
    if (rc < 0)
        return rc;
    struct mcast_sync_result *seen = document_create(sizeof(*seen), root);
    if (!seen)
        return fault_nomem(error);
    result->seen.sync = seen;
    if ((rc = FIELDS_READ(root, counts, seen, error)) < 0 ||
        (rc = document_words(seen, root, "suspect", &seen->suspect, error)) < 0 ||
        (rc = document_words(seen, root, "released", &seen->released, error)) < 0)
        return rc;
    return document_words(seen, root, "unknown", &seen->unknown, error);
}

static struct call make_sync(const char *cluster, const char *const *jobs, size_t job_count,
                             struct mcast_error *error)
{
    struct call call = {.rc = names_check_cluster(cluster, error)};
    json_t *list = json_array();
    for (size_t i = 0; call.rc == 0 && i < job_count; i++) {
        call.rc = names_check_job(jobs[i], error);
        if (call.rc == 0 && json_array_append_new(list, json_string(jobs[i])) < 0)
            call.rc = fault_nomem(error);
    }
    call_set(&call, "POST", read_sync, error, "/v1/clusters/%s/sync", cluster);
    call_set_body(&call, json_pack("{s:o}", "active", list), "the jobs' names are", error);
    return call;
}

int mcast_sync(struct mcast *handle, const char *cluster, const char *const *jobs, size_t job_count,
               struct mcast_sync_result **out, struct mcast_error *error)
{
    return RUN_FOR(handle, make_sync(cluster, jobs, job_count, error), sync, out, error);
}

int mcast_async_sync(struct mcast_async *async, const char *cluster, const char *const *jobs,
                     size_t job_count, mcast_done_fn *done, void *arg, uint64_t *request,
                     struct mcast_error *error)
{
    return async_begin(async, make_sync(cluster, jobs, job_count, error), done, arg, request,
                       error);
}

void mcast_sync_result_free(struct mcast_sync_result *result)
{
    document_free(result);
}

char *mcast_sync_result_json(const struct mcast_sync_result *result, unsigned flags)
{
    return field_json(document_root(result), flags);
}
