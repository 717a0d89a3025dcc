/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/joblist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl sync --cluster NAME [--empty] [JOB…]\n"
    "Tells the broker which jobs of a cluster are active, all of them: any other one is released\n"
    "once a second sync, a grace period later, still lacks it. Without arguments the ids are read\n"
    "from standard input, one a line.\n\n"
    "  --empty          an empty list is meant: no job is active. Without it an empty list is\n"
    "                   refused, because a command that failed prints one too\n\n"
    "Example:\n"
    "  # a squeue that fails must not look like one without jobs\n"
    "  jobs=$(squeue -h -a -r -t CF,R,RS,SI,S,ST,SO,CG,RQ -o %A) || exit 1\n"
    "  printf '%s\\n' \"$jobs\" | mcastctl sync --cluster elcap --empty\n";

static int store_sync_option(int option, const char *value, void *data)
{
    (void)value;
    if (option == 'e')
        *(bool *)data = true;
    return COMMAND_GO_ON;
}

static int complain(int rc, size_t line)
{
    switch (rc) {
    case JOBLIST_LONG:
        fprintf(stderr, "mcastctl: the job id at %zu is too long; nothing was sent\n", line);
        return EXIT_USAGE;
    case JOBLIST_BINARY:
        fprintf(stderr, "mcastctl: line %zu is no text; nothing was sent\n", line);
        return EXIT_USAGE;
    case JOBLIST_READ:
        fprintf(stderr,
                "mcastctl: the list could not be read to its end (%s); nothing was sent, because "
                "jobs missing from it would be released\n",
                strerror(errno));
        return EXIT_USAGE;
    default:
        return command_print_json(NULL);
    }
}

static int gather(struct joblist *list, int argc, char **argv)
{
    size_t at = 0;
    int rc = 0;
    if (optind == argc)
        rc = joblist_read(list, stdin, &at);
    for (int i = optind; rc == 0 && i < argc; i++)
        rc = joblist_add(list, argv[at = (size_t)i]);
    return rc < 0 ? complain(rc, at) : COMMAND_GO_ON;
}

static void print_names(const char *what, uint64_t count, const char *const *names)
{
    if (count == 0)
        return;
    printf("%s (%llu):", what, (unsigned long long)count);
    uint64_t shown = 0;
    for (; *names; names++, shown++)
        printf(" %s", *names);
    printf("%s\n", shown < count ? " …" : "");
}

static int print(const struct common *common, const struct mcast_sync_result *result)
{
    if (common->json)
        return command_print_json(mcast_sync_result_json(result, MCAST_JSON_INDENT));
    printf("%llu active, %llu of them confirmed\n", (unsigned long long)result->active,
           (unsigned long long)result->confirmed);
    print_names("not active, to be released if the next sync says so too", result->suspect_count,
                result->suspect);
    print_names("not active for the second time, released", result->released_count,
                result->released);
    print_names("active without a reservation", result->unknown_count, result->unknown);
    return command_finish();
}

static int sync_jobs(const struct common *common, const struct joblist *list)
{
    struct mcast *handle = NULL;
    struct mcast_sync_result *result = NULL;
    struct mcast_error error;
    int rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (mcast_sync(handle, common->cluster, (const char *const *)list->ids, list->count, &result,
                   &error) < 0)
        rc = command_failed(&error);
    else
        rc = print(common, result);
    mcast_sync_result_free(result);
    mcast_close(handle);
    return rc;
}

static int run_sync(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {{"empty", no_argument, NULL, 'e'}, {0}};
    struct joblist list = {0};
    bool empty = false;
    int rc = command_options(command, common, argc, argv, options, store_sync_option, &empty);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (!common->cluster)
        return command_misused(command, "which cluster? give --cluster NAME or set MCAST_CLUSTER");
    rc = gather(&list, argc, argv);
    if (rc == COMMAND_GO_ON && list.count == 0 && !empty)
        rc = command_misused(command,
                             "the list is empty, and would release every job of %s; if no "
                             "job is active, say --empty",
                             common->cluster);
    if (rc == COMMAND_GO_ON)
        rc = sync_jobs(common, &list);
    joblist_release(&list);
    return rc;
}

const struct command command_sync = {"sync", "tell which jobs are active", usage, run_sync};
