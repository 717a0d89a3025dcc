/* SPDX-License-Identifier: Apache-2.0 */
/* Names of clusters, jobs and steps (base/names.h), and what the client takes for such ones: four
 * lines: a name at the fabric manager, a cluster, a job, a step. */

#include "client/calls/call.h"
#include "base/names.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_split(const char *name)
{
    char cluster[CLUSTER_NAME_MAX + 1], again[FM_NAME_MAX + 1];
    const char *job = NULL;
    if (!fm_name_split(name, cluster, &job))
        return;
    FUZZ_CHECK(cluster_name_valid(cluster) && job_id_valid(job));
    fm_name_format(again, cluster, job);
    FUZZ_CHECK(strcmp(again, name) == 0);
}

/* B4: the name splits in one way only. */
static void check_format(const char *cluster, const char *job)
{
    char name[FM_NAME_MAX + 1], back[CLUSTER_NAME_MAX + 1];
    const char *job_back = NULL;
    fm_name_format(name, cluster, job);
    FUZZ_CHECK(fm_name_split(name, back, &job_back));
    FUZZ_CHECK(strcmp(back, cluster) == 0 && strcmp(job_back, job) == 0);
    FUZZ_CHECK(name_hash(back, job_back) == name_hash(cluster, job));
}

void fuzz_one(struct fuzz_input *in)
{
    struct mcast_error error;
    char *name = fuzz_line(in), *cluster = fuzz_line(in), *job = fuzz_line(in);
    char *step = fuzz_rest(in);
    check_split(name);
    FUZZ_CHECK(cluster_name_valid(cluster) == (names_check_cluster(cluster, &error) == 0));
    FUZZ_CHECK(job_id_valid(job) == (names_check_job(job, &error) == 0));
    /* The client leaves it to the broker what else is odd about a step. */
    FUZZ_CHECK(!step_id_valid(step) || names_check_step(step, &error) == 0);
    if (cluster_name_valid(cluster) && job_id_valid(job)) {
        check_format(cluster, job);
        FUZZ_CHECK(names_check(cluster, job, &error) == 0);
    }
    if (step_id_valid(step))
        FUZZ_CHECK(!strpbrk(step, " \"\\\n\t") && strlen(step) <= STEP_ID_MAX);
    free(name);
    free(cluster);
    free(job);
    free(step);
}
