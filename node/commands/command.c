/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"

#include "base/duration.h"
#include "base/jobid.h"
#include "node/record/remainder.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Options ---- */

enum type { TEXT, FLAG, CORES, USER, COUNT, USERS, TIME, FORMAT };

static bool read_value(enum type type, const char *text, void *place)
{
    switch (type) {
    case FLAG:
        return *(bool *)place = true;
    case CORES:
        return settings_number(text, UINT16_MAX, place) && *(uint32_t *)place > 0;
    case USER:
        return settings_number(text, UINT32_MAX - 1, place);
    case COUNT:
        return settings_number(text, INT32_MAX, place);
    case TIME: /* also a number without a unit, as in mcastctl */
        return settings_duration(text, DURATION_BARE_SECONDS, place);
    case FORMAT:
        *(enum variables_format *)place = variables_format_from_word(text);
        return *(enum variables_format *)place != VARIABLES_NONE;
    case TEXT:
    case USERS:
        *(const char **)place = text;
    }
    return type == TEXT || remainder_users_valid(text);
}

#define AT(member) offsetof(struct command_options, member)
static const char duration_words[] = "a duration such as 500ms, 5 (seconds) or 10m, up to 24h";

static const struct option_row {
    char letter;
    const char *name, *argument;
    enum type type;
    size_t place;
    const char *allowed;
} rows[] = {
    {'C', "config", "FILE", TEXT, AT(config), NULL},
    {'U', "url", "URL", TEXT, AT(url), NULL},
    {'L', "cluster", "NAME", TEXT, AT(cluster), NULL},
    {'N', "node", "NAME", TEXT, AT(node), NULL},
    {'j', "job", "JOB", TEXT, AT(job_text), NULL},
    {'r', "reservation", "FILE", TEXT, AT(reservation), NULL},
    {'l', "launch", "FILE", TEXT, AT(launch), NULL},
    {'o', "nodes", "LIST", TEXT, AT(nodes), NULL},
    {'R', "restart", "N", COUNT, AT(restart), "a number from 0"},
    {'n', "dry-run", NULL, FLAG, AT(dry_run), NULL},
    {'c', "cores", "N", CORES, AT(cores), "a number from 1 to 65535"},
    {'w', "limits", "WISHES", TEXT, AT(limits), NULL},
    {'p', "patience", "TIME", TIME, AT(broker_ms), duration_words},
    {'t', "retry-busy", "TIME", TIME, AT(busy_ms), duration_words},
    {'W', "report-within", "TIME", TIME, AT(within_ms), duration_words},
    {'V', "over", "TIME", TIME, AT(over_ms), duration_words},
    {'T', "reporter", "PROGRAM", TEXT, AT(reporter), NULL},
    {'M', "remembered", NULL, FLAG, AT(remembered), NULL},
    {'f', "format", "FORMAT", FORMAT, AT(format), "sh, json, null or slurm"},
    {'i', "inherit", NULL, FLAG, AT(inherit), NULL},
    {'x', "clear", NULL, FLAG, AT(clear), NULL},
    {'a', "all", NULL, FLAG, AT(all), NULL},
    {'m', "max", NULL, FLAG, AT(max), NULL},
    {'J', "json", NULL, FLAG, AT(json), NULL},
    {'E', "repeat", NULL, FLAG, AT(repeat), NULL},
    {'O', "report", NULL, FLAG, AT(report), NULL},
    {'s', "users", "UIDS", USERS, AT(users), "user ids such as 1000,1001"},
    {'u', "user", "UID", USER, AT(user), "a user id such as 1000"},
    {'F', "file", "FILE", TEXT, AT(file), NULL},
};
/* The first are those of every command. */
enum { ROW_COUNT = sizeof rows / sizeof rows[0], COMMON_COUNT = 4, FIRST_VALUE = 256 };

/* COMMAND_GO_ON, or an exit code after a message. */
static int read_command_line(struct command_options *options, int argc, char **argv,
                             bool given[ROW_COUNT])
{
    const struct command *command = options->command;
    struct option known[ROW_COUNT + 2] = {{"help", no_argument, NULL, 'h'}};
    size_t used = 1;
    int value;
    for (int i = 0; i < ROW_COUNT; i++) {
        if (i < COMMON_COUNT || strchr(command->letters, rows[i].letter))
            known[used++] =
                (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
                                NULL, FIRST_VALUE + i};
    }
    while ((value = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (value == 'h') {
            printf("%s\n%s", text_find(command->name, ".txt"), text_find("common", ".txt"));
            return COMMAND_DONE;
        }
        if (value < FIRST_VALUE)
            return command_misused(command, NULL);
        const struct option_row *row = &rows[value - FIRST_VALUE];
        if (!read_value(row->type, optarg, (char *)options + row->place))
            return command_misused(command, "--%s %.80s: %s", row->name, optarg, row->allowed);
        given[row - rows] = true;
    }
    if (optind < argc)
        return command_misused(command, "'%.80s' is not understood: %s takes options only",
                               argv[optind], command->name);
    return COMMAND_GO_ON;
}

/* ---- Configuration ---- */

static const char *get_variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && value[0] ? value : NULL;
}

