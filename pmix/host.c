/* SPDX-License-Identifier: Apache-2.0 */
/* On a node: what a host remembers of the namespaces that it serves. */

#include "pmix/host.h"
#include "pmix/environment.h"
#include "pmix/facts.h"
#include "client/text.h"

#include <pmix.h>

#include <stdlib.h>
#include <string.h>

struct mcast_pmix *mcast_pmix_create(void)
{
    struct mcast_pmix *pmix = calloc(1, sizeof *pmix);
    if (pmix && pthread_mutex_init(&pmix->mutex, NULL) != 0) {
        free(pmix);
        return NULL;
    }
    return pmix;
}

static void free_job(struct job *job)
{
    if (!job)
        return;
    if (job->launch)
        explicit_bzero(job->launch, strlen(job->launch));
    free(job->launch);
    infos_release(&job->facts);
    infos_release(&job->variables);
    free(job);
}

void mcast_pmix_destroy(struct mcast_pmix *pmix)
{
    if (!pmix)
        return;
    while (pmix->jobs) {
        struct job *job = pmix->jobs;
        pmix->jobs = job->next;
        free_job(job);
    }
    pthread_mutex_destroy(&pmix->mutex);
    free(pmix);
}

struct job *host_find(const struct mcast_pmix *pmix, const char *nspace)
{
    struct job *job = pmix->jobs;
    while (job && strcmp(job->nspace, nspace) != 0)
        job = job->next;
    return job;
}

static void remove_job(struct mcast_pmix *pmix, const char *nspace)
{
    struct job **place = &pmix->jobs;
    while (*place && strcmp((*place)->nspace, nspace) != 0)
        place = &(*place)->next;
    if (*place) {
        struct job *job = *place;
        *place = job->next;
        free_job(job);
    }
}

void mcast_pmix_forget(struct mcast_pmix *pmix, const char *nspace)
{
    pthread_mutex_lock(&pmix->mutex);
    remove_job(pmix, nspace);
    pthread_mutex_unlock(&pmix->mutex);
}

static bool take(struct job *job, const pmix_info_t *info)
{
    const char *name, *value;
    if (infos_variable(info, &name, &value))
        return infos_set_variable(&job->variables, name, value);
    if (info->value.type == PMIX_STRING && !info->value.data.string)
        return true;
    if (PMIX_CHECK_KEY(info, MCAST_PMIX_LAUNCH) && info->value.type == PMIX_STRING && !job->launch)
        return (job->launch = strdup(info->value.data.string));
    return !fact_key(info->key) || infos_add_copy(&job->facts, info);
}

int mcast_pmix_local_support(struct mcast_pmix *pmix, const char *nspace, const pmix_info_t info[],
                             size_t ninfo, struct mcast_error *error)
{
    if (!nspace[0] || strlen(nspace) > PMIX_MAX_NSLEN)
        return fault_set(error, MCAST_USAGE, "a namespace has 1 to %d bytes", PMIX_MAX_NSLEN);
    struct job *job = calloc(1, sizeof *job);
    bool fits = job && infos_create(&job->facts, ninfo) &&
                infos_create(&job->variables, ninfo + 2 * ENVIRONMENT_NAMES_MAX);
    for (size_t i = 0; fits && i < ninfo; i++)
        fits = take(job, &info[i]);
    if (!fits || !environment_settle_ca(&job->variables)) {
        free_job(job);
        return fault_nomem(error);
    }
    strcpy(job->nspace, nspace);
    pthread_mutex_lock(&pmix->mutex);
    remove_job(pmix, nspace);
    job->next = pmix->jobs;
    pmix->jobs = job;
    pthread_mutex_unlock(&pmix->mutex);
    return 0;
}

const char *mcast_pmix_launch(struct mcast_pmix *pmix, const char *nspace)
{
    pthread_mutex_lock(&pmix->mutex);
    const struct job *job = host_find(pmix, nspace);
    const char *launch = job ? job->launch : NULL;
    pthread_mutex_unlock(&pmix->mutex);
    return launch;
}

int mcast_pmix_node_env(struct mcast_pmix *pmix, const char *nspace, const char *json,
                        size_t length, struct mcast_error *error)
{
    pthread_mutex_lock(&pmix->mutex);
    struct job *job = host_find(pmix, nspace);
    int rc = job ? environment_read(&job->variables, json, length, error)
                 : fault_set(error, MCAST_NOT_FOUND,
                             "namespace %.100s is not known; call mcast_pmix_local_support before",
                             nspace);
    if (rc == 0)
        rc = environment_settle(&job->variables, infos_string(&job->facts, MCAST_PMIX_STEP), error);
    pthread_mutex_unlock(&pmix->mutex);
    return rc;
}

pmix_status_t mcast_pmix_setup_fork(struct mcast_pmix *pmix, const pmix_proc_t *proc, char ***env)
{
    pthread_mutex_lock(&pmix->mutex);
    const struct job *job = host_find(pmix, proc->nspace);
    const pmix_status_t rc = job ? environment_apply(&job->variables, env) : PMIX_ERR_NOT_FOUND;
    pthread_mutex_unlock(&pmix->mutex);
    return rc;
}

/* OpenPMIx 5 and 6 number keys that are not the standard's in each process by itself, and processes
 * look them up by number in memory that they share with the server (gds/shmem2): they would read
 * the value of another key. */
static bool library_mixes_keys(void)
{
    const char *number = strpbrk(PMIx_Get_version(), "0123456789"); /* "OpenPMIx 5.0.7 (…)" */
    const char *store = getenv("PMIX_MCA_gds");
    const int major = number ? atoi(number) : 0;
    return (major == 5 || major == 6) && (!store || strcmp(store, "hash") != 0);
}

static pmix_status_t copy_facts(const struct job *job, struct infos *infos)
{
    bool fits = infos_create(infos, job->facts.count);
    for (size_t i = 0; fits && i < job->facts.count; i++)
        fits = infos_add_copy(infos, &job->facts.at[i]);
    if (!fits)
        infos_release(infos);
    return fits ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t mcast_pmix_job_info(struct mcast_pmix *pmix, const char *nspace, pmix_info_t **info,
                                  size_t *ninfo)
{
    struct infos infos = {0};
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    pthread_mutex_lock(&pmix->mutex);
    const struct job *job = host_find(pmix, nspace);
    if (job)
        rc = library_mixes_keys() ? PMIX_ERR_NOT_SUPPORTED : copy_facts(job, &infos);
    pthread_mutex_unlock(&pmix->mutex);
    *info = infos.at;
    *ninfo = infos.count;
    return rc;
}
