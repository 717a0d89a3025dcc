/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "base/duration.h"
#include "base/jobid.h"
#include "base/memory.h"
#include "base/roff.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/completion/completion.h"
#include "cli/completion/unknown.h"
#include "cli/completion/values.h"
#include "cli/plain.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRY_MAX_S = 86400, NAME_MAX_LENGTH = 32 };

static const char which_cluster[] = "which cluster? give --cluster NAME or set MCAST_CLUSTER";

static const struct {
    struct command_option option;
    size_t offset;
} common_options[] = {
    {{"url", ""}, offsetof(struct call, url)},
    {{"cluster", "CLUSTER"}, offsetof(struct call, cluster)},
    {{"json", NULL}, offsetof(struct call, json)},
    {{"color", "auto,always,never"}, offsetof(struct call, colour)},
    {{"cacert", "FILE"}, offsetof(struct call, cacert)},
    {{"cert", "FILE"}, offsetof(struct call, cert)},
    {{"key", "FILE"}, offsetof(struct call, key)},
    {{"munge-socket", "FILE"}, offsetof(struct call, munge_socket)},
    {{"server-user", "USER"}, offsetof(struct call, server_user)},
    {{"patience", "TIME"}, offsetof(struct call, retry_timeout)},
};

/* What getopt_long returns: the index of an own option, or one of these, or a letter. */
enum {
    COMMON_COUNT = sizeof common_options / sizeof common_options[0],
    OPTION_COMMON = COMMAND_OPTIONS_MAX, /* all below any letter */
    OPTION_VERSION = OPTION_COMMON + COMMON_COUNT,
    OPTION_MAN_PAGE,
    OPTION_COMPLETION,
    OPTION_COMPLETE,
    GETOPT_MAX = COMMON_COUNT + COMMAND_OPTIONS_MAX + 6,
};

const struct command_option *command_common_option(size_t at)
{
    return at < COMMON_COUNT ? &common_options[at].option : NULL;
}

/* ---- help ---- */

static int print_help(const struct call *call, const struct command_group groups[])
{
    if (call->command) {
        printf("%s\n%s", text_find(call->command->name, ".txt"), text_find("common", ".txt"));
        return command_finish();
    }
    puts("Usage: mcastctl [OPTIONS] COMMAND …\nVNIs and multicast addresses of jobs, from "
         "mcastd.\n");
    for (const struct command_group *group = groups; group->title; group++) {
        printf("%s:\n", group->title);
        for (size_t i = 0; group->commands[i]; i++)
            printf("  %-11s %s\n", group->commands[i]->name, group->commands[i]->summary);
    }
    printf("\n%s", text_find("overview", ".txt"));
    return command_finish();
}

/* mcastctl(1), with the help of each command. */
static int print_man_page(const struct command_group groups[])
{
    roff_title(stdout, "MCASTCTL", 1);
    fputs(text_find("page-head", ".man"), stdout);
    for (const struct command_group *group = groups; group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++) {
            fputs(".SS ", stdout);
            roff_text(stdout, group->commands[i]->name);
            putchar('\n');
            roff_example(stdout, text_find(group->commands[i]->name, ".txt"));
        }
    }
    puts(".SH OPTIONS\nBefore or after the name of the command.");
    roff_example(stdout, strchr(text_find("common", ".txt"), '\n') + 1);
    fputs(text_find("page-tail", ".man"), stdout);
    return command_finish();
}

int command_misused(struct call *call, const char *format, ...)
{
    va_list args;
    call->error = (struct mcast_error){.code = MCAST_USAGE};
    va_start(args, format);
    if (format) {
        fputs("mcastctl: ", stderr);
        vfprintf(stderr, format, args);
        fputc('\n', stderr);
    }
    va_end(args);
    fprintf(stderr, "Try 'mcastctl %s%s--help'.\n", call->command ? call->command->name : "",
            call->command ? " " : "");
    return MCAST_USAGE;
}

/* ---- the command line ---- */

