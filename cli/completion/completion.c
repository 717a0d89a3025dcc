/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion.h"
#include "base/text.h"
#include "cli/columns.h"

#include <stdio.h>
#include <string.h>

/* Two functions that are tables, in words that bash and zsh have in common; what uses them is in
 * cli/text/completion.bash and .zsh. */

static void print_options(const struct command_option *own)
{
    const struct command_option *common;
    for (; own && own->name; own++)
        printf("--%s ", own->name);
    for (size_t i = 0; (common = command_common_option(i)); i++)
        printf("--%s ", common->name);
    fputs("--help", stdout);
}

/* "+name,-name": of a column to sort by; "[name,name]": of several. */
static void print_columns(const struct column *column, bool sort)
{
    for (const char *before = sort ? "" : "["; column->name; column++, before = ",") {
        printf("%s%s", before, column->name);
        if (sort)
            printf(",-%s", column->name);
    }
    fputs(sort ? "" : "]", stdout);
}

static void print_kind(const struct command *command, const char *value)
{
    if (strcmp(value, "COLUMNS") == 0 || strcmp(value, "COLUMN") == 0)
        print_columns(command->columns, strcmp(value, "COLUMN") == 0);
    else
        fputs(value[0] ? value : "ANY", stdout);
}

static void print_values(const struct command *command, const char *name,
                         const struct command_option *option)
{
    if (!option->value)
        return;
    printf("    \"%s --%s\"", name, option->name);
    if (strcmp(option->name, "output") == 0)
        printf(" | \"%s -o\"", name);
    fputs(") kind=\"", stdout);
    print_kind(command, option->value);
    puts("\" ;;");
}

static void print_command(const struct command *command)
{
    const bool job =
        command->arguments == COMMAND_ONE_JOB || command->arguments == COMMAND_KNOWN_JOB;
    const char *argument = command->argument ? command->argument : job ? "JOB" : "";
    for (const struct command_option *own = command->options; own && own->name; own++)
        print_values(command, command->name, own);
    printf("    \"%s \") kind=\"%s\" ;;\n    \"%s -\") kind=\"", command->name,
           argument[0] ? argument : "ANY", command->name);
    print_options(command->options);
    puts("\" ;;");
}

/* Which kind of values follows: "COMMAND --option" of an option of its own, " --option" of each
 * command's, "COMMAND " of an argument; "COMMAND -": its options themselves. */
static void print_kinds(const struct command_group groups[])
{
    const struct command_option *common;
    puts("_mcastctl_kind() {\n    case \"$1\" in");
    for (const struct command_group *group = groups; group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++)
            print_command(group->commands[i]);
    }
    for (size_t i = 0; (common = command_common_option(i)); i++)
        print_values(NULL, "", common);
    fputs("    \" -\") kind=\"", stdout);
    print_options(NULL);
    puts(" --version\" ;;\n    \"help \") kind=COMMAND ;;\n    *) kind= ;;\n    esac\n}");
}

static void print_names(const struct command_group groups[])
{
    puts("_mcastctl_names() {\n    names=(");
    for (const struct command_group *group = groups; group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++)
            printf("        \"%s:%s\"\n", group->commands[i]->name, group->commands[i]->summary);
    }
    puts("        \"help:explain mcastctl, or one command\"\n    )\n}");
}

void completion_print(const struct command_group groups[], bool zsh)
{
    puts(zsh ? "#compdef mcastctl\n# Made by mcastctl --completion zsh."
             : "# Made by mcastctl --completion bash.");
    print_names(groups);
    print_kinds(groups);
    fputs(text_find("completion", zsh ? ".zsh" : ".bash"), stdout);
}
