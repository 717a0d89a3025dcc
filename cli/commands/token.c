/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "base/duration.h"
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPERATIONS_MAX = 8, TIME_SIZE = 32 };

enum { STEPS, EXPIRES, OPERATIONS };

static const struct command_option options[] = {
    [STEPS] = {"steps", ""},
    [EXPIRES] = {"expires", "TIME"},
    [OPERATIONS] = {"operations", "[show,cleanup,join]"},
    {0}};

/* What the options restrict a token to. */
struct wanted {
    struct mcast_narrowing narrowing;
    char list[64];                              /* what operations point into */
    const char *operations[OPERATIONS_MAX + 1]; /* ended by NULL */
    bool any;
};

static int read_wanted(struct call *call, struct wanted *wanted)
{
    const char *expires = call->given[EXPIRES], *operations = call->given[OPERATIONS];
    int64_t ms = 0;
    *wanted = (struct wanted){.narrowing = MCAST_NARROWING_INIT};
    if (command_step(call, STEPS) < 0 ||
        command_duration(call, EXPIRES, 3650 * DURATION_DAY_MS, &ms) < 0 ||
        (expires && command_least(call, EXPIRES, ms, 1000) < 0))
        return MCAST_USAGE;
    if (operations && ((size_t)snprintf(wanted->list, sizeof wanted->list, "%s", operations) >=
                           sizeof wanted->list ||
                       !command_split(wanted->list, wanted->operations, OPERATIONS_MAX)))
        return command_misused(call, "--operations: show, cleanup, join");
    wanted->any = call->given[STEPS] || expires || operations;
    if (call->given[STEPS])
        wanted->narrowing.steps = call->step;
    if (expires)
        wanted->narrowing.expires = time(NULL) + ms / 1000;
    if (operations)
        wanted->narrowing.operations = wanted->operations;
    return 0;
}

/* ---- the token: never on the command line, which every process of the host can read, and in no
 * message ---- */

static int misused_length(struct call *call)
{
    return command_misused(call, "this is no token: longer than %d characters",
                           MCAST_TOKEN_SIZE - 1);
}

/* One line, of which no copy stays in a buffer. */
static int read_stdin(struct call *call, char token[MCAST_TOKEN_SIZE])
{
    size_t length = 0;
    int c;
    if (isatty(STDIN_FILENO))
        return command_misused(call, "which token? set MCAST_TOKEN, or give it on standard input");
    setvbuf(stdin, NULL, _IONBF, 0);
    while ((c = getc(stdin)) > 0 && c != '\n' && c != '\r') {
        if (length == MCAST_TOKEN_SIZE - 1)
            return misused_length(call);
        token[length++] = (char)c;
    }
    token[length] = '\0';
    while (c == '\n' || c == '\r')
        c = getc(stdin);
    if (ferror(stdin))
        return command_misused(call, "standard input cannot be read: %s", strerror(errno));
    if (c != EOF)
        return command_misused(call, "standard input is more than one line: give the token alone");
    if (length == 0)
        return command_misused(call, "standard input is empty: give the token there, or in the "
                                     "environment variable MCAST_TOKEN");
    return 0;
}

/* From MCAST_TOKEN or, if that is unset or empty, from standard input, one line. To be wiped. */
static int read_token(struct call *call, char token[MCAST_TOKEN_SIZE])
{
    const char *given = getenv("MCAST_TOKEN");
    if (!given || !given[0])
        return read_stdin(call, token);
    if (strlen(given) >= MCAST_TOKEN_SIZE)
        return misused_length(call);
    memcpy(token, given, strlen(given) + 1);
    return 0;
}

/* ---- show ---- */

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
    return command_print_object(
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:s?,s:o,s:s?,s:I,s:s?,s:b}", "id", token->id, "root_key",
                  token->root_key, "cluster", token->cluster, "job", token->job, "number",
                  (json_int_t)token->number, "steps", token->steps, "operations", operations,
                  "expires", token->expires > 0 ? expires : NULL, "restrictions",
                  (json_int_t)token->restrictions, "warning", token->warning, "verified", 0));
}

static int print_table(const struct mcast_token *token)
{
    const char *const *operations = token->operations;
    char expires[TIME_SIZE];
    struct table *table = table_create_pairs();
    format_time(token->expires, expires);
    table_pair(table, "Token", "%s", token->id);
    table_pair(table, "Job", "%s/%s", token->cluster, token->job);
    table_pair(table, "Reservation", "%llu", (unsigned long long)token->number);
    table_pair(table, "Steps", "%s%s", token->steps ? token->steps : "all of the reservation",
               token->steps && token->steps[0] == '/' ? " and what is below it" : "");
    table_pair(table, "Operations", "%s%s%s", operations[0] ? operations[0] : "none",
               operations[0] && operations[1] ? "," : "",
               operations[0] && operations[1] ? operations[1] : "");
    table_pair(table, "Expires", "%s%s", token->expires > 0 ? expires : "with the reservation",
               token->expires > 0 && token->expires <= time(NULL) ? ", which is over" : "");
    table_pair(table, "Restrictions", "%u", token->restrictions);
    table_pair(table, "Root key", "%s", token->root_key);
    table_pair(table, "Genuine", "only the broker can tell");
    if (token->warning)
        table_pair(table, "Warning", "%s", token->warning);
    return table_print(table);
}

