/* SPDX-License-Identifier: Apache-2.0 */
/* mcastctl: ask mcastd from the command line. */

#include "cli/command.h"
#include "cli/manpage.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_reserve, &command_release, &command_show,   &command_list,        &command_env,
    &command_sync,    &command_fence,   &command_events, &command_status,      &command_doctor,
    &command_token,   &command_cleanup, &command_check,  &command_accept_loss, &command_claim,
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const char head[] = "Usage: mcastctl [OPTIONS] COMMAND …\n"
                           "VNIs and multicast addresses of jobs, from mcastd.\n\n";

static const char tail[] =
    "\nExit codes: 0 ok, 1 refused, 2 usage, 3 not found, 4 not now: no broker that\n"
    "can answer; try again, or let --patience do so.\n"
    "Every command explains itself: mcastctl COMMAND --help\n"
    "\nExample:\n"
    "  mcastctl reserve --cluster elcap --uid 5588 --nodes 'elcap[1-128]' f2Rs8sydSxmd\n"
    "  mcastctl env --cluster elcap --step 0 --format sh f2Rs8sydSxmd\n"
    "  mcastctl release --cluster elcap f2Rs8sydSxmd\n";

static int print_help(void)
{
    fputs(head, stdout);
    puts("Commands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-11s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n%s  --man-page       mcastctl(1), for man -l\n%s", command_common_usage, tail);
    return command_finish();
}

/* Options that come before the command's name; they end at the first word that is none. Returns its
 * index, or 0 after *rc was set. */
static int leading_options(struct common *common, int argc, char **argv, int *rc)
{
    struct option options[COMMAND_OPTIONS_MAX] = {0};
    int option;
    memcpy(options, command_shared_options, command_shared_count * sizeof(options[0]));
    options[command_shared_count] =
        (struct option){"man-page", no_argument, NULL, COMMAND_MAN_PAGE};
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        if (command_store(common, option, optarg))
            continue;
        if (option == 'h') {
            *rc = print_help();
        } else if (option == COMMAND_VERSION) {
            printf("mcastctl %s\n", mcast_version());
            *rc = command_finish();
        } else if (option == COMMAND_MAN_PAGE) {
            manpage_print(stdout, commands, COMMAND_COUNT);
            *rc = command_finish();
        } else {
            *rc = command_misused(NULL, NULL);
        }
        return 0;
    }
    if (optind == argc) {
        *rc = command_misused(NULL, "which command?");
        return 0;
    }
    return optind;
}

int main(int argc, char **argv)
{
    struct common common = {0};
    int rc = EXIT_OK;
    setlocale(LC_CTYPE, ""); /* so that tables count characters, not bytes */
    const char *cluster = getenv("MCAST_CLUSTER");
    if (cluster && cluster[0])
        common.cluster = cluster;
    int at = leading_options(&common, argc, argv, &rc);
    if (at == 0)
        return rc;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, argv[at]) == 0) {
            char **arguments = argv + at;
            arguments[0] = argv[0]; /* what getopt calls the program in its messages */
            return commands[i]->run(commands[i], &common, argc - at, arguments);
        }
    }
    return command_misused(NULL, "'%s' is no command", argv[at]);
}
