/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "base/duration.h"
#include "cli/table.h"
#include "cli/tokeninput.h"
#include "base/jobid.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "Usage: mcastctl token show\n"
    "       mcastctl token narrow [--steps PATH] [--expires TIME] [--operations LIST]\n"
    "       mcastctl token request [--steps PATH] [--expires TIME] [--operations LIST]\n"
    "       mcastctl token rotate\n"
    "show prints what a token of the broker is for; narrow makes one from it that can do less.\n"
    "Neither asks the broker, so neither can verify the token. request asks the broker for a\n"
    "token; it needs the job's own token (FI_CXI_COLL_MCAST_TOKEN). rotate, for\n"
    "administrators, makes it use a new key from now on; tokens that are out stay good as long as\n"
    "their jobs' reservations live.\n"
    "The token is read from MCAST_TOKEN. Only where that is unset ('env -u MCAST_TOKEN mcastctl\n"
    "...') it is read from standard input; never from the command line, which every process of\n"
    "the host can see.\n\n"
    "  --steps PATH       only this step and those below it: Flux's job id path, or Slurm's step\n"
    "  --expires TIME     only for so long from now: 30s, 10m, 1h, 7d\n"
    "  --operations LIST  only these: show, cleanup\n\n"
    "Example:\n"
    "  (umask 077; MCAST_TOKEN=$FI_CXI_COLL_MCAST_TOKEN mcastctl token request >token.txt)\n"
    "  env -u MCAST_TOKEN mcastctl token narrow --steps \"$FLUX_JOB_ID_PATH\" --expires 1h "
    "<token.txt\n";

enum { STEPS_SIZE = 1024, OPERATIONS_MAX = 8, TIME_SIZE = 32 };

struct wanted {
    struct mcast_narrowing narrowing;
    char steps[STEPS_SIZE];
    char list[64];                              /* what operations point into */
    const char *operations[OPERATIONS_MAX + 1]; /* ended by NULL */
    bool given;                                 /* any of them */
};

enum verb { NONE, SHOW, NARROW, REQUEST, ROTATE };

static int take_operations(struct wanted *wanted, const char *value)
{
    size_t used = 0;
    char *rest = wanted->list, *word;
    if ((size_t)snprintf(wanted->list, sizeof(wanted->list), "%s", value) >= sizeof(wanted->list))
        return command_misused(&command_token, "--operations: show, cleanup");
    while ((word = strsep(&rest, ",")) && used < OPERATIONS_MAX)
        wanted->operations[used++] = word;
    wanted->operations[used] = NULL;
    wanted->narrowing.operations = wanted->operations;
    return word ? command_misused(&command_token, "--operations: show, cleanup") : COMMAND_GO_ON;
}

static int store_token_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    int64_t ms;
    wanted->given = true;
    switch (option) {
    case 's':
        if (!jobid_plain_path(value, wanted->steps, sizeof(wanted->steps)))
            return command_misused(&command_token, "--steps: too long for a step");
        wanted->narrowing.steps = wanted->steps;
        return COMMAND_GO_ON;
    case 'e':
        ms = duration_parse(value, DURATION_DAYS, 3650 * DURATION_DAY_MS);
        if (ms <= 0 || strstr(value, "ms"))
            return command_misused(&command_token,
                                   "--expires %.40s: a number with its unit, s, m, h or d, as 1h",
                                   value);
        wanted->narrowing.expires = time(NULL) + ms / 1000;
        return COMMAND_GO_ON;
    default:
        return take_operations(wanted, value);
    }
}

/* -- show -- */

static void format_time(int64_t seconds, char text[TIME_SIZE])
{
    const time_t when = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&when, &parts) || strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(text, TIME_SIZE, "%lld", (long long)seconds); /* a year that has no name */
}

static int print_json(const struct mcast_token *token)
{
    char expires[TIME_SIZE];
    json_t *operations = json_array();
    for (const char *const *word = token->operations; *word; word++)
        json_array_append_new(operations, json_string(*word));
    format_time(token->expires, expires);
    json_t *root =
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:s?,s:o,s:s?,s:I,s:s?,s:b}", "id", token->id, "root_key",
                  token->root_key, "cluster", token->cluster, "job", token->job, "number",
                  (json_int_t)token->number, "steps", token->steps, "operations", operations,
                  "expires", token->expires > 0 ? expires : NULL, "restrictions",
                  (json_int_t)token->restrictions, "warning", token->warning, "verified", 0);
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    return command_print_json(text);
}

static void row(struct table *table, const char *name, const char *value)
{
    table_row(table);
    table_cell(table, name);
    table_cell(table, value);
}

static void add_scope(struct table *table, const struct mcast_token *token)
{
    char text[TIME_SIZE];
    table_row(table);
    table_cell(table, "Steps");
    table_cellf(table, "%s%s", token->steps ? token->steps : "all of the reservation",
                token->steps && token->steps[0] == '/' ? " and what is below it" : "");
    table_row(table);
    table_cell(table, "Operations");
    table_cellf(table, "%s%s%s", token->operations[0] ? token->operations[0] : "none",
                token->operations[0] && token->operations[1] ? "," : "",
                token->operations[0] && token->operations[1] ? token->operations[1] : "");
    format_time(token->expires, text);
    table_row(table);
    table_cell(table, "Expires");
    table_cellf(table, "%s%s", token->expires > 0 ? text : "with the reservation",
                token->expires > 0 && token->expires <= time(NULL) ? ", which is over" : "");
}