static int show_token(struct call *call, const struct wanted *wanted, char *text)
{
    struct mcast_token *token = NULL;
    (void)wanted;
    int rc = mcast_token_read(text, &token, &call->error);
    if (rc == 0)
        rc = call->json ? print_json(token) : print_table(token);
    mcast_token_free(token);
    return rc;
}

/* ---- narrow, request, rotate ---- */

static int print_token(struct call *call, const char *text)
{
    struct mcast_token *token = NULL;
    char expires[TIME_SIZE];
    if (!call->json) {
        puts(text);
        return command_finish();
    }
    int rc = mcast_token_read(text, &token, &call->error);
    if (rc < 0)
        return rc;
    format_time(token->expires, expires);
    rc = command_print_object(json_pack("{s:s,s:s,s:s?}", "token", text, "id", token->id, "expires",
                                        token->expires > 0 ? expires : NULL));
    mcast_token_free(token);
    return rc;
}

static int narrow_token(struct call *call, const struct wanted *wanted, char *text)
{
    int rc = mcast_token_narrow(text, &wanted->narrowing, text, MCAST_TOKEN_SIZE, &call->error);
    return rc < 0 ? rc : print_token(call, text);
}

static int request_token(struct call *call, const struct wanted *wanted, char *text)
{
    int rc = command_open(call);
    if (rc == 0)
        rc = mcast_set_token(call->handle, text, &call->error);
    if (rc == 0)
        rc = mcast_token_request(call->handle, wanted->any ? &wanted->narrowing : NULL, text,
                                 MCAST_TOKEN_SIZE, &call->error);
    return rc < 0 ? rc : print_token(call, text);
}

static int print_rotated(const struct call *call, json_t *answer)
{
    const char *key = command_text(answer, "key");
    (void)call;
    printf("root key %s makes tokens now, %lld are honoured, %lld dropped\n", key ? key : "",
           (long long)json_integer_value(json_object_get(answer, "keys")),
           (long long)json_integer_value(json_object_get(answer, "dropped")));
    return command_finish();
}

static int rotate_key(struct call *call, const struct wanted *wanted, char *text)
{
    char *json = NULL;
    (void)wanted;
    (void)text;
    int rc = command_open(call);
    if (rc == 0)
        rc = mcast_token_rotate(call->handle, &json, &call->error);
    return rc < 0 ? rc : command_print_answer(call, json, print_rotated);
}

/* ---- which of them ---- */

struct verb {
    const char *name;
    bool needs_token, takes_options, needs_options;
    int (*run)(struct call *call, const struct wanted *wanted, char *text);
};

/* What else stands there may be a token: it is not repeated. */
static int check_words(struct call *call, const struct verb *verb, bool options_given)
{
    if (!verb->name)
        return command_misused(
            call, "what is to be done with the token? show, narrow, request or rotate");
    if (call->argument_count > 1)
        return command_misused(call, "a token is not taken from the command line, which every "
                                     "process of this host can see: set MCAST_TOKEN, or give it on "
                                     "standard input");
    if (verb->needs_options && !options_given)
        return command_misused(call, "what is it to be narrowed to? --steps, --expires or "
                                     "--operations");
    if (!verb->takes_options && options_given)
        return command_misused(call, "only narrow and request take these options");
    return 0;
}

static int run_token(struct call *call)
{
    static const struct verb verbs[] = {
        {"show", true, false, false, show_token},
        {"narrow", true, true, true, narrow_token},
        {"request", true, true, false, request_token},
        {"rotate", false, false, false, rotate_key},
        {0},
    };
    const struct verb *verb = verbs;
    struct wanted wanted;
    char token[MCAST_TOKEN_SIZE];
    int rc = read_wanted(call, &wanted);
    while (verb->name && (call->argument_count == 0 || strcmp(verb->name, call->arguments[0]) != 0))
        verb++;
    if (rc == 0)
        rc = check_words(call, verb, wanted.any);
    if (rc == 0 && verb->needs_token)
        rc = read_token(call, token);
    if (rc == 0)
        rc = verb->run(call, &wanted, token);
    explicit_bzero(token, sizeof token);
    return rc;
}

const struct command command_token = {"token",
                                      "show, narrow or request a token, rotate the broker's key",
                                      COMMAND_OWN_ARGUMENTS,
                                      COMMAND_ALONE,
                                      options,
                                      .run = run_token,
                                      .argument = "show,narrow,request,rotate"};
