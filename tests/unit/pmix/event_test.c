/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the broker's events processes are told, and which processes (P5, P7). */

#include "job.h"

static pmix_status_t code;
static pmix_info_t *info;
static size_t count;

static pmix_status_t tell(struct mcast_pmix *pmix, const char *event, const char *job,
                          uint64_t number)
{
    const struct mcast_event happened = {.seq = 12,
                                         .event = event,
                                         .cluster = job ? "elcap" : NULL,
                                         .job = job,
                                         .number = number,
                                         .detail = "why"};
    return mcast_pmix_event(pmix, &happened, &code, &info, &count);
}

static const pmix_value_t *find(const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i].value;
    }
    fail_msg("there is no %s", key);
    return NULL;
}

UNIT(event__of_a_job_is_for_its_processes)
{
    struct mcast_reservation reservation = job_reservation();
    struct mcast_pmix *pmix = job_host(&reservation, NULL);
    assert_int_equal(tell(pmix, "lost", "f1", 7), PMIX_SUCCESS);
    assert_int_equal(code, PMIX_FABRIC_UPDATE_ENDPOINTS);
    assert_true(find(PMIX_EVENT_NON_DEFAULT)->data.flag);
    assert_int_equal(find(MCAST_PMIX_SEQ)->data.uint64, 12);
    assert_string_equal(find(MCAST_PMIX_EVENT)->data.string, "lost");
    assert_string_equal(find(PMIX_EVENT_TEXT_MESSAGE)->data.string, "why");
    const pmix_data_array_t *range = find(PMIX_EVENT_CUSTOM_RANGE)->data.darray;
    const pmix_proc_t *proc = range->array;
    assert_int_equal(range->size, 1);
    assert_string_equal(proc->nspace, "job.0");
    assert_int_equal(proc->rank, PMIX_RANK_WILDCARD);
    mcast_pmix_free(info, count);
    assert_int_equal(tell(pmix, "lost", "f1", 6), PMIX_ERR_NOT_FOUND); /* an earlier f1 */
    assert_int_equal(tell(pmix, "lost", "f2", 7), PMIX_ERR_NOT_FOUND);
    assert_int_equal(tell(pmix, "job-fabric", "f1", 7), PMIX_SUCCESS);
    assert_int_equal(code, PMIX_FABRIC_UPDATED);
    mcast_pmix_free(info, count);
    assert_int_equal(tell(pmix, "job-fabric", "f2", 7), PMIX_ERR_NOT_FOUND);
    assert_int_equal(tell(pmix, "released", "f1", 7), PMIX_ERR_NOT_SUPPORTED);
    assert_int_equal(tell(pmix, "of a later broker", "f1", 7), PMIX_ERR_NOT_SUPPORTED);
    mcast_pmix_destroy(pmix);
}

UNIT(event__of_the_fabric_is_for_all)
{
    struct mcast_reservation reservation = job_reservation();
    struct mcast_pmix *pmix = job_host(&reservation, NULL);
    size_t size;
    pmix_info_t *array = job_array(&reservation, NULL, &size);
    assert_int_equal(mcast_pmix_local_support(pmix, "job.1", array, size, NULL), 0);
    assert_int_equal(mcast_pmix_local_support(pmix, "job.1", array, size, NULL), 0); /* anew */
    mcast_pmix_free(array, size);
    assert_int_equal(tell(pmix, "link-down", NULL, 0), PMIX_SUCCESS);
    assert_int_equal(code, PMIX_FABRIC_UPDATE_PENDING);
    const pmix_data_array_t *range = find(PMIX_EVENT_CUSTOM_RANGE)->data.darray;
    const pmix_proc_t *procs = range->array;
    assert_int_equal(range->size, 2);
    assert_string_not_equal(procs[0].nspace, procs[1].nspace);
    mcast_pmix_free(info, count);
    assert_int_equal(tell(pmix, "link-up", NULL, 0), PMIX_SUCCESS);
    assert_int_equal(code, PMIX_FABRIC_UPDATED);
    mcast_pmix_free(info, count);
    mcast_pmix_forget(pmix, "job.0");
    mcast_pmix_forget(pmix, "job.1");
    assert_int_equal(tell(pmix, "link-up", NULL, 0), PMIX_ERR_NOT_FOUND);
    mcast_pmix_destroy(pmix);
}

UNIT_RUN(NULL, NULL)
