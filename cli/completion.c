/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion.h"

#include <stdio.h>

static void print_options(const struct command_option *own)
{
    const struct command_option *common;
    for (; own && own->name; own++)
        printf(" --%s", own->name);
    for (size_t i = 0; (common = command_common_option(i)); i++)
        printf(" --%s", common->name);
    fputs(" --help", stdout);
}

/* "--url | --state": those after which a word is no command. */
static void print_with_value(const struct command_option *option, const char **bar)
{
    if (!option->has_value)
        return;
    printf("%s--%s", *bar, option->name);
    *bar = " | ";
}

static void print_words(const struct command_group groups[], const char *set)
{
    printf("    \"\") %s", set);
    for (const struct command_group *group = groups; group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++)
            printf(" %s", group->commands[i]->name);
    }
    print_options(NULL);
    puts(" help --version\" ;;");
    for (const struct command_group *group = groups; group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++) {
            printf("    %s) %s", group->commands[i]->name, set);
            print_options(group->commands[i]->options);
            puts("\" ;;");
        }
    }
}

/* Which command stands on the line, in $words: from the first word after mcastctl to the one that
 * is written. */
static void print_search(const char *first, const char *end)
{
    const char *bar = "";
    const struct command_option *common;
    printf("    local i command= all=\n    for ((i = %s; i < %s; i++)); do\n"
           "        case ${words[i]} in\n        ",
           first, end);
    for (size_t i = 0; (common = command_common_option(i)); i++)
        print_with_value(common, &bar);
    puts(") ((i++)) ;;\n        -*) ;;\n        *) command=${words[i]} && break ;;\n"
         "        esac\n    done\n    case $command in");
}

void completion_print(const struct command_group groups[], bool zsh)
{
    puts(zsh ? "#compdef mcastctl\n# Made by mcastctl --completion zsh.\n_mcastctl() {"
             : "# Made by mcastctl --completion bash.\n_mcastctl() {");
    /* COMP_WORDS would have the parts of --url=unix:/path. */
    if (!zsh)
        puts("    local words\n    read -ra words <<<\"${COMP_LINE:0:COMP_POINT}.\"");
    print_search(zsh ? "2" : "1", zsh ? "CURRENT" : "${#words[@]} - 1");
    print_words(groups, "all=\"");
    puts("    esac");
    puts(
        zsh ? "    compadd -- ${=all}\n}\n_mcastctl \"$@\""
            : "    mapfile -t COMPREPLY < <(compgen -W \"$all\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
              "}\ncomplete -o default -F _mcastctl mcastctl");
}
