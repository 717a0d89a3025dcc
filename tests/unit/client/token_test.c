/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens as users of libmcast narrow and read them (B3); what comes of it is the issuer's to say.
 */

#include "client/mcast.h"
#include "tests/unit/unit.h"
#include "tokens/issuer.h"

enum { NOW = 1790000000 };

static const struct rootkeys keys = {
    .count = 1,
    .keys = {{.id = {0xab, 1, 2, 3, 4, 5, 6, 0xcd}, .bytes = "0123456789abcdef0123456789abcde"}}};

static void mint(char text[MCAST_TOKEN_SIZE])
{
    struct bearer bearer;
    assert_int_equal(issuer_mint(&keys, 4711, "elcap", "f1", &bearer, NULL), 0);
    bearer_encode(&bearer, text);
}

static int allows(const char *text, enum bearer_operation operation, const char *step, int64_t now)
{
    struct bearer bearer;
    int code = bearer_decode(secret_of(text), &bearer, NULL);
    if (code == 0)
        code = issuer_verify(&keys, &bearer, now, NULL);
    return code == 0 ? bearer_allows(&bearer.scope, operation, step, NULL) : code;
}

UNIT(token__narrowed_can_do_that_and_no_more)
{
    static const char *const operations[] = {"cleanup", NULL};
    struct mcast_narrowing narrowing = MCAST_NARROWING_INIT;
    struct mcast_error error = {0};
    char token[MCAST_TOKEN_SIZE], slim[MCAST_TOKEN_SIZE];
    mint(token);
    narrowing.steps = "/fA/fB/"; /* as one says "below" */
    narrowing.operations = operations;
    narrowing.expires = NOW + 10;
    assert_int_equal(mcast_token_narrow(token, &narrowing, slim, sizeof slim, &error), 0);
    assert_int_equal(allows(slim, BEARER_CLEANUP, "/fA/fB/fC", NOW), 0);
    assert_int_equal(allows(slim, BEARER_CLEANUP, "/fA/fB", NOW), 0);
    assert_int_equal(allows(slim, BEARER_CLEANUP, "/fA/fBx", NOW), ERROR_REFUSED);
    assert_int_equal(allows(slim, BEARER_SHOW, NULL, NOW), ERROR_REFUSED);
    assert_int_equal(allows(slim, BEARER_CLEANUP, "/fA/fB", NOW + 10), ERROR_REFUSED);
    assert_int_equal(allows(token, BEARER_CLEANUP, "/fA/fBx", NOW + 10), 0);

    struct mcast_narrowing more = MCAST_NARROWING_INIT; /* in place */
    more.steps = "/fA/fB/fC";
    assert_int_equal(mcast_token_narrow(slim, &more, slim, sizeof slim, &error), 0);
    assert_int_equal(allows(slim, BEARER_CLEANUP, "/fA/fB/fC", NOW), 0);
    assert_int_equal(allows(slim, BEARER_CLEANUP, "/fA/fB", NOW), ERROR_REFUSED);
}

static void assert_refused(const char *token, const struct mcast_narrowing *narrowing, size_t size,
                           const char *words)
{
    char out[MCAST_TOKEN_SIZE] = "as it was";
    struct mcast_error error = {0};
    assert_int_equal(mcast_token_narrow(token, narrowing, out, size, &error), MCAST_USAGE);
    assert_string_equal(out, size > 0 ? "" : "as it was");
    assert_words(error.text, words);
    assert_null(strstr(error.text, token + 12));
}

