/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/idlist.h"

#include <stdio.h>

enum { EMPTY };

static const struct command_option options[] = {[EMPTY] = {"empty", NULL}, {0}};

/* What is wrong with the list ends the program with MCAST_EXIT_USAGE: nothing was sent. */
static int gather(struct call *call, struct idlist *list)
{
    struct error err = {0};
    int rc = call->argument_count == 0 ? idlist_read(list, stdin, &err) : 0;
    for (size_t i = 0; rc == 0 && i < call->argument_count; i++)
        rc = idlist_add(list, call->arguments[i], i + 1, &err);
    if (rc == 0)
        return 0;
    call->error = (struct mcast_error){.code = MCAST_USAGE};
    snprintf(call->error.text, sizeof call->error.text, "%s", err.text);
    return MCAST_USAGE;
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

static int print_result(const struct call *call, const struct mcast_sync_result *result)
{
    if (call->json)
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

static int run_sync(struct call *call)
{
    struct idlist list = {0};
    struct mcast_sync_result *result = NULL;
    if (!call->cluster)
        return command_misused(call, "which cluster? give --cluster NAME or set MCAST_CLUSTER");
    int rc = gather(call, &list);
    if (rc == 0 && list.count == 0 && !call->given[EMPTY])
        rc = command_misused(call,
                             "the list is empty, and would release every job of %s; if no "
                             "job is active, say --empty",
                             call->cluster);
    if (rc == 0)
        rc = mcast_sync(call->handle, call->cluster, (const char *const *)list.ids, list.count,
                        &result, &call->error);
    if (rc == 0)
        rc = print_result(call, result);
    mcast_sync_result_free(result);
    idlist_release(&list);
    return rc;
}

const struct command command_sync = {"sync",
                                     "report which jobs are active",
                                     COMMAND_OWN_ARGUMENTS,
                                     COMMAND_CONNECTED,
                                     options,
                                     .run = run_sync};