static int print_table(const struct mcast_token *token)
{
    struct table *table = table_create(false);
    if (!table)
        return table_print(NULL);
    table_column(table, "NAME", 0);
    table_column(table, "VALUE", TABLE_WRAP);
    row(table, "Token", token->id);
    table_row(table);
    table_cell(table, "Job");
    table_cellf(table, "%s/%s", token->cluster, token->job);
    table_row(table);
    table_cell(table, "Reservation");
    table_cellf(table, "%llu", (unsigned long long)token->number);
    add_scope(table, token);
    table_row(table);
    table_cell(table, "Restrictions");
    table_cellf(table, "%u", token->restrictions);
    row(table, "Root key", token->root_key);
    row(table, "Genuine", "only the broker can tell");
    if (token->warning)
        row(table, "Warning", token->warning);
    return table_print(table);
}

static int show(const struct common *common, const char *text)
{
    struct mcast_token *token = NULL;
    struct mcast_error error;
    if (mcast_token_read(text, &token, &error) < 0)
        return command_failed(&error);
    int rc = common->json ? print_json(token) : print_table(token);
    mcast_token_free(token);
    return rc;
}

/* -- narrow -- */

static int print_token(const struct common *common, const char *text)
{
    if (!common->json) {
        puts(text);
        return command_finish();
    }
    struct mcast_token *token = NULL;
    struct mcast_error error;
    char expires[TIME_SIZE];
    if (mcast_token_read(text, &token, &error) < 0)
        return command_failed(&error);
    format_time(token->expires, expires);
    json_t *root = json_pack("{s:s,s:s,s:s?}", "token", text, "id", token->id, "expires",
                             token->expires > 0 ? expires : NULL);
    char *json = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    mcast_token_free(token);
    return command_print_json(json);
}

static int narrow(const struct common *common, const struct wanted *wanted, char *text)
{
    struct mcast_error error;
    if (mcast_token_narrow(text, &wanted->narrowing, text, MCAST_TOKEN_SIZE, &error) < 0)
        return command_failed(&error);
    return print_token(common, text);
}

/* -- asking the broker -- */

static int request(const struct common *common, const struct wanted *wanted, char *text)
{
    struct mcast *handle = NULL;
    struct mcast_error error;
    int rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (mcast_set_token(handle, text, &error) < 0 ||
        mcast_token_request(handle, wanted->given ? &wanted->narrowing : NULL, text,
                            MCAST_TOKEN_SIZE, &error) < 0)
        rc = command_failed(&error);
    else
        rc = print_token(common, text);
    mcast_close(handle);
    return rc;
}

static int print_rotated(const struct common *common, const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    int rc;
    if (common->json) {
        rc = command_print_json(json_dumps(root, JSON_INDENT(2)));
    } else {
        const char *key = json_string_value(json_object_get(root, "key"));
        json_int_t keys = json_integer_value(json_object_get(root, "keys"));
        printf("root key %s makes tokens now, %" JSON_INTEGER_FORMAT
               " are honoured, %" JSON_INTEGER_FORMAT " dropped\n",
               key ? key : "", keys, json_integer_value(json_object_get(root, "dropped")));
        rc = command_finish();
    }
    json_decref(root);
    return rc;
}

static int rotate(const struct common *common)
{
    struct mcast *handle = NULL;
    struct mcast_error error;
    char *text = NULL;
    int rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = mcast_token_rotate(handle, &text, &error) < 0 ? command_failed(&error)
                                                       : print_rotated(common, text);
    free(text);
    mcast_close(handle);
    return rc;
}

/* -- which of them -- */

static enum verb verb_of(const char *word)
{
    static const char *const words[] = {
        [SHOW] = "show", [NARROW] = "narrow", [REQUEST] = "request", [ROTATE] = "rotate"};
    for (int verb = SHOW; verb <= ROTATE; verb++)
        if (strcmp(words[verb], word) == 0)
            return (enum verb)verb;
    return NONE;
}

/* What else stands there may be a token: it is not repeated. */
static int check_words(const struct command *command, enum verb verb, int words, bool given)
{
    if (verb == NONE)
        return command_misused(command, "what is to be done with the token? show, narrow, request "
                                        "or rotate");
    if (words > 1)
        return command_misused(command, "a token is not taken from the command line, which every "
                                        "process of this host can see: set MCAST_TOKEN, or give "
                                        "it on standard input");
    if (verb == NARROW && !given)
        return command_misused(command, "what is it to be narrowed to? --steps, --expires or "
                                        "--operations");
    if ((verb == SHOW || verb == ROTATE) && given)
        return command_misused(command, "only narrow and request take these options");
    return COMMAND_GO_ON;
}

static int run_token(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"steps", required_argument, NULL, 's'},
        {"expires", required_argument, NULL, 'e'},
        {"operations", required_argument, NULL, 'o'},
        {0},
    };
    struct wanted wanted = {.narrowing = MCAST_NARROWING_INIT};
    char token[MCAST_TOKEN_SIZE];
    int rc = command_options(command, common, argc, argv, options, store_token_option, &wanted);
    if (rc != COMMAND_GO_ON)
        return rc;
    const enum verb verb = verb_of(optind < argc ? argv[optind] : "");
    rc = check_words(command, verb, argc - optind, wanted.given);
    if (rc == COMMAND_GO_ON && verb == ROTATE)
        return rotate(common);
    if (rc == COMMAND_GO_ON)
        rc = tokeninput_read(command, token);
    if (rc == COMMAND_GO_ON)
        rc = verb == NARROW    ? narrow(common, &wanted, token)
             : verb == REQUEST ? request(common, &wanted, token)
                               : show(common, token);
    explicit_bzero(token, sizeof(token));
    return rc;
}

const struct command command_token = {
    "token", "show, narrow or request a token, rotate the broker's key", usage, run_token};
