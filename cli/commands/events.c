/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/plain.h"

#include <stdio.h>

static const char usage[] =
    "Usage: mcastctl events [--after N] [--follow]\n"
    "Prints what happened, oldest first: number, time, kind, job, words. An event marked '!' is\n"
    "fatal for its job. With --json, one object a line. Ends with 3 when there is no event N "
    "(yet):\n"
    "the broker's ledger may have been restored from an older copy.\n\n"
    "  --after N        only events after number N (default: all that are kept)\n"
    "  --follow         go on with what happens from now on, also over restarts of the broker\n\n"
    "Example:\n"
    "  mcastctl events --after 4711 --follow\n";

struct wanted {
    uint64_t after;
    bool follow;
    bool json;
};

static int store_events_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    switch (option) {
    case 'a':
        if (!command_number(value, INT64_MAX, &wanted->after))
            return command_misused(&command_events, "--after %.80s: not a number", value);
        break;
    case 'f':
        wanted->follow = true;
        break;
    }
    return COMMAND_GO_ON;
}

static void print_line(const struct mcast_event *event)
{
    printf("%8llu  %-24s %c%-11s ", (unsigned long long)event->seq, event->time ? event->time : "-",
           event->fatal ? '!' : ' ', event->event);
    if (event->cluster && event->job)
        printf("%s/%s", event->cluster, event->job);
    else
        fputs(event->cluster ? event->cluster : "-", stdout);
    if (event->detail) {
        fputs("  ", stdout);
        plain_print(event->detail); /* the fabric manager's words may be among them */
    }
    putchar('\n');
}

static int print_event(const struct mcast_event *event, void *data)
{
    const struct wanted *wanted = data;
    if (wanted->json)
        puts(event->json);
    else if (event->gap_to > 0)
        printf("       …  events %llu to %llu are no longer kept\n",
               (unsigned long long)event->gap_from, (unsigned long long)event->gap_to);
    else
        print_line(event);
    if (wanted->follow)
        fflush(stdout);
    return ferror(stdout) ? 1 : 0;
}

static int run_events(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"after", required_argument, NULL, 'a'},
        {"follow", no_argument, NULL, 'f'},
        {0},
    };
    struct wanted wanted = {0};
    struct mcast *handle = NULL;
    struct mcast_error error;
    int rc = command_options(command, common, argc, argv, options, store_events_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    wanted.json = common->json;
    rc = mcast_events(handle, wanted.after, wanted.follow ? MCAST_FOLLOW : 0, print_event, &wanted,
                      &error);
    int printed = command_finish();
    mcast_close(handle);
    return rc < 0 ? command_failed(&error) : printed;
}

const struct command command_events = {"events", "what happened, and what happens", usage,
                                       run_events};
