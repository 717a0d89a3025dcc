/* SPDX-License-Identifier: Apache-2.0 */
/* Reserves for a Flux job: reads its R and jobspec on standard input, prints the reservation as
 * JSON, with the job's token: {} for a job that wants none (-o mcast=off), or gets none. On
 * standard error is why, or, when all went well, what everybody may know of the reservation, as
 * JSON.
 *
 * A program, and not mcastctl between other words, because what a user asks for is JSON that a
 * shell cannot take apart safely, and so that all that has to be loaded is loaded while flux is
 * still looking the job up. */

#include "client/mcast.h"
#include "deploy/flux/grant/request.h"
#include "base/jobid.h"
#include "base/text.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_SIZE = 160, RETRY_MAX = 86400, TIMEOUT_MS = 30000 };
#define NOWHERE UINT64_MAX

static const char usage[] =
    "Usage: flux kvs get JOBDIR.R JOBDIR.jobspec | reserve --cluster NAME --job JOB --uid N\n"
    "Prints the reservation of a Flux job as JSON, {} when it wants none; on standard error, its "
    "memo.\n\n"
    "  --cluster NAME   the resource manager's cluster (default: MCAST_CLUSTER)\n"
    "  --job JOB        the job's id, f… or ƒ…\n"
    "  --uid N          its owner\n"
    "  --patience S     ask so many seconds on while the broker is away or says \"not now\"\n"
    "                   (default: 30)\n"
    "  --waits-to FD    say there that it does (default: nowhere)\n\n"
    "Exit codes: 0 done, 1 refused, 2 usage, 4 not now, or no broker that can be trusted.\n";

struct wanted {
    const char *cluster, *job;
    uint64_t uid, retry_s; /* s */
    uint64_t waits_to;     /* a descriptor, or NOWHERE */
};

static bool read_options(struct wanted *wanted, int argc, char **argv)
{
    static const struct option options[] = {
        {"cluster", required_argument, NULL, 'c'},  {"job", required_argument, NULL, 'j'},
        {"uid", required_argument, NULL, 'u'},      {"patience", required_argument, NULL, 'p'},
        {"waits-to", required_argument, NULL, 'w'}, {0},
    };
    int option;
    bool good = true;
    while (good && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'c')
            wanted->cluster = optarg;
        else if (option == 'j')
            wanted->job = optarg;
        else if (option == 'u')
            good = text_number(optarg, 10, UINT32_MAX - 1, &wanted->uid);
        else if (option == 'p')
            good = text_number(optarg, 10, RETRY_MAX, &wanted->retry_s);
        else
            good = option == 'w' && text_number(optarg, 10, INT32_MAX, &wanted->waits_to);
    }
    return good && optind == argc && wanted->job && wanted->uid != UINT32_MAX;
}

static void print_wait(const struct mcast_error *why, void *data)
{
    const struct wanted *wanted = data;
    if (wanted->waits_to != NOWHERE)
        dprintf((int)wanted->waits_to, "mcast: %s waits for up to %" PRIu64 " s: %s\n", wanted->job,
                wanted->retry_s, why->text);
}

/* A broker that is being started anew is worth waiting for: the job would fail otherwise. What was
 * asked and not answered may have been granted; the same again gets the same answer. The first time
 * a launch document is asked for, too. */
static int reserve(struct wanted *wanted, struct mcast_request *request,
                   struct mcast_reservation **out, struct mcast_error *error)
{
    struct mcast *handle = NULL;
    int rc = mcast_open(&handle, NULL, error);
    request->launch = request_launch();
    if (rc == 0 && request->launch) {
        rc = mcast_set_timeout(handle, REQUEST_LAUNCH_MS, error);
        if (rc == 0)
            rc = mcast_reserve(handle, request, out, error);
        if (rc == 0 || !request_fails_for_launch(error))
            goto answered;
        request->launch = NULL;
        rc = mcast_set_timeout(handle, TIMEOUT_MS, error);
    }
    if (rc == 0)
        rc =
            mcast_set_patience(handle, (unsigned)wanted->retry_s * 1000, print_wait, wanted, error);
    if (rc == 0)
        rc = mcast_reserve(handle, request, out, error);
answered:
    mcast_close(handle);
    return rc;
}

static bool print_memo(const char *reservation)
{
    json_t *decoded = json_loads(reservation, 0, NULL);
    json_t *memo = request_memo(decoded);
    bool good = decoded && memo && json_dumpf(memo, stderr, JSON_COMPACT) == 0;
    json_decref(memo);
    json_decref(decoded);
    return good;
}

static int print_reservation(const struct mcast_reservation *reservation)
{
    char *text = mcast_reservation_json(reservation, MCAST_JSON_SECRETS);
    bool good = text && puts(text) >= 0 && fflush(stdout) == 0 && print_memo(text);
    if (!good)
        fputs("the reservation cannot be printed\n", stderr);
    free(text);
    return good ? MCAST_EXIT_OK : MCAST_EXIT_REFUSED;
}

static int ask_broker(struct wanted *wanted, struct mcast_request *asked)
{
    struct mcast_reservation *reservation = NULL;
    struct mcast_error error;
    char job[JOB_SIZE];
    if (!jobid_plain(wanted->job, job, sizeof job)) {
        fputs("the job's id is too long\n", stderr);
        return MCAST_EXIT_USAGE;
    }
    asked->cluster = wanted->cluster;
    asked->job = job;
    asked->uid = (uint32_t)wanted->uid;
    if (reserve(wanted, asked, &reservation, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return (int)mcast_exit_status(&error);
    }
    int status = print_reservation(reservation);
    mcast_reservation_free(reservation);
    return status;
}

int main(int argc, char **argv)
{
    struct wanted wanted = {getenv("MCAST_CLUSTER"), NULL, UINT32_MAX, 30, NOWHERE};
    struct request request;
    struct error err = {0};
    int status;
    if (!read_options(&wanted, argc, argv)) {
        fputs(usage, stderr);
        return MCAST_EXIT_USAGE;
    }
    int rc = request_read(&request, stdin, &err);
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.text);
        status = rc == ERROR_INVALID ? MCAST_EXIT_REFUSED : MCAST_EXIT_USAGE;
    } else {
        status = request.off ? MCAST_EXIT_OK : ask_broker(&wanted, &request.wanted);
    }
    if (request.off || status != MCAST_EXIT_OK)
        puts("{}"); /* Flux takes no empty value for one */
    request_release(&request);
    return status;
}