static void list_options(const struct call *call, struct option list[GETOPT_MAX])
{
    size_t used = 0;
    const struct command_option *own = call->command ? call->command->options : NULL;
    for (int i = 0; i < COMMON_COUNT; i++)
        list[used++] =
            (struct option){common_options[i].option.name,
                            common_options[i].option.value ? required_argument : no_argument, NULL,
                            OPTION_COMMON + i};
    for (int i = 0; own && own[i].name; i++) {
        assert(i < COMMAND_OPTIONS_MAX);
        list[used++] =
            (struct option){own[i].name, own[i].value ? required_argument : no_argument, NULL, i};
    }
    if (!call->command) { /* what the build asks for, and shells */
        list[used++] = (struct option){"man-page", no_argument, NULL, OPTION_MAN_PAGE};
        list[used++] = (struct option){"completion", required_argument, NULL, OPTION_COMPLETION};
        list[used++] = (struct option){"complete", required_argument, NULL, OPTION_COMPLETE};
    }
    list[used++] = (struct option){"help", no_argument, NULL, 'h'};
    list[used++] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
    list[used] = (struct option){0};
}

/* Where a command's --output is, which -o stands for; negative: it has none. */
static int find_output(const struct command *command)
{
    for (int i = 0; command && command->options && command->options[i].name; i++) {
        if (strcmp(command->options[i].name, "output") == 0)
            return i;
    }
    return -1;
}

/* getopt has said what is wrong; an exit code. */
static int deny_option(struct call *call, const struct option *list, const char *typed)
{
    char words[SUGGEST_SIZE], name[SUGGEST_SIZE];
    struct suggestion suggestion;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(typed, "="), typed);
    const char *habit = unknown_option(name);
    suggest_begin(&suggestion, habit ? habit : name + strspn(name, "-"));
    for (; list->name && (habit || strncmp(name, "--", 2) == 0); list++) {
        if (habit ? strcmp(list->name, habit) == 0
                  : strncmp(list->name, "comp", 4) != 0 && strcmp(list->name, name + 2) != 0)
            suggest_try(&suggestion, list->name);
    }
    if (suggest_text(&suggestion, "--", words)[0])
        fprintf(stderr, "mcastctl: %s\n", words + strlen("; "));
    (void)command_misused(call, NULL);
    return MCAST_EXIT_USAGE;
}

/* In any order with the arguments; before the command's name up to the first argument, which optind
 * then names. -1, or the exit code with which to end. */
static int read_options(struct call *call, const struct command_group groups[], int argc,
                        char **argv)
{
    struct option list[GETOPT_MAX];
    int option;
    const int output = find_output(call->command);
    list_options(call, list);
    optind = 0; /* the command line's second part begins anew */
    const char *letters = !call->command ? "+h" : output < 0 ? "h" : "ho:";
    while ((option = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        const char *value = optarg ? optarg : "";
        switch (option) {
        case '?':
            return deny_option(call, list, argv[optind - 1]);
        case 'o':
            call->given[output] = value;
            break;
        case 'h':
            return print_help(call, groups);
        case OPTION_MAN_PAGE:
            return print_man_page(groups);
        case OPTION_COMPLETION:
            completion_print(groups, strcmp(value, "zsh") == 0);
            return command_finish();
        case OPTION_COMPLETE:
            call->complete = value;
            break;
        case OPTION_VERSION:
            printf("mcastctl %s\n", mcast_version());
            return command_finish();
        default:
            if (option < OPTION_COMMON)
                call->given[option] = value;
            else
                memcpy((char *)call + common_options[option - OPTION_COMMON].offset, &value,
                       sizeof value);
        }
    }
    return -1;
}

int command_cluster(struct call *call)
{
    char *answer = NULL;
    if (call->cluster)
        return 0;
    const int rc = mcast_whoami(call->handle, &answer, &call->error);
    if (rc < 0)
        return rc;
    call->whoami = json_loads(answer, 0, NULL);
    free(answer);
    call->cluster = command_text(call->whoami, "only_cluster");
    return call->cluster ? 0 : command_misused(call, which_cluster);
}

static int run_command(struct call *call)
{
    const enum command_arguments kind = call->command->arguments;
    int rc = 0;
    if (call->cluster && !call->cluster[0])
        call->cluster = NULL;
    if (!plain_set_colour(call->colour)) {
        (void)command_misused(call, "--color %.80s: it is auto, always or never", call->colour);
        return MCAST_EXIT_USAGE;
    }
    if (kind == COMMAND_NO_ARGUMENTS)
        rc = command_no_arguments(call);
    else if (kind != COMMAND_OWN_ARGUMENTS)
        rc = command_job(call);
    if (rc == 0 && call->command->broker == COMMAND_CONNECTED)
        rc = command_open(call);
    if (rc == 0 && kind == COMMAND_KNOWN_JOB)
        rc = command_cluster(call);
    if (rc == 0)
        rc = call->command->run(call);
    mcast_close(call->handle);
    json_decref(call->whoami);
    if (rc >= 0)
        return rc;
    if (call->error.text[0])
        fprintf(stderr, "mcastctl: %s%s\n", call->error.text,
                !call->url && strcmp(call->error.word, "no-connection") == 0
                    ? "; or name it with --url"
                    : "");
    return (int)mcast_exit_status(&call->error);
}

/* NULL: there is none of this name. */
static const struct command *find_command(const struct command_group groups[], const char *name)
{
    for (const struct command_group *group = groups; group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++) {
            if (strcmp(group->commands[i]->name, name) == 0)
                return group->commands[i];
        }
    }
    return NULL;
}

