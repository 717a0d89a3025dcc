/* SPDX-License-Identifier: Apache-2.0 */
/* tell CLUSTER JOB NUMBER NODE [TRAFFIC]: tells the job manager's plugin that nothing of the job's
 * reservation is left on this node (sum.h). 0: the broker has it; else the node has to report it
 * itself. What mcast-node epilog --reporter runs, as root. */

#include <errno.h>
#include <flux/core.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE, FAILED, USAGE };

/* Longer than the plugin takes. */
static const double answer_s = 30;

static int complain(const char *job, const char *text)
{
    fprintf(stderr, "mcast: %s: the job manager's plugin does not report for this node: %s\n", job,
            text);
    return FAILED;
}

static int tell(flux_t *flux, char **words)
{
    flux_jobid_t id;
    int status = DONE;
    if (flux_job_id_parse(words[2], &id) < 0)
        return complain(words[2], "that is no job of Flux's");
    flux_future_t *answer = flux_rpc_pack(
        flux, "job-manager.mcast.clean", 0, 0, "{s:s s:I s:I s:s s:s}", "cluster", words[1], "id",
        (json_int_t)id, "number", (json_int_t)strtoull(words[3], NULL, 10), "node", words[4],
        "traffic", words[5] ? words[5] : "");
    if (!answer || flux_future_wait_for(answer, answer_s) < 0)
        status = complain(words[2], strerror(errno));
    else if (flux_future_get(answer, NULL) < 0) /* no such service: a site with the scripts */
        status = errno == ENOSYS
                     ? FAILED
                     : complain(words[2], flux_future_error_string(answer) ?: strerror(errno));
    flux_future_destroy(answer);
    return status;
}

int main(int argc, char **argv)
{
    flux_error_t error;
    if (argc != 5 && argc != 6) {
        fputs("Usage: tell CLUSTER JOB NUMBER NODE [TRAFFIC]\n", stderr);
        return USAGE;
    }
    flux_t *flux = flux_open_ex(NULL, 0, &error);
    if (!flux)
        return complain(argv[2], error.text);
    const int status = tell(flux, argv);
    flux_close(flux);
    return status;
}
