/* SPDX-License-Identifier: Apache-2.0 */
/* The token endpoint and its forms, without HTTP. */
#include <unistd.h>

#include "mock-fm/http/oauth.h"
#include "tests/unit/unit.h"

#define NOW 1700000000000000
#define LIFETIME_US 1500000

static void write_line(const char *folder, const char *name, const char *line)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_non_null(file = fopen(path, "w"));
    fputs(line, file);
    fclose(file);
}

static void remove_file(const char *folder, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

struct door {
    struct accesstokens *tokens;
    struct auth *auth;
};

static int open_door(void **state)
{
    struct door *door = calloc(1, sizeof *door);
    char folder[] = "/tmp/mockfm-XXXXXX";
    struct problem problem;

    assert_non_null(door);
    assert_non_null(mkdtemp(folder));
    write_line(folder, "client-id", "wlm\r\n");
    write_line(folder, "client-secret", "a&b\nwhat follows the line means nothing\n");
    door->tokens = accesstokens_create(LIFETIME_US);
    door->auth = auth_open(AUTH_OAUTH, folder, door->tokens, &problem);
    remove_file(folder, "client-id");
    remove_file(folder, "client-secret");
    rmdir(folder);
    *state = door;
    return door->auth ? 0 : -1;
}

static int close_door(void **state)
{
    struct door *door = *state;

    auth_close(door->auth);
    accesstokens_destroy(door->tokens);
    free(door);
    return 0;
}

static void form__is_decoded(void **state)
{
    static const char body[] = "a=1&b=x%20y+z%2B%c3%a9&&empty=&bare&c==";
    json_t *form = form_parse(body, sizeof body - 1), *empty = form_parse(NULL, 0);
    json_t *expected = json_pack("{s:s, s:s, s:s, s:s, s:s}", "a", "1", "b", "x y z+\xc3\xa9",
                                 "empty", "", "bare", "", "c", "=");

    assert_true(json_equal(form, expected));
    assert_int_equal(json_object_size(empty), 0);
    json_decref(expected);
    json_decref(empty);
    json_decref(form);
}

static void form__that_is_none_is_refused(void **state)
{
    static const char *const wrong[] = {
        "a=%", "a=%4", "a=%4g", "a=%00", "a=%ff", "a%=1", "a=1&a=2", "a=1&%61=2",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_null(form_parse(wrong[i], strlen(wrong[i])));
    assert_null(form_parse("a=\0", 3));
}

static void path__is_the_endpoints_or_not(void **state)
{
    static const char *const right[] = {
        "/oauth/token",
        "/auth/realms/shasta/protocol/openid-connect/token",
        "/realms/x/protocol/openid-connect/token",
    };
    static const char *const wrong[] = {
        "/oauth/token/",
        "/oauth",
        "/auth/realms//protocol/openid-connect/token",
        "/auth/realms/a/b/protocol/openid-connect/token",
        "/auth/protocol/openid-connect/token",
        "/fabric/collectives/jobs/token",
    };

    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_true(oauth_owns(right[i]));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(oauth_owns(wrong[i]));
}

/* F13: what came out opens the door, until it expires; and not with another scheme. */
static void grant__opens_the_door(void **state)
{
    static const char body[] = "grant_type=client_credentials&client_id=wlm&client_secret=a%26b";
    const struct door *door = *state;
    struct request request = {.method = "POST",
                              .path = "/oauth/token",
                              .body = body,
                              .body_length = sizeof body - 1,
                              .now_us = NOW};
    struct answer answer;
    char header[2048];
    const char *token;

    oauth_answer(door->auth, &request, &answer);
    assert_int_equal(answer.status, 200);
    assert_true(answer.no_store);
    assert_int_equal(json_integer_value(json_object_get(answer.document, "expires_in")), 1);
    token = json_string_value(json_object_get(answer.document, "access_token"));
    snprintf(header, sizeof header, "Bearer %s", token);
    assert_int_equal(auth_judge(door->auth, header, NOW), AUTH_ADMITTED);
    assert_int_equal(auth_judge(door->auth, header, NOW + LIFETIME_US), AUTH_WRONG);
    snprintf(header, sizeof header, "Basic %s", token);
    assert_int_equal(auth_judge(door->auth, header, NOW), AUTH_WRONG);
    assert_int_equal(auth_judge(door->auth, "Bearer sess-1", NOW), AUTH_BEARER);
    assert_int_equal(auth_judge(door->auth, NULL, NOW), AUTH_MISSING);
    answer_release(&answer);
}

static void client__is_known_by_both(void **state)
{
    const struct door *door = *state;

    assert_true(auth_is_client(door->auth, "wlm", "a&b"));
    assert_false(auth_is_client(door->auth, "wlm", "a&"));
    assert_false(auth_is_client(door->auth, "wl", "a&b"));
    assert_false(auth_is_client(door->auth, "", ""));
}

static void auth__names_the_file_it_lacks(void **state)
{
    const struct door *door = *state;
    char folder[] = "/tmp/mockfm-XXXXXX";
    struct problem problem;

    assert_non_null(mkdtemp(folder));
    assert_null(auth_open(AUTH_OAUTH, folder, door->tokens, &problem));
    assert_non_null(strstr(problem.text, "/client-id: No such file"));
    write_line(folder, "client-id", "wlm\n");
    write_line(folder, "client-secret", "\n");
    assert_null(auth_open(AUTH_OAUTH, folder, door->tokens, &problem));
    assert_non_null(strstr(problem.text, "/client-secret is empty"));
    remove_file(folder, "client-id");
    remove_file(folder, "client-secret");
    rmdir(folder);
}

#define WITH_DOOR(test) cmocka_unit_test_setup_teardown(test, open_door, close_door)

UNIT_MAIN(cmocka_unit_test(form__is_decoded), cmocka_unit_test(form__that_is_none_is_refused),
          cmocka_unit_test(path__is_the_endpoints_or_not), WITH_DOOR(grant__opens_the_door),
          WITH_DOOR(client__is_known_by_both), WITH_DOOR(auth__names_the_file_it_lacks))
