/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-node: a job's CXI services on this node. */

#include "base/roff.h"
#include "launch/sealed.h"
#include "node/commands/command.h"

#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_prolog,  &command_env,   &command_epilog,    &command_housekeeping,
    &command_tend,    &command_clean, &command_boot,      &command_list,
    &command_explain, &command_share, &command_inventory, &command_traffic,
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(void)
{
    fputs(text_find("overview", ".txt"), stdout);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-13s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n%s%s", text_find("common", ".txt"), text_find("overview-tail", ".txt"));
}

static void print_page(FILE *out)
{
    roff_title(out, "MCAST\\-NODE", 8);
    fputs(text_find("page-head", ".man"), out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fputs(".SS ", out);
        roff_text(out, commands[i]->name);
        fputc('\n', out);
        roff_example(out, text_find(commands[i]->name, ".txt"));
    }
    fputs(".SH OPTIONS\nOf every command.\n", out);
    roff_example(out, strchr(text_find("common", ".txt"), '\n') + 1);
    fputs(text_find("page-config", ".man"), out);
    settings_print_page(out);
    fputs(text_find("page-tail", ".man"), out);
}

/* node.conf, and the file that it names. path NULL: the usual one, which need not be there. */
static int check_configuration(const char *path)
{
    struct settings settings;
    struct launch_keys keys;
    struct error err;
    settings_init(&settings);
    if (settings_read(&settings, path ? path : SETTINGS_DEFAULT_FILE, !path, stderr) > 0)
        return COMMAND_USAGE;
    if (settings.launch_key[0] && launch_keys_read(&keys, settings.launch_key, true, &err) < 0)
        return command_failed(&err);
    launch_keys_wipe(&keys);
    return COMMAND_DONE;
}

/* What is asked of the program rather than of a command. */
static int answer_for_program(int count, char **words)
{
    const char *word = words[0];
    if (strcmp(word, "--check") == 0) {
        if (count != 1 && (count != 3 || strcmp(words[1], "--config") != 0))
            return command_misused(NULL, "--check takes --config FILE, and nothing else");
        return check_configuration(count == 1 ? NULL : words[2]);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        print_help();
    else if (strcmp(word, "--version") == 0)
        printf("mcast-node %s\n", mcast_version());
    else if (strcmp(word, "--help-config") == 0)
        settings_print_sample(stdout);
    else if (strcmp(word, "--man-page") == 0)
        print_page(stdout);
    else
        return command_misused(NULL, "unknown command '%.80s'", word);
    return command_finish(COMMAND_DONE);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return command_misused(NULL, "a command is required");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, argv[1]) == 0) {
            argv[1] = argv[0]; /* what getopt calls the program in its messages */
            return command_run(commands[i], argc - 1, argv + 1);
        }
    }
    return answer_for_program(argc - 1, argv + 1);
}