static const char *first_given(const char *a, const char *b, const char *c)
{
    return a ? a : b ? b : c && c[0] ? c : NULL;
}

static void name_node(struct node *node, const char *given)
{
    char host[NOTE_NODE_SIZE] = "";
    const char *configured = node->settings.node[0] ? node->settings.node : NULL;
    const char *name = first_given(given, configured, get_variable("SLURMD_NODENAME"));
    node->name_is = given ? "--node" : configured ? "node.conf" : "SLURMD_NODENAME";
    if (!name) {
        node->name_is = "host name";
        if (gethostname(host, sizeof host - 1) < 0)
            host[0] = '\0';
        host[strcspn(host, ".")] = '\0';
        name = host;
    }
    snprintf(node->name, sizeof node->name, "%.*s", NOTE_NODE_SIZE - 1, name);
}

/* node.conf, and over it the environment and the options. */
static int read_configuration(struct node *node, const struct command_options *options)
{
    struct settings *settings = &node->settings;
    const char *file = options->config ? options->config : SETTINGS_DEFAULT_FILE;
    settings_init(settings);
    if (settings_read(settings, file, !options->config, stderr) > 0) {
        say("the configuration has faults, so nothing is done");
        return COMMAND_USAGE;
    }
    const char *url = first_given(options->url, get_variable("MCAST_URL"), settings->url);
    const char *spool = get_variable("MCAST_NODE_SPOOL");
    node->cluster = first_given(options->cluster, get_variable("MCAST_CLUSTER"), settings->cluster);
    if (node->cluster && !cluster_name_valid(node->cluster))
        return command_misused(options->command,
                               "'%.80s' is not a cluster name: 1 to %d of a-z, 0-9 and _",
                               node->cluster, CLUSTER_NAME_MAX);
    if ((url && strlen(url) >= sizeof settings->url) ||
        (spool && strlen(spool) >= sizeof settings->spool))
        return command_misused(options->command, "a name is longer than %zu characters",
                               sizeof settings->url - 1);
    if (url && url != settings->url)
        strcpy(settings->url, url);
    if (spool)
        strcpy(settings->spool, spool);
    name_node(node, options->node);
    return COMMAND_GO_ON;
}

static int prepare_command(struct node *node, struct command_options *options, int argc,
                           char **argv)
{
    const struct command *command = options->command;
    bool given[ROW_COUNT] = {false};
    struct error err;
    int rc = read_command_line(options, argc, argv, given);
    if (rc == COMMAND_GO_ON)
        rc = read_configuration(node, options);
    for (size_t i = 0; i < ROW_COUNT && rc == COMMAND_GO_ON; i++) {
        const char *letter = strchr(command->letters, rows[i].letter);
        if (letter && letter[1] == '!' && !given[i])
            rc = command_misused(command, "--%s %s is required", rows[i].name, rows[i].argument);
    }
    if (rc != COMMAND_GO_ON)
        return rc;
    if (options->job_text && (!jobid_plain(options->job_text, options->job, sizeof options->job) ||
                              !job_id_valid(options->job)))
        return command_misused(command, "'%.140s' is not a job id: 1 to %d of A-Za-z0-9._:@+-",
                               options->job_text, JOB_ID_MAX);
    bool writes = command->spool == SPOOL_WRITTEN && !options->dry_run;
    if (command->spool != SPOOL_IGNORED && node_remember(node, writes, &err) < 0)
        return command_failed(&err);
    return COMMAND_GO_ON;
}

int command_run(const struct command *command, int argc, char **argv)
{
    static struct node node = {.dir = {.directory = -1, .lock = -1}};
    struct command_options options = {.command = command,
                                      .user = UINT32_MAX,
                                      .restart = UINT32_MAX,
                                      .busy_ms = -1,
                                      .within_ms = -1,
                                      .over_ms = -1,
                                      .broker_ms = -1};
    int rc = prepare_command(&node, &options, argc, argv);
    if (rc == COMMAND_GO_ON)
        rc = command->run(&node, &options);
    node_release(&node);
    return command_finish(rc);
}

/* ---- Ends ---- */

int command_misused(const struct command *command, const char *format, ...)
{
    char text[512];
    if (format) {
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        say("%s", text);
    }
    say("see mcast-node %s%s--help", command ? command->name : "", command ? " " : "");
    return COMMAND_USAGE;
}

int command_failed(const struct error *err)
{
    say("%s", err->text);
    return COMMAND_REFUSED;
}

int command_exit(const struct mcast_error *error)
{
    if (error->status >= 500)
        return COMMAND_UNREACHABLE;
    return (int)mcast_exit_status(error); /* the same numbers, of all programs of mcastd */
}

static void say_limit(void *arg, const char *sentence)
{
    (void)arg;
    say("warning: --limits: %s", sentence);
}

void command_limits(struct node *node, const struct command_options *options)
{
    if (options->limits)
        settings_apply_job_limits(&node->settings, options->limits, say_limit, NULL);
}

int command_finish(int rc)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return rc;
    say("the output could not be written: %s", strerror(errno));
    return COMMAND_REFUSED;
}
