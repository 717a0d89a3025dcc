/* SPDX-License-Identifier: Apache-2.0 */
/* What clients ask the host for. Requests are answered from memory, so at once. */

#include "pmix/host.h"
#include "pmix/facts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Of each interconnect that has a fabric. */
static const struct {
    const char *interconnect, *vendor, *fabric;
} fabrics[] = {{"slingshot", "HPE", "Slingshot"}, {"omnipath", "Cornelis Networks", "Omni-Path"}};

static void release(void *data)
{
    struct infos *infos = data;
    infos_release(infos);
    free(infos);
}

/* Hands the answer over, when rc is PMIX_SUCCESS; frees it otherwise. */
static pmix_status_t answer(pmix_status_t rc, struct infos *infos, pmix_info_cbfunc_t cbfunc,
                            void *cbdata)
{
    struct infos *kept = rc == PMIX_SUCCESS ? malloc(sizeof *kept) : NULL;
    if (!kept) {
        infos_release(infos);
        return rc == PMIX_SUCCESS ? PMIX_ERR_NOMEM : rc;
    }
    *kept = *infos;
    cbfunc(PMIX_SUCCESS, kept->at, kept->count, cbdata, release, kept);
    return PMIX_SUCCESS;
}

static const char *qualified_nspace(const pmix_query_t *query)
{
    for (size_t i = 0; i < query->nqual; i++) {
        if (PMIX_CHECK_KEY(&query->qualifiers[i], PMIX_NSPACE) &&
            query->qualifiers[i].value.type == PMIX_STRING)
            return query->qualifiers[i].value.data.string;
    }
    return NULL;
}

/* Of a launch document and its like not even that they are there. */
static pmix_status_t collect(const struct mcast_pmix *pmix, const pmix_query_t *query,
                             struct infos *infos)
{
    const char *nspace = qualified_nspace(query);
    const struct job *job = nspace ? host_find(pmix, nspace) : NULL;
    for (char *const *key = query->keys; job && *key; key++) {
        for (size_t i = 0; i < job->facts.count; i++) {
            if (PMIX_CHECK_KEY(&job->facts.at[i], *key) &&
                !infos_add_copy(infos, &job->facts.at[i]))
                return PMIX_ERR_NOMEM;
        }
    }
    return nspace ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* How many keys there are; 0: one of them is not ours. */
static size_t count_keys(const pmix_query_t queries[], size_t nqueries)
{
    size_t count = 0;
    for (size_t i = 0; i < nqueries; i++) {
        for (char *const *key = queries[i].keys; key && *key; key++, count++) {
            if (strncmp(*key, "mcast.", 6) != 0)
                return 0;
        }
    }
    return count;
}

pmix_status_t mcast_pmix_query(struct mcast_pmix *pmix, const pmix_query_t queries[],
                               size_t nqueries, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct infos infos;
    const size_t keys = count_keys(queries, nqueries);
    if (keys == 0)
        return PMIX_ERR_NOT_SUPPORTED;
    if (!infos_create(&infos, keys))
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = PMIX_SUCCESS;
    pthread_mutex_lock(&pmix->mutex);
    for (size_t i = 0; rc == PMIX_SUCCESS && i < nqueries; i++)
        rc = queries[i].keys ? collect(pmix, &queries[i], &infos) : PMIX_SUCCESS;
    pthread_mutex_unlock(&pmix->mutex);
    if (rc == PMIX_SUCCESS && infos.count == 0)
        rc = PMIX_ERR_NOT_FOUND;
    return answer(rc, &infos, cbfunc, cbdata);
}

/* Which row of fabrics a job has; -1: none. */
static int fabric_of(const struct job *job)
{
    const char *interconnect = job ? infos_string(&job->facts, MCAST_PMIX_INTERCONNECT) : NULL;
    for (int i = 0; interconnect && i < (int)(sizeof fabrics / sizeof *fabrics); i++) {
        if (strcmp(interconnect, fabrics[i].interconnect) == 0)
            return i;
    }
    return -1;
}

/* Whether an info with this key is there that is another text. */
static bool differs(const pmix_info_t info[], size_t ninfo, const char *key, const char *text)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], key) &&
            (info[i].value.type != PMIX_STRING || !info[i].value.data.string ||
             strcasecmp(info[i].value.data.string, text) != 0))
            return true;
    }
    return false;
}