UNIT(token__refused_says_why_without_it)
{
    static const char *const none[] = {NULL}, *const odd[] = {"show", "shout", NULL};
    static const struct {
        struct mcast_narrowing narrowing;
        const char *words;
    } bad[] = {
        {{sizeof(struct mcast_narrowing), NULL, 0, NULL}, "nothing is to be restricted"},
        {{0, "/fA", 0, NULL}, "MCAST_NARROWING_INIT"},
        {{sizeof(struct mcast_narrowing), "/fX", 0, NULL}, "nothing would be left"},
        {{sizeof(struct mcast_narrowing), "", 0, NULL}, "the step is empty"},
        {{sizeof(struct mcast_narrowing), "/", 0, NULL}, "is empty: no //"},
        {{sizeof(struct mcast_narrowing), "/fA//", 0, NULL}, "is empty: no //"},
        {{sizeof(struct mcast_narrowing), "/fA/..", 0, NULL}, ". or .."},
        {{sizeof(struct mcast_narrowing), NULL, -5, NULL}, "before 1970"},
        {{sizeof(struct mcast_narrowing), NULL, 0, none}, "without any operation"},
        {{sizeof(struct mcast_narrowing), NULL, 0, odd}, "'shout' is no operation"},
    };
    struct mcast_narrowing narrowing = MCAST_NARROWING_INIT;
    char token[MCAST_TOKEN_SIZE], deep[STEP_ID_MAX + 8];
    mint(token);
    narrowing.steps = "/fA";
    assert_int_equal(mcast_token_narrow(token, &narrowing, token, sizeof token, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(token, &bad[i].narrowing, MCAST_TOKEN_SIZE, bad[i].words);
    assert_refused(token, &narrowing, 0, "the buffer is too small");
    assert_refused(token, &narrowing, strlen(token), "the buffer is too small");
    token[10] ^= 1; /* in the root key's id: only the broker can tell */
    assert_int_equal(mcast_token_narrow(token, &narrowing, token, sizeof token, NULL), 0);
    token[strlen(token) - 1] = '=';
    assert_refused(token, &narrowing, MCAST_TOKEN_SIZE, "cut off or damaged");
    assert_refused("sess-f4ec6948c83408028802cab7572f92f7", &narrowing, MCAST_TOKEN_SIZE,
                   "no token of mcastd");

    /* The longest step, with and without its slash. */
    memset(deep, 'a', sizeof deep);
    memcpy(deep, "/fA/", 4);
    deep[STEP_ID_MAX] = '/';
    deep[STEP_ID_MAX + 1] = '\0';
    narrowing.steps = deep;
    mint(token);
    assert_int_equal(mcast_token_narrow(token, &narrowing, token, sizeof token, NULL), 0);
    mint(token);
    deep[STEP_ID_MAX] = 'a';
    assert_refused(token, &narrowing, MCAST_TOKEN_SIZE, "longer than 512 bytes");
    deep[STEP_ID_MAX + 1] = '/';
    deep[STEP_ID_MAX + 2] = '\0';
    assert_refused(token, &narrowing, MCAST_TOKEN_SIZE, "longer than 512 bytes");
}

/* A program that was compiled before a field came, or after. */
UNIT(narrowing__of_another_size)
{
    struct {
        struct mcast_narrowing known;
        const char *later;
    } newer = {MCAST_NARROWING_INIT, NULL};
    struct mcast_error error = {0};
    char token[MCAST_TOKEN_SIZE], slim[MCAST_TOKEN_SIZE];
    mint(token);
    newer.known.size = sizeof newer;
    newer.known.steps = "/fA";
    assert_int_equal(mcast_token_narrow(token, &newer.known, slim, sizeof slim, &error), 0);
    newer.later = "x";
    assert_int_equal(mcast_token_narrow(token, &newer.known, slim, sizeof slim, &error),
                     MCAST_USAGE);
    assert_non_null(strstr(error.text, "update libmcast"));
    newer.known.size = offsetof(struct mcast_narrowing, expires); /* nothing after steps is read */
    newer.known.expires = -1;
    assert_int_equal(mcast_token_narrow(token, &newer.known, slim, sizeof slim, &error), 0);
}

UNIT(token__read_says_what_it_is_for)
{
    static const char *const operations[] = {"show", NULL};
    struct mcast_narrowing narrowing = MCAST_NARROWING_INIT;
    struct mcast_token *seen = NULL;
    char text[MCAST_TOKEN_SIZE], id[32];
    mint(text);
    assert_int_equal(mcast_token_read(text, &seen, NULL), 0);
    assert_int_equal(strlen(seen->id), 16);
    assert_string_equal(seen->root_key, "ab010203040506cd");
    assert_string_equal(seen->cluster, "elcap");
    assert_string_equal(seen->job, "f1");
    assert_int_equal(seen->number, 4711);
    assert_null(seen->steps);
    assert_string_equal(seen->operations[0], "show");
    assert_string_equal(seen->operations[1], "cleanup");
    assert_string_equal(seen->operations[2], "join");
    assert_null(seen->operations[3]);
    assert_int_equal(seen->expires, 0);
    assert_int_equal(seen->restrictions, 0);
    assert_null(seen->warning);
    (void)snprintf(id, sizeof id, "%s", seen->id);
    mcast_token_free(seen);

    narrowing.steps = "/fA";
    narrowing.operations = operations;
    narrowing.expires = NOW;
    assert_int_equal(mcast_token_narrow(text, &narrowing, text, sizeof text, NULL), 0);
    assert_int_equal(mcast_token_read(text, &seen, NULL), 0);
    assert_string_equal(seen->id, id);
    assert_string_equal(seen->steps, "/fA");
    assert_string_equal(seen->operations[0], "show");
    assert_null(seen->operations[1]);
    assert_int_equal(seen->expires, NOW);
    assert_int_equal(seen->restrictions, 3);
    mcast_token_free(seen);
    mcast_token_free(NULL);
}

/* docs/tokens.md has these. */
UNIT(token__read_warns_of_what_is_useless)
{
    static const struct {
        const char *token, *words;
    } odd[] = {
        {"mcast1.tRb1fgRyJO0AAAAAAAASZwVlbGNhcAxmMlJzOHN5ZFN4bWSgoaKjpKWmp6ipqqusra6vCQABeJpCE7Le"
         "QQyBZYo-DwYrH4OVEhDcd4HamaYtzfLoE72G",
         "of a kind (9)"},
        {"mcast1.tRb1fgRyJO0AAAAAAAASZwVlbGNhcAxmMlJzOHN5ZFN4bWSgoaKjpKWmp6ipqqusra6vAQAGL2ZBL2ZC"
         "AQADL2ZYeks-l_tOiUjDWM54RdK0x1XyWFfQerHn-Q8w6iUITD0",
         "no step in common"},
    };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct mcast_token *seen = NULL;
        assert_int_equal(mcast_token_read(odd[i].token, &seen, NULL), 0);
        assert_non_null(strstr(seen->warning, odd[i].words));
        mcast_token_free(seen);
    }
    struct mcast_token *seen = NULL;
    struct mcast_error error = {0};
    assert_int_equal(mcast_token_read("mcast2.AAAA", &seen, &error), MCAST_USAGE);
    assert_non_null(strstr(error.text, "of a version"));
    assert_int_equal(mcast_token_read(NULL, &seen, &error), MCAST_USAGE);
    assert_null(seen);
}

UNIT_RUN(NULL, NULL)
