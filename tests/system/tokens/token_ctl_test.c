/* SPDX-License-Identifier: Apache-2.0 */
/* mcastctl token as people and scripts meet it (B3): real processes, and the issuer's word on what
 * they print. */

#include "tests/system/rig/folder.h"
#include "tests/system/rig/secretscan.h"
#include "tests/unit/unit.h"
#include "tokens/issuer.h"

#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN(...) run(test, (const char *[]){"mcastctl", "token", __VA_ARGS__, NULL})

enum { OUTPUT_SIZE = 16384 };

static const struct rootkeys keys = {
    .count = 1,
    .keys = {{.id = {0xab, 1, 2, 3, 4, 5, 6, 0xcd}, .bytes = "0123456789abcdef0123456789abcde"}}};

struct test {
    char folder[FOLDER_PATH_SIZE];
    char token[BEARER_TEXT_MAX + 1];
    const char *input;    /* standard input; NULL: /dev/null */
    const char *variable; /* MCAST_TOKEN; NULL: unset */
    char out[OUTPUT_SIZE], err[OUTPUT_SIZE];
};

static int setup(void **state)
{
    struct test *test = calloc(1, sizeof *test);
    struct bearer bearer;
    assert_non_null(test);
    assert_int_equal(folder_create(test->folder), 0);
    assert_int_equal(issuer_mint(&keys, 4711, "elcap", "f2Rs8sydSxmd", &bearer, NULL), 0);
    bearer_encode(&bearer, test->token);
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct test *test = *state;
    folder_destroy(test->folder);
    free(test);
    return 0;
}

static void read_file(const char *path, char text[OUTPUT_SIZE])
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, OUTPUT_SIZE - 1, file)] = '\0';
    fclose(file);
}

/* Runs it to its end and returns its exit code. */
static int run(struct test *test, const char *const *arguments)
{
    char in[128], out[128], err[128], variable[4096] = "MCAST_CLUSTER=";
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = 0;
    const bool asked = arguments[2] && strcmp(arguments[2], "narrow") == 0;
    folder_path(in, sizeof in, test->folder, "in.token");
    folder_path(out, sizeof out, test->folder, asked ? "out.token" : "out");
    folder_path(err, sizeof err, test->folder, "err");
    if (test->input)
        assert_int_equal(folder_write(test->folder, "in.token", 0600, test->input), 0);
    if (test->variable)
        snprintf(variable, sizeof variable, "MCAST_TOKEN=%s", test->variable);
    char *environment[] = {variable, (char[]){"LC_ALL=C.UTF-8"}, NULL};
    assert_int_equal(posix_spawn_file_actions_init(&files), 0);
    posix_spawn_file_actions_addopen(&files, 0, test->input ? in : "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(
        posix_spawn(&child, MCASTCTL, &files, NULL, (char *const *)arguments, environment), 0);
    posix_spawn_file_actions_destroy(&files);
    assert_int_equal(waitpid(child, &status, 0), child);
    read_file(out, test->out);
    read_file(err, test->err);
    assert_true(WIFEXITED(status));
    assert_int_equal(secretscan_search(test->folder), 0); /* the next run writes over it */
    return WEXITSTATUS(status);
}

/* The token that was printed, genuine; alone on its line. */
static struct bearer printed(const struct test *test)
{
    char text[OUTPUT_SIZE];
    struct bearer bearer;
    struct error err = {0};
    size_t length = strcspn(test->out, "\n");
    assert_string_equal(test->out + length, "\n");
    memcpy(text, test->out, length);
    text[length] = '\0';
    if (bearer_decode(secret_of(text), &bearer, &err) < 0 ||
        issuer_verify(&keys, &bearer, time(NULL), &err) < 0)
        fail_msg("%s", err.text);
    return bearer;
}

/* -- narrow -- */

static void narrow__prints_a_token_that_can_do_less(void **state)
{
    struct test *test = *state;
    char line[BEARER_TEXT_MAX + 3];
    snprintf(line, sizeof line, "%s\n", test->token);
    test->input = line;
    int64_t before = time(NULL);
    assert_int_equal(RUN("narrow", "--steps",
                         "/\xc6\x92"
                         "A/\xc6\x92"
                         "B/",
                         "--expires", "1h", "--operations", "cleanup"),
                     0);
    int64_t after = time(NULL);
    assert_string_equal(test->err, "");
    struct bearer bearer = printed(test);
    assert_string_equal(bearer.scope.steps, "/fA/fB");
    assert_int_equal(bearer.scope.operations, BEARER_CLEANUP);
    assert_in_range(bearer.scope.expires, before + 3600, after + 3600);
    assert_int_equal(bearer.scope.number, 4711);

    char narrowed[OUTPUT_SIZE]; /* and so on, from the variable */
    snprintf(narrowed, sizeof narrowed, "%.*s", (int)strcspn(test->out, "\n"), test->out);
    test->variable = narrowed;
    test->input = "this is not read";
    assert_int_equal(RUN("narrow", "--steps", "/fA/fB/0"), 0);
    bearer = printed(test);
    assert_string_equal(bearer.scope.steps, "/fA/fB/0");
    assert_int_equal(RUN("narrow", "--steps", "/fA/fC"), 2);
    assert_words(test->err,
                 "nothing would be left: the token reaches /fA/fB, and no step of /fA/fC");
    assert_string_equal(test->out, "");
    assert_int_equal(RUN("narrow", "--operations", "show"), 2);
    assert_words(test->err, "allows none of these operations");
}