int command_main(const struct command_group groups[], int argc, char **argv)
{
    struct call call = {.cluster = getenv("MCAST_CLUSTER")};
    int rc = read_options(&call, groups, argc, argv);
    if (rc >= 0)
        return rc;
    const char *name = optind < argc ? argv[optind] : NULL;
    const bool help = name && strcmp(name, "help") == 0; /* mcastctl help [COMMAND] */
    if (help)
        name = argv[++optind];
    call.command = name && !call.complete ? find_command(groups, name) : NULL;
    if (help && (call.command || !name || strcmp(name, "help") == 0))
        return print_help(&call, groups);
    if (call.complete)
        return values_print(&call, call.complete, name ? name : "");
    if (!call.command && name)
        return unknown_command(&call, groups, name);
    if (!call.command) {
        (void)command_misused(&call, "which command?");
        return MCAST_EXIT_USAGE;
    }
    argc -= optind;
    argv[optind] = argv[0]; /* what getopt calls the program in its messages */
    argv += optind;
    rc = read_options(&call, groups, argc, argv);
    if (rc >= 0)
        return rc;
    call.arguments = argv + optind;
    call.argument_count = (size_t)(argc - optind);
    return run_command(&call);
}

/* ---- what options and arguments say ---- */

int command_no_arguments(struct call *call)
{
    if (call->argument_count == 0)
        return 0;
    return command_misused(call, "'%.140s' is not understood: %s takes no arguments%s%.140s",
                           call->arguments[0], call->command->name,
                           call->command == &command_list ? "; one job: mcastctl show " : "",
                           call->command == &command_list ? call->arguments[0] : "");
}

int command_job(struct call *call)
{
    if (call->argument_count > 1)
        return command_misused(call, "one job at a time, by its id alone");
    if (call->argument_count == 0)
        return command_misused(call, call->command == &command_reserve
                                         ? "which job? give its resource manager's id of it"
                                         : "which job? 'mcastctl list' shows their ids");
    if (!call->cluster && call->command->arguments != COMMAND_KNOWN_JOB)
        return command_misused(call, which_cluster);
    if (!jobid_plain(call->arguments[0], call->job, sizeof call->job))
        return command_misused(call, "'%.140s' is too long for a job id", call->arguments[0]);
    return 0;
}

int command_step(struct call *call, size_t option)
{
    const char *value = call->given[option];
    if (!value || jobid_plain(value, call->step, sizeof call->step))
        return 0;
    return command_misused(call, "--%s: too long for a step", call->command->options[option].name);
}

int command_number(struct call *call, size_t option, uint64_t min, uint64_t max, uint64_t *out)
{
    const char *value = call->given[option];
    uint64_t number = 0;
    if (!value)
        return 0;
    if (!text_number(value, 10, max, &number) || number < min)
        return command_misused(call, "--%s %.80s: not a number from %llu to %llu",
                               call->command->options[option].name, value, (unsigned long long)min,
                               (unsigned long long)max);
    *out = number;
    return 0;
}

