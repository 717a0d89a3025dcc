/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/table.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl show --cluster NAME [--steps] JOB\n"
    "Shows what a job has. Its token shows as ***, with --json too; 'mcastctl env' prints it.\n\n"
    "  --steps    instead, which of its steps have multicast trees, by the fabric manager\n\n"
    "Example:\n"
    "  mcastctl show --cluster elcap f2Rs8sydSxmd\n";

enum { JOB_SIZE = 160, STEPS_WAIT_MS = 5000 };

static int store_show_option(int option, const char *value, void *data)
{
    (void)option;
    (void)value;
    *(bool *)data = true;
    return COMMAND_GO_ON;
}

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
    struct table *table = table_create(true);
    if (!table)
        return table_print(NULL);
    table_column(table, "STEP", 0);
    table_column(table, "COUNT", TABLE_RIGHT);
    table_column(table, "TREES", TABLE_WRAP);
    for (size_t i = 0; i < steps->step_count; i++) {
        const struct mcast_step *step = &steps->steps[i];
        char *trees = NULL;
        size_t size;
        FILE *out = open_memstream(&trees, &size);
        for (size_t j = 0; out && j < step->tree_count; j++)
            fprintf(out, "%s%u", j > 0 ? "," : "", step->trees[j]);
        if (out)
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
static int print_no_steps(const struct common *common, struct mcast *handle, const char *job)
{
    struct mcast_reservation *found = NULL;
    const char *cluster = common->cluster;
    /* It may have gone meanwhile. */
    bool without = mcast_show(handle, cluster, job, &found, NULL) < 0 ||
                   strcmp(found->state, "active") != 0 ||
                   strcmp(found->hwcoll_state, "reserved") != 0;
    if (without)
        printf("%s/%s: the job has no multicast addresses\n", cluster, job);
    else
        printf("no step of %s/%s has multicast trees\n", cluster, job);
    mcast_reservation_free(found);
    return command_finish();
}

static int show_steps(const struct common *common, struct mcast *handle, const char *job)
{
    struct mcast_steps *steps = NULL;
    struct mcast_error error;
    if (mcast_steps(handle, common->cluster, job, STEPS_WAIT_MS, &steps, &error) < 0)
        return command_failed(&error);
    int rc = common->json ? command_print_json(mcast_steps_json(steps, MCAST_JSON_INDENT))
             : steps->step_count > 0 || steps->skipped > 0 ? print_steps(steps)
                                                           : print_no_steps(common, handle, job);
    mcast_steps_free(steps);
    return rc;
}

static int show(const struct common *common, struct mcast *handle, const char *job)
{
    struct mcast_reservation *reservation = NULL;
    struct mcast_error error;
    if (mcast_show(handle, common->cluster, job, &reservation, &error) < 0)
        return command_failed(&error);
    int rc = common->json
                 ? command_print_json(mcast_reservation_json(reservation, MCAST_JSON_INDENT))
                 : view_reservation(reservation);
    mcast_reservation_free(reservation);
    return rc;
}

static int run_show(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {{"steps", no_argument, NULL, 's'}, {0}};
    struct mcast *handle = NULL;
    bool steps = false;
    char job[JOB_SIZE];
    int rc = command_options(command, common, argc, argv, options, store_show_option, &steps);
    if (rc == COMMAND_GO_ON)
        rc = command_job(command, common, argc, argv, job, sizeof(job));
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = steps ? show_steps(common, handle, job) : show(common, handle, job);
    mcast_close(handle);
    return rc;
}

const struct command command_show = {"show", "what one job has", usage, run_show};
