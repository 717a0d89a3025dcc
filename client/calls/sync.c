/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the broker which jobs of a cluster are active. */

#include "client/calls/field.h"
#include "client/text.h"
#include "client/handle.h"

#define AT(member) offsetof(struct mcast_sync_result, member)

static const struct field of_sync[] = {
    {"active", FIELD_UINT64, FIELD_REQUIRED, AT(active)},
    {"confirmed", FIELD_UINT64, FIELD_REQUIRED, AT(confirmed)},
    {"suspect_count", FIELD_UINT64, FIELD_OPTIONAL, AT(suspect_count)},
    {"released_count", FIELD_UINT64, FIELD_OPTIONAL, AT(released_count)},
    {"unknown_count", FIELD_UINT64, FIELD_OPTIONAL, AT(unknown_count)},
    {"suspect", FIELD_WORDS, FIELD_OPTIONAL, AT(suspect)},
    {"released", FIELD_WORDS, FIELD_OPTIONAL, AT(released)},
    {"unknown", FIELD_WORDS, FIELD_OPTIONAL, AT(unknown)},
};

static int read_sync(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    struct mcast_sync_result *seen = call_document(answer, sizeof(*seen), error);
    result->seen.sync = seen;
    return seen ? FIELDS_READ(document_root(seen), of_sync, seen, error) : error->code;
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