int command_duration(struct call *call, size_t option, int64_t max_ms, int64_t *out)
{
    const char *value = call->given[option];
    const int64_t ms =
        value ? duration_parse(value, DURATION_DAYS | DURATION_BARE_SECONDS, max_ms) : 0;
    char longest[32];
    if (!value)
        return 0;
    duration_format(longest, sizeof longest, max_ms);
    if (ms <= 0)
        return command_misused(call,
                               "--%s %.40s: a time such as 500ms, 30 (seconds) or 2m, up to %s",
                               call->command->options[option].name, value, longest);
    *out = ms;
    return 0;
}

int command_least(struct call *call, size_t option, int64_t ms, int64_t min_ms)
{
    char least[32];
    duration_format(least, sizeof least, min_ms);
    return ms >= min_ms ? 0
                        : command_misused(call, "--%s: %s at least",
                                          call->command->options[option].name, least);
}

int command_word(struct call *call, size_t option, unsigned *out)
{
    const struct command_option *taken = &call->command->options[option];
    const char *value = call->given[option], *words = taken->value;
    char list[80] = "";
    size_t used = 0;
    if (!value)
        return 0;
    for (unsigned i = 0; *words; i++) {
        const size_t length = strcspn(words, ",");
        const char *after = words[length] == '\0'             ? ""
                            : strchr(words + length + 1, ',') ? ", "
                                                              : " or ";
        if (strlen(value) == length && strncmp(words, value, length) == 0) {
            *out = i;
            return 0;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%.*s%s", (int)length, words,
                                     after);
        words += length + (words[length] == ',');
    }
    return command_misused(call, "--%s %.80s: it is %s", taken->name, value, list);
}

bool command_split(char *text, const char **words, size_t max)
{
    size_t count = 0;
    for (char *word; (word = strsep(&text, ","));) {
        if (!word[0] || count == max)
            return false;
        words[count++] = word;
    }
    words[count] = NULL;
    return true;
}

/* ---- the broker ---- */

static void print_wait(const struct mcast_error *why, void *data)
{
    (void)data;
    fprintf(stderr, "mcastctl: %s; retrying for as long as --patience says\n", why->text);
}

static int set_retry_timeout(struct call *call)
{
    const int64_t ms = duration_parse(call->retry_timeout, DURATION_DAYS | DURATION_BARE_SECONDS,
                                      RETRY_MAX_S * 1000LL);
    if (ms >= 0)
        return mcast_set_patience(call->handle, (unsigned)ms, print_wait, NULL, &call->error);
    call->error = (struct mcast_error){.code = MCAST_USAGE};
    snprintf(call->error.text, sizeof call->error.text,
             "--patience %.40s: a time such as 500ms, 30 (seconds) or 2m, up to 24h",
             call->retry_timeout);
    return MCAST_USAGE;
}

int command_open(struct call *call)
{
    struct mcast_error *error = &call->error;
    int rc = mcast_open(&call->handle, call->url, error);
    if (rc == 0 && call->cacert)
        rc = mcast_set_cacert(call->handle, call->cacert, error);
    if (rc == 0 && (call->cert || call->key))
        rc = mcast_set_certificate(call->handle, call->cert, call->key, error);
    if (rc == 0 && call->munge_socket)
        rc = mcast_set_munge(call->handle, MCAST_MUNGE_ALWAYS, call->munge_socket, error);
    if (rc == 0 && call->server_user)
        rc = mcast_set_server_user(call->handle, call->server_user, error);
    if (rc == 0 && call->retry_timeout)
        rc = set_retry_timeout(call);
    if (rc < 0) {
        mcast_close(call->handle);
        call->handle = NULL;
    }
    return rc;
}

/* ---- output ---- */

int command_print_json(char *json)
{
    puts(memory_must(json));
    free(json);
    return command_finish();
}

int command_print_object(json_t *object)
{
    char *text = json_dumps(object, JSON_INDENT(2));
    json_decref(object);
    return command_print_json(text);
}

int command_print_answer(const struct call *call, char *json,
                         int (*print)(const struct call *call, json_t *answer))
{
    json_t *answer = json_loads(json, 0, NULL);
    free(json);
    if (call->json)
        return command_print_object(answer);
    const int rc = print(call, answer);
    json_decref(answer);
    return rc;
}

int command_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return MCAST_EXIT_OK;
    fprintf(stderr, "mcastctl: the output could not be written: %s\n", strerror(errno));
    return MCAST_EXIT_REFUSED;
}