static void narrow__as_json(void **state)
{
    struct test *test = *state;
    struct bearer bearer;
    test->variable = test->token;
    assert_int_equal(RUN("narrow", "--operations", "show,cleanup", "--json"), 0);
    json_t *root = json_loads(test->out, 0, NULL);
    const char *text = json_string_value(json_object_get(root, "token"));
    assert_non_null(text);
    assert_int_equal(bearer_decode(secret_of(text), &bearer, NULL), 0);
    assert_int_equal(issuer_verify(&keys, &bearer, 0, NULL), 0);
    assert_int_equal(bearer.scope.caveats, 1);
    json_decref(root);
}

static void narrow__takes_times_with_units(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds; /* 0: refused */
    } times[] = {{"1s", 1},      {"90s", 90},
                 {"10m", 600},   {"2h", 7200},
                 {"7d", 604800}, {"3650d", 315360000},
                 {"3651d", 0},   {"0s", 0},
                 {"", 0},        {"1", 1},
                 {"h", 0},       {"-1h", 0},
                 {"1.5h", 0},    {"1w", 0},
                 {"1h ", 0},     {" 1h", 0},
                 {"500ms", 0},   {"1hh", 0},
                 {"+1h", 0},     {"99999999999999999999s", 0}};
    struct test *test = *state;
    test->variable = test->token;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int64_t before = time(NULL);
        int code = RUN("narrow", "--expires", times[i].text);
        int64_t after = time(NULL);
        if (times[i].seconds == 0) {
            assert_int_equal(code, 2);
            assert_words(test->err,
                         strcmp(times[i].text, "500ms") == 0 ? "1s at least" : "a time such as");
            continue;
        }
        assert_int_equal(code, 0);
        struct bearer bearer;
        test->out[strcspn(test->out, "\n")] = '\0';
        assert_int_equal(bearer_decode(secret_of(test->out), &bearer, NULL), 0);
        assert_in_range(bearer.scope.expires, before + times[i].seconds, after + times[i].seconds);
    }
}

/* -- show -- */

static void show__says_what_it_is_for_and_no_secret(void **state)
{
    struct test *test = *state;
    struct bearer bearer;
    char id[BEARER_ID_SIZE], narrowed[BEARER_TEXT_MAX + 1];
    assert_int_equal(bearer_decode(secret_of(test->token), &bearer, NULL), 0);
    bearer_id(&bearer, id);
    test->variable = test->token;
    assert_int_equal(RUN("show"), 0);
    assert_words(test->out, id);
    assert_words(test->out, "elcap/f2Rs8sydSxmd");
    assert_words(test->out, "4711");
    assert_words(test->out, "all of the reservation");
    assert_words(test->out, "show,cleanup");
    assert_words(test->out, "with the reservation");
    assert_words(test->out, "only the broker can tell");
    assert_null(strstr(test->out, test->token + 40));

    const struct bearer_limits limits = {"/fA", BEARER_SHOW, 1800000000};
    assert_int_equal(bearer_narrow(&bearer, &limits, NULL), 0);
    bearer_encode(&bearer, narrowed);
    test->variable = narrowed;
    assert_int_equal(RUN("show"), 0);
    assert_words(test->out, id);
    assert_words(test->out, "/fA and what is below it");
    assert_words(test->out, "2027-01-15T08:00:00Z");
    assert_int_equal(RUN("show", "--json"), 0);
    json_t *root = json_loads(test->out, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(root, "id")), id);
    assert_string_equal(json_string_value(json_object_get(root, "root_key")), "ab010203040506cd");
    assert_string_equal(json_string_value(json_object_get(root, "steps")), "/fA");
    assert_string_equal(json_string_value(json_object_get(root, "expires")),
                        "2027-01-15T08:00:00Z");
    assert_int_equal(json_array_size(json_object_get(root, "operations")), 1);
    assert_int_equal(json_integer_value(json_object_get(root, "number")), 4711);
    assert_int_equal(json_integer_value(json_object_get(root, "restrictions")), 3);
    assert_true(json_is_null(json_object_get(root, "warning")));
    assert_true(json_is_false(json_object_get(root, "verified")));
    json_decref(root);

    assert_int_equal(bearer_narrow(&bearer, &(struct bearer_limits){.expires = 1}, NULL), 0);
    bearer_encode(&bearer, narrowed);
    assert_int_equal(RUN("show"), 0);
    assert_words(test->out, "1970-01-01T00:00:01Z, which is over");
}

