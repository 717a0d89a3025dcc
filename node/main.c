/* mcast-node: a job's CXI services on this node. */

#include "node/commands/command.h"
#include "node/commands/page.h"
#include "node/say.h"

#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_prolog, &command_env,  &command_epilog, &command_housekeeping, &command_tend,
    &command_clean,  &command_boot, &command_list,   &command_explain,      &command_share,
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const char tail[] =
    "\nExit codes: 0 done, 1 failed, 2 usage, 3 no such reservation (any more),\n"
    "4 broker unreachable, 5 services will not go (drain the node), 6 the job cannot have it\n"
    "here (the node is well), 7 services are in use by another job of their owner.\n"
    "Every command explains itself: mcast-node COMMAND --help\n"
    "\nExample:\n"
    "  mcast-node prolog --job f2Rs8sydSxmd\n"
    "  vars=$(mcast-node env --job f2Rs8sydSxmd) && eval \"$vars\"\n"
    "  mcast-node epilog --job f2Rs8sydSxmd\n";

static int print_help(void)
{
    puts("Usage: mcast-node COMMAND [OPTIONS]\n"
         "CXI services of jobs on a compute node, for the VNIs that mcastd reserved.\n\n"
         "Commands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-13s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n%s  --help-config    every key of node.conf\n"
           "  --man-page       mcast-node(8), for man -l\n"
           "  --version        the release\n%s",
           command_common_usage, tail);
    return command_finish(COMMAND_DONE);
}

/* What is asked of the program rather than of a command. */
static int run_without_command(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help();
    if (strcmp(word, "--version") == 0)
        printf("mcast-node %s\n", mcast_version());
    else if (strcmp(word, "--help-config") == 0)
        settings_print_sample(stdout);
    else if (strcmp(word, "--man-page") == 0)
        page_print(stdout, commands, COMMAND_COUNT);
    else
        return command_misused(NULL, "'%.80s' is no command", word);
    return command_finish(COMMAND_DONE);
}

int main(int argc, char **argv)
{
    static struct node node = {.dir = {.directory = -1, .lock = -1}};
    if (argc < 2)
        return command_misused(NULL, "which command?");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, argv[1]) == 0) {
            argv[1] = argv[0]; /* what getopt calls the program in its messages */
            return commands[i]->run(commands[i], &node, argc - 1, argv + 1);
        }
    }
    return run_without_command(argv[1]);
}