static pmix_status_t describe(const struct job *job, int fabric, struct infos *infos)
{
    bool fits = infos_create(infos, job->facts.count + 2) &&
                infos_add(infos, PMIX_FABRIC_VENDOR, fabrics[fabric].vendor, PMIX_STRING) &&
                infos_add(infos, PMIX_FABRIC_IDENTIFIER, fabrics[fabric].fabric, PMIX_STRING);
    for (size_t i = 0; fits && i < job->facts.count; i++)
        fits = infos_add_copy(infos, &job->facts.at[i]);
    return fits ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t mcast_pmix_fabric(struct mcast_pmix *pmix, const pmix_proc_t *client,
                                pmix_fabric_operation_t operation, const pmix_info_t directives[],
                                size_t ndirs, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct infos infos = {0};
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    if (operation != PMIX_FABRIC_REQUEST_INFO && operation != PMIX_FABRIC_UPDATE_INFO)
        return rc;
    pthread_mutex_lock(&pmix->mutex);
    const struct job *job = host_find(pmix, client->nspace);
    const int fabric = fabric_of(job);
    if (fabric >= 0 && !differs(directives, ndirs, PMIX_FABRIC_VENDOR, fabrics[fabric].vendor) &&
        !differs(directives, ndirs, PMIX_FABRIC_IDENTIFIER, fabrics[fabric].fabric))
        rc = describe(job, fabric, &infos);
    pthread_mutex_unlock(&pmix->mutex);
    return answer(rc, &infos, cbfunc, cbdata);
}

/* What is asked for as PMIX_ALLOC_FABRIC, and its id; NULL: nothing. */
static const char *find_request(const pmix_info_t data[], size_t ndata,
                                const pmix_data_array_t **request)
{
    for (size_t i = 0; i < ndata; i++) {
        const pmix_data_array_t *array = data[i].value.data.darray;
        if (!PMIX_CHECK_KEY(&data[i], PMIX_ALLOC_FABRIC) || data[i].value.type != PMIX_DATA_ARRAY ||
            !array || array->type != PMIX_INFO)
            continue;
        const struct infos view = {.at = array->array, .count = array->size};
        *request = array;
        return infos_string(&view, PMIX_ALLOC_FABRIC_ID);
    }
    return NULL;
}

static pmix_status_t allocation(const struct job *job, const char *id, struct infos *infos)
{
    struct infos inner = {0};
    const char *vnis = infos_string(&job->facts, MCAST_PMIX_VNIS);
    const char *classes = infos_string(&job->facts, MCAST_PMIX_CLASSES);
    const char *interconnect = infos_string(&job->facts, MCAST_PMIX_INTERCONNECT);
    bool fits = infos_create(infos, 1) && infos_create(&inner, 3) &&
                infos_add(&inner, PMIX_ALLOC_FABRIC_TYPE, interconnect, PMIX_STRING) &&
                (!classes || infos_add(&inner, PMIX_ALLOC_FABRIC_QOS, classes, PMIX_STRING)) &&
                (!vnis || infos_add(&inner, MCAST_PMIX_VNIS, vnis, PMIX_STRING));
    pmix_data_array_t array = {.type = PMIX_INFO, .size = inner.count, .array = inner.at};
    fits = fits && infos_add(infos, id, &array, PMIX_DATA_ARRAY);
    infos_release(&inner);
    return fits ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t mcast_pmix_allocate(struct mcast_pmix *pmix, const pmix_proc_t *client,
                                  pmix_alloc_directive_t directive, const pmix_info_t data[],
                                  size_t ndata, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct infos infos = {0};
    const pmix_data_array_t *request;
    const char *id = find_request(data, ndata, &request);
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    if (!id || directive == PMIX_ALLOC_RELEASE)
        return rc;
    pthread_mutex_lock(&pmix->mutex);
    const struct job *job = host_find(pmix, client->nspace);
    const int fabric = fabric_of(job);
    if (fabric >= 0 && !differs(request->array, request->size, PMIX_ALLOC_FABRIC_TYPE,
                                fabrics[fabric].interconnect))
        rc = allocation(job, id, &infos);
    pthread_mutex_unlock(&pmix->mutex);
    return answer(rc, &infos, cbfunc, cbdata);
}