/* -- where it is taken from -- */

static void token__is_not_taken_from_the_command_line(void **state)
{
    struct test *test = *state;
    assert_int_equal(RUN("show", test->token), 2);
    assert_words(test->err, "not taken from the command line");
    assert_null(strstr(test->err, test->token + 12));
    assert_int_equal(RUN("narrow", "--expires", "1h", test->token), 2);
    assert_null(strstr(test->err, test->token + 12));
    assert_int_equal(RUN(test->token), 2);
    assert_words(test->err, "show, narrow, request or rotate");
    assert_null(strstr(test->err, test->token + 12));
}

static void token__that_is_none_is_refused(void **state)
{
    struct test *test = *state;
    char text[4096];
    assert_int_equal(RUN("show"), 2);
    assert_words(test->err, "standard input is empty: give the token there");
    test->input = "\r\n\n";
    assert_int_equal(RUN("show"), 2);
    assert_words(test->err, "standard input is empty");
    test->variable = ""; /* as if it were unset */
    assert_int_equal(RUN("show"), 2);
    assert_words(test->err, "standard input is empty");
    test->variable = NULL;
    snprintf(text, sizeof text, "%s\n%s\n", test->token, test->token);
    test->input = text;
    assert_int_equal(RUN("show"), 2);
    assert_words(test->err, "more than one line");
    snprintf(text, sizeof text, "%s\r\n", test->token);
    assert_int_equal(RUN("show"), 0);
    memset(text, 'A', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(RUN("show"), 2);
    assert_words(test->err, "longer than 1024 characters");
    test->variable = text;
    text[2000] = '\0';
    assert_int_equal(RUN("show"), 2);
    assert_words(test->err, "longer than 1024 characters");
    test->variable = "sess-f4ec6948c83408028802cab7572f92f7";
    assert_int_equal(RUN("show"), 2);
    assert_words(test->err, "no token of mcastd");
    assert_null(strstr(test->err, "f4ec"));
    test->variable = test->token;
    test->token[strlen(test->token) - 5] = '\0';
    assert_int_equal(RUN("narrow", "--expires", "1h"), 2);
    assert_words(test->err, "cut off or damaged");
    assert_string_equal(test->out, "");
}

static void token__misused_is_2(void **state)
{
    struct test *test = *state;
    test->variable = test->token;
    assert_int_equal(run(test, (const char *[]){"mcastctl", "token", NULL}), 2);
    assert_words(test->err, "show, narrow, request or rotate");
    assert_int_equal(RUN("widen"), 2);
    assert_int_equal(RUN("narrow"), 2);
    assert_words(test->err, "--steps, --expires or --operations");
    assert_int_equal(RUN("show", "--steps", "0"), 2);
    assert_words(test->err, "only narrow and request take these");
    assert_int_equal(RUN("narrow", "--operations", "show,shout"), 2);
    assert_words(test->err, "'shout' is no operation");
    assert_int_equal(RUN("narrow", "--operations", ""), 2);
    assert_int_equal(RUN("narrow", "--operations", "a,b,c,d,e,f,g,h,i"), 2);
    assert_int_equal(RUN("narrow", "--steps", "/fA/../fB"), 2);
    assert_words(test->err, ". or ..");
    assert_int_equal(RUN("narrow", "--steps",
                         "/\xca\x84"
                         "A"),
                     2); /* ʄ is not ƒ */
    assert_words(test->err, "byte 0xca");
    char deep[3000];
    memset(deep, 'a', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(RUN("narrow", "--steps", deep), 2);
    assert_words(test->err, "too long for a step");
    deep[600] = '\0';
    assert_int_equal(RUN("narrow", "--steps", deep), 2);
    assert_words(test->err, "longer than 512 bytes");
}

#define WITH_TOKEN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(WITH_TOKEN(narrow__prints_a_token_that_can_do_less), WITH_TOKEN(narrow__as_json),
          WITH_TOKEN(narrow__takes_times_with_units),
          WITH_TOKEN(show__says_what_it_is_for_and_no_secret),
          WITH_TOKEN(token__is_not_taken_from_the_command_line),
          WITH_TOKEN(token__that_is_none_is_refused), WITH_TOKEN(token__misused_is_2))
