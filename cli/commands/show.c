/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_WAIT_MS = 5000 };

enum { STEPS };

static const struct command_option options[] = {[STEPS] = {"steps", NULL}, {0}};

static int print_steps(const struct mcast_steps *steps)
{
    if (steps->skipped > 0)
        fprintf(stderr, "mcastctl: %llu that the fabric manager listed cannot be the job's\n",
                (unsigned long long)steps->skipped);
    if (steps->unreachable > 0)
        fprintf(stderr,
                "mcastctl: %llu of these steps have names that no cleanup can be asked for: their "
                "trees go with the job\n",
                (unsigned long long)steps->unreachable);
    struct table *table = table_create("STEP,>COUNT,~TREES");
    for (size_t i = 0; i < steps->step_count; i++) {
        const struct mcast_step *step = &steps->steps[i];
        char *trees = NULL;
        size_t size;
        FILE *out = memory_must(open_memstream(&trees, &size));
        for (size_t j = 0; j < step->tree_count; j++)
            fprintf(out, "%s%u", j > 0 ? "," : "", step->trees[j]);
        fclose(out);
        table_row(table);
        table_cell(table, step->step);
        table_cellf(table, "%zu", step->tree_count);
        table_cell(table, trees);
        free(trees);
    }
    return table_print(table);
}

/* Why there is none: a job that never had addresses, or has given them back, can have none. */
static int print_no_steps(const struct call *call)
{
    struct mcast_reservation *found = NULL;
    /* It may have gone meanwhile. */
    bool without = mcast_show(call->handle, call->cluster, call->job, &found, NULL) < 0 ||
                   strcmp(found->state, "active") != 0 ||
                   strcmp(found->hwcoll_state, "reserved") != 0;
    printf(without ? "%s/%s: the job has no multicast addresses\n"
                   : "no step of %s/%s has multicast trees\n",
           call->cluster, call->job);
    mcast_reservation_free(found);
    return command_finish();
}

static int show_steps(struct call *call)
{
    struct mcast_steps *steps = NULL;
    int rc =
        mcast_steps(call->handle, call->cluster, call->job, STEPS_WAIT_MS, &steps, &call->error);
    if (rc < 0)
        return rc;
    if (call->json)
        rc = command_print_json(mcast_steps_json(steps, MCAST_JSON_INDENT));
    else if (steps->step_count > 0 || steps->skipped > 0)
        rc = print_steps(steps);
    else
        rc = print_no_steps(call);
    mcast_steps_free(steps);
    return rc;
}

static int run_show(struct call *call)
{
    struct mcast_reservation *reservation = NULL;
    if (call->given[STEPS])
        return show_steps(call);
    int rc = mcast_show(call->handle, call->cluster, call->job, &reservation, &call->error);
    if (rc == 0)
        rc = view_reservation(reservation, call, 0);
    mcast_reservation_free(reservation);
    return rc;
}

const struct command command_show = {
    "show", "show one reservation", COMMAND_KNOWN_JOB, COMMAND_CONNECTED, options, .run = run_show};
