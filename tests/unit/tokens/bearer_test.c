/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens as anybody may handle them (B3): read, narrowed, written, without a key. */

#include "base/base64url.h"
#include "tests/unit/unit.h"
#include "tokens/bearer.h"

static const unsigned char key_id[BEARER_KEY_ID_SIZE] = {1, 2, 3, 4, 5, 6, 7, 8};
static const unsigned char nonce[BEARER_NONCE_SIZE] = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4,
                                                       0xa5, 0xa6, 0xa7, 0xa8};

static struct bearer fresh(void)
{
    struct bearer bearer;
    bearer_begin(&bearer, key_id, 4711, "elcap", "f2Rs8sydSxmd", nonce);
    return bearer;
}

static void narrow(struct bearer *bearer, const struct bearer_limits *limits)
{
    struct error err = {0};
    if (bearer_narrow(bearer, limits, &err) < 0)
        fail_msg("%s", err.text);
}

static void narrow_steps(struct bearer *bearer, const char *steps)
{
    narrow(bearer, &(struct bearer_limits){.steps = steps});
}

static void assert_says(const struct error *err, const char *words)
{
    assert_words(err->text, words);
    for (const char *c = err->text; *c; c++)
        assert_true(*c >= ' ' && *c < 0x7f);
}

static void assert_same_scope(const struct bearer_scope *a, const struct bearer_scope *b)
{
    assert_int_equal(a->number, b->number);
    assert_string_equal(a->cluster, b->cluster);
    assert_string_equal(a->job, b->job);
    assert_string_equal(a->steps, b->steps);
    assert_int_equal(a->no_steps, b->no_steps);
    assert_int_equal(a->operations, b->operations);
    assert_int_equal(a->expires, b->expires);
    assert_int_equal(a->caveats, b->caveats);
    assert_int_equal(a->unknown, b->unknown);
}

/* -- reading and writing -- */

UNIT(token__of_a_reservation_has_all_of_it)
{
    const struct bearer bearer = fresh();
    assert_int_equal(bearer.scope.number, 4711);
    assert_string_equal(bearer.scope.cluster, "elcap");
    assert_string_equal(bearer.scope.job, "f2Rs8sydSxmd");
    assert_string_equal(bearer.scope.steps, "");
    assert_false(bearer.scope.no_steps);
    assert_int_equal(bearer.scope.operations, BEARER_EVERYTHING);
    assert_true(bearer.scope.expires == INT64_MAX);
    assert_int_equal(bearer.scope.caveats, 0);
    assert_int_equal(bearer.scope.unknown, -1);
    assert_memory_equal(bearer.bytes, key_id, sizeof key_id);
}

UNIT(token__written_is_read_back)
{
    struct bearer bearer = fresh(), back;
    char text[BEARER_TEXT_MAX + 1], again[BEARER_TEXT_MAX + 1];
    for (int round = 0; round < 4; round++) {
        struct error err = {0};
        bearer_encode(&bearer, text);
        assert_true(bearer_is_ours(secret_of(text)));
        if (bearer_decode(secret_of(text), &back, &err) < 0)
            fail_msg("%s", err.text);
        assert_same_scope(&back.scope, &bearer.scope);
        bearer_encode(&back, again);
        assert_string_equal(again, text);
        narrow(&bearer, &(struct bearer_limits){.steps = "/fA/fB",
                                                .operations = BEARER_CLEANUP,
                                                .expires = 99 - round});
    }
}

/* In logs a token is its id: the same whatever it was narrowed to, of nothing that is secret. */
UNIT(id__stays_when_narrowed)
{
    struct bearer bearer = fresh();
    char id[BEARER_ID_SIZE];
    bearer_id(&bearer, id);
    assert_string_equal(id, "a0a1a2a3a4a5a6a7");
    narrow_steps(&bearer, "/fA");
    bearer_id(&bearer, id);
    assert_string_equal(id, "a0a1a2a3a4a5a6a7");
}

/* -- what is none -- */

static void assert_refused(const char *text, int code, const char *words)
{
    static const struct bearer wiped;
    struct bearer bearer;
    struct error err = {0};
    memset(&bearer, 'x', sizeof bearer);
    assert_int_equal(bearer_decode(secret_of(text), &bearer, &err), code);
    assert_int_equal(err.code, code);
    assert_says(&err, words);
    if (text && strlen(text) > 12)
        assert_null(strstr(err.text, text + 8)); /* no error holds a token */
    assert_memory_equal(&bearer, &wiped, sizeof bearer);
}

UNIT(text__that_is_no_token_is_refused)
{
    char longest[BEARER_TEXT_MAX + 2] = "mcast1.";
    memset(longest + 7, 'A', sizeof longest - 8);
    longest[BEARER_TEXT_MAX + 1] = '\0';
    assert_refused(NULL, ERROR_INVALID, "there is no token");
    assert_refused("", ERROR_INVALID, "no token of mcastd");
    assert_refused("sess-f4ec6948c83408028802cab7572f92f7", ERROR_INVALID, "no token of mcastd");
    assert_refused("mcast", ERROR_INVALID, "no token of mcastd");
    assert_refused("mcast1", ERROR_INVALID, "no token of mcastd");
    assert_refused("mcast.AAAA", ERROR_INVALID, "no token of mcastd");
    assert_refused("MCAST1.AAAA", ERROR_INVALID, "no token of mcastd");
    assert_refused(" mcast1.AAAA", ERROR_INVALID, "no token of mcastd");
    assert_refused("mcast2.AAAAAAAAAAAA", ERROR_VERSION, "a version that mcastd");
    assert_refused("mcast01.AAAAAAAAAAAA", ERROR_VERSION, "a version that mcastd");
    assert_refused("mcast11.AAAAAAAAAAAA", ERROR_VERSION, "a version that mcastd");
    assert_refused("mcast1.", ERROR_INVALID, "cut off or damaged");
    assert_refused("mcast1.AAAA", ERROR_INVALID, "cut off or damaged");
    assert_refused("mcast1.A", ERROR_INVALID, "not base64url");
    assert_refused("mcast1.AAAAAAAAAAA=", ERROR_INVALID, "not base64url");
    assert_refused("mcast1.AAAA\nAAAAAAAA", ERROR_INVALID, "not base64url");
    assert_refused(longest, ERROR_INVALID, "longer than 1024 characters");
    longest[BEARER_TEXT_MAX] = '\0';
    assert_refused(longest, ERROR_INVALID, "not base64url"); /* one letter more than bytes */
    longest[BEARER_TEXT_MAX - 1] = '\0';
    assert_refused(longest, ERROR_INVALID, "cut off or damaged"); /* the longest there can be */
}

UNIT(token__is_told_from_other_secrets)
{
    assert_true(bearer_is_ours(secret_of("mcast1.")));
    assert_true(bearer_is_ours(secret_of("mcast12.x")));
    assert_false(bearer_is_ours(secret_of("mcastx.")));
    assert_false(bearer_is_ours(secret_of("mcas")));
    assert_false(bearer_is_ours(secret_of("mcast1")));
    assert_false(bearer_is_ours(secret_of("")));
    assert_false(bearer_is_ours((struct secret){0}));
}

static void put_text(const unsigned char *bytes, size_t size, char *text)
{
    strcpy(text, "mcast1.");
    base64url_encode(bytes, size, text + 7);
}

/* A head is 8 + 8 + 1 + 5 + 1 + 12 + 16 bytes; what is changed in it must show, or change the scope
 * alone. */
UNIT(head__out_of_bounds_is_refused)
{
    static const struct {
        size_t at;
        unsigned char byte;
        const char *what;
    } changes[] = {
        {8, 0x80, "number over INT64_MAX"}, {16, 0, "no cluster"},
        {16, 33, "cluster too long"},       {16, 255, "cluster too long"},
        {17, '-', "a dash in the cluster"}, {17, 'E', "a capital in the cluster"},
        {17, 0, "a NUL in the cluster"},    {22, 0, "no job"},
        {22, 129, "job too long"},          {23, '/', "a slash in the job"},
        {23, 0, "a NUL in the job"},        {19, 0, "a NUL within the cluster"},
        {25, 0, "a NUL within the job"},    {23, 0xc6, "no ASCII in the job"},
        {22, 128, "longer than the token"},
    };
    char text[BEARER_TEXT_MAX + 1];
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct bearer bearer = fresh();
        bearer.bytes[changes[i].at] = changes[i].byte;
        put_text(bearer.bytes, bearer.size, text);
        print_message("%s\n", changes[i].what);
        assert_refused(text, ERROR_INVALID, "cut off or damaged");
    }
    struct bearer bearer = fresh();
    memset(bearer.bytes + 8, 0, 8); /* there is no reservation 0 */
    put_text(bearer.bytes, bearer.size, text);
    assert_refused(text, ERROR_INVALID, "cut off or damaged");
}

UNIT(token__cut_anywhere_is_refused)
{
    const struct bearer bearer = fresh();
    char text[BEARER_TEXT_MAX + 1];
    for (size_t size = 0; size < bearer.size; size++) {
        put_text(bearer.bytes, size, text);
        assert_refused(text, ERROR_INVALID, "cut off or damaged");
    }
}

/* -- caveats as bytes -- */

/* A token with these bytes where its caveats stand. */
static void put_caveats(const void *caveats, size_t size, char *text)
{
    struct bearer bearer = fresh();
    unsigned char bytes[2 * BEARER_BYTES_MAX] = {0};
    memcpy(bytes, bearer.bytes, bearer.head_size);
    memcpy(bytes + bearer.head_size, caveats, size);
    put_text(bytes, bearer.head_size + size + CHAIN_SIZE, text);
}

#define CAVEATS(bytes) bytes, sizeof bytes - 1

UNIT(caveat__of_a_bad_value_is_refused)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *words;
    } bad[] = {
        {CAVEATS("\1\0\0"), "restriction 1 has a value"},
        {CAVEATS("\1\0\1/"), "restriction 1 has a value"},
        {CAVEATS("\1\0\4/fA/"), "restriction 1 has a value"},
        {CAVEATS("\1\0\6/fA/.."), "restriction 1 has a value"},
        {CAVEATS("\1\0\7/fA//fB"), "restriction 1 has a value"},
        {CAVEATS("\1\0\5/fA%2"), "restriction 1 has a value"},
        {CAVEATS("\1\0\4/fA\0"), "restriction 1 has a value"},
        {CAVEATS("\1\0\4/f\0A"), "restriction 1 has a value"},
        {CAVEATS("\1\0\4/\xc6\x92"
                 "A"),
         "restriction 1 has a value"},
        {CAVEATS("\2\0\0"), "restriction 1 has a value"},
        {CAVEATS("\2\0\1\0"), "restriction 1 has a value"},
        {CAVEATS("\2\0\1\x08"), "restriction 1 has a value"},
        {CAVEATS("\2\0\1\x80"), "restriction 1 has a value"},
        {CAVEATS("\2\0\2\1\1"), "restriction 1 has a value"},
        {CAVEATS("\2\0\1\1\2\0\1\x0f"), "restriction 2 has a value"},
        {CAVEATS("\3\0\0"), "restriction 1 has a value"},
        {CAVEATS("\3\0\7\0\0\0\0\0\0\1"), "restriction 1 has a value"},
        {CAVEATS("\3\0\x09\0\0\0\0\0\0\0\0\1"), "restriction 1 has a value"},
        {CAVEATS("\3\0\x08\0\0\0\0\0\0\0\0"), "restriction 1 has a value"},
        {CAVEATS("\3\0\x08\x80\0\0\0\0\0\0\0"), "restriction 1 has a value"},
        {CAVEATS("\1"), "cut off or damaged"},
        {CAVEATS("\1\0"), "cut off or damaged"},
        {CAVEATS("\1\0\3/f"), "cut off or damaged"},
        {CAVEATS("\1\xff\xff/f"), "cut off or damaged"},
        {CAVEATS("\2\0\1\1\2"), "cut off or damaged"},
        {CAVEATS("\2\0\1\1\x09\0\2x"), "cut off or damaged"},
    };
    char text[2 * BEARER_TEXT_MAX];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_caveats(bad[i].bytes, bad[i].size, text);
        assert_refused(text, ERROR_INVALID, bad[i].words);
    }
}

UNIT(caveats__have_limits)
{
    unsigned char bytes[600] = {BEARER_STEPS, 2, 0, '/'};
    char text[2 * BEARER_TEXT_MAX];
    struct bearer bearer;
    memset(bytes + 4, 's', sizeof bytes - 4);
    put_caveats(bytes, 3 + 512, text);
    assert_int_equal(bearer_decode(secret_of(text), &bearer, NULL), 0);
    assert_int_equal(strlen(bearer.scope.steps), 512);
    bytes[2] = 1;
    put_caveats(bytes, 3 + 513, text);
    assert_refused(text, ERROR_INVALID, "restriction 1 has a value");

    unsigned char many[17 * 4];
    for (size_t i = 0; i < sizeof many; i++)
        many[i] = (const unsigned char[]){BEARER_OPERATIONS, 0, 1, BEARER_SHOW}[i % 4];
    put_caveats(many, 16 * 4, text);
    assert_int_equal(bearer_decode(secret_of(text), &bearer, NULL), 0);
    assert_int_equal(bearer.scope.caveats, 16);
    put_caveats(many, 17 * 4, text);
    assert_refused(text, ERROR_INVALID, "more than 16 restrictions");
}

/* An unknown caveat is kept and reported: the issuer refuses it, others pass it on. */
UNIT(caveat__of_an_unknown_kind_is_kept)
{
    static const int kinds[] = {0, 4, 9, 255};
    char text[BEARER_TEXT_MAX + 1];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const unsigned char bytes[] = {(unsigned char)kinds[i], 0, 2, '.', '.', 77, 0, 0};
        struct bearer bearer;
        put_caveats(bytes, sizeof bytes, text);
        assert_int_equal(bearer_decode(secret_of(text), &bearer, NULL), 0);
        assert_int_equal(bearer.scope.unknown, kinds[i]);
        narrow_steps(&bearer, "/fA");
        assert_int_equal(bearer.scope.unknown, kinds[i]);
        bearer_encode(&bearer, text);
        assert_int_equal(bearer_decode(secret_of(text), &bearer, NULL), 0);
        assert_int_equal(bearer.scope.unknown, kinds[i]);
        assert_int_equal(bearer.scope.caveats, 3);
    }
}

/* -- narrowing -- */

UNIT(narrowing__adds_up)
{
    struct bearer bearer = fresh();
    narrow(&bearer, &(struct bearer_limits){.expires = 2000});
    narrow_steps(&bearer, "/fA");
    narrow(&bearer, &(struct bearer_limits){.operations = BEARER_EVERYTHING});
    assert_string_equal(bearer.scope.steps, "/fA");
    assert_int_equal(bearer.scope.operations, BEARER_EVERYTHING);
    assert_int_equal(bearer.scope.expires, 2000);
    narrow(&bearer, &(struct bearer_limits){"/fA/fB", BEARER_CLEANUP, 1000});
    assert_string_equal(bearer.scope.steps, "/fA/fB");
    assert_int_equal(bearer.scope.operations, BEARER_CLEANUP);
    assert_int_equal(bearer.scope.expires, 1000);
    /* Wider than it is: allowed, and without effect. */
    narrow(&bearer, &(struct bearer_limits){"/fA", BEARER_EVERYTHING, 5000});
    assert_string_equal(bearer.scope.steps, "/fA/fB");
    assert_int_equal(bearer.scope.operations, BEARER_CLEANUP);
    assert_int_equal(bearer.scope.expires, 1000);
    assert_int_equal(bearer.scope.caveats, 9);
}

UNIT(narrowing__to_nothing_is_refused)
{
    static const struct {
        struct bearer_limits limits;
        const char *words;
    } bad[] = {
        {{.steps = "/fX"}, "the token reaches /fA, and no step of /fX"},
        {{.steps = "/fAx"}, "the token reaches /fA, and no step of /fAx"},
        {{.steps = "fA"}, "the token reaches /fA, and no step of fA"},
        {{.steps = "0"}, "the token reaches /fA, and no step of 0"},
        {{.steps = "/fA/"}, "empty: no // and no / at its end"},
        {{.steps = "/fA/../fB"}, ". or .."},
        {{.steps = ""}, "the step is empty"},
        {{.operations = BEARER_SHOW}, "allows none of these operations"},
        {{.operations = 8}, "no such operation"},
        {{.operations = BEARER_CLEANUP | 0x100}, "no such operation"},
        {{.expires = -1}, "before 1970"},
        {{"/fA/fB", BEARER_CLEANUP, -1}, "before 1970"}, /* and the others are not added */
    };
    struct bearer bearer = fresh();
    narrow(&bearer, &(struct bearer_limits){.steps = "/fA", .operations = BEARER_CLEANUP});
    const struct bearer before = bearer;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        assert_int_equal(bearer_narrow(&bearer, &bad[i].limits, &err), ERROR_INVALID);
        assert_says(&err, bad[i].words);
        assert_memory_equal(&bearer, &before, sizeof bearer);
    }
}

/* A token that another program made can have restrictions that leave no step: it stays so. */
UNIT(narrowing__of_no_step_stays_nothing)
{
    static const char bytes[] = "\1\0\3/fA\1\0\3/fB\1\0\3/fA";
    char text[BEARER_TEXT_MAX + 1];
    struct bearer bearer;
    struct error err = {0};
    put_caveats(bytes, sizeof bytes - 1, text);
    assert_int_equal(bearer_decode(secret_of(text), &bearer, NULL), 0);
    assert_true(bearer.scope.no_steps);
    assert_int_equal(bearer_narrow(&bearer, &(struct bearer_limits){.steps = "/fA/fC"}, &err),
                     ERROR_INVALID);
    assert_says(&err, "no step in common");
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "/fA", &err), ERROR_REFUSED);
    assert_says(&err, "reaches no step at all");
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "/fB", &err), ERROR_REFUSED);
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_SHOW, NULL, &err), 0);
    /* Of which step a tree is, is found out later. */
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_JOIN, NULL, &err), ERROR_REFUSED);
}

UNIT(narrowing__ends_when_the_token_is_full)
{
    struct bearer bearer = fresh(), before;
    struct error err = {0};
    char text[BEARER_TEXT_MAX + 1];
    for (int i = 0; i < BEARER_CAVEATS_MAX; i++)
        narrow(&bearer, &(struct bearer_limits){.expires = 1000});
    before = bearer;
    assert_int_equal(bearer_narrow(&bearer, &(struct bearer_limits){.expires = 1}, &err),
                     ERROR_FULL);
    assert_says(&err, "16 restrictions and 1024 characters at most");
    assert_memory_equal(&bearer, &before, sizeof bearer);

    /* The longest names, the longest step, and all else fit together once. */
    char cluster[CLUSTER_NAME_MAX + 1] = "", job[JOB_ID_MAX + 1] = "", steps[STEP_ID_MAX + 1] = "/";
    memset(cluster, 'c', CLUSTER_NAME_MAX);
    memset(job, 'j', JOB_ID_MAX);
    memset(steps + 1, 's', STEP_ID_MAX - 1);
    bearer_begin(&bearer, key_id, INT64_MAX, cluster, job, nonce);
    narrow(&bearer, &(struct bearer_limits){steps, BEARER_SHOW, INT64_MAX});
    bearer_encode(&bearer, text);
    assert_in_range(strlen(text), 1000, BEARER_TEXT_MAX);
    assert_int_equal(bearer_decode(secret_of(text), &before, NULL), 0);
    assert_same_scope(&before.scope, &bearer.scope);
    assert_int_equal(bearer_narrow(&bearer, &(struct bearer_limits){steps, 0, 0}, &err),
                     ERROR_FULL);
    assert_memory_equal(&bearer, &before, sizeof bearer);
}

/* -- what it is good for -- */

UNIT(scope__names_itself_when_it_refuses)
{
    struct bearer bearer = fresh();
    struct error err = {0};
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "/fX/fY", &err), 0);
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "1234.0", &err), 0);
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_SHOW, NULL, &err), 0);

    narrow(&bearer, &(struct bearer_limits){.steps = "/fA/fB", .operations = BEARER_CLEANUP});
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "/fA/fB", &err), 0);
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "/fA/fB/fC/0", &err), 0);
    static const char *const outside[] = {"/fA", "/fA/fBx", "/fA/fC", "/fX", "0", "fB"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, outside[i], &err),
                         ERROR_REFUSED);
        assert_says(&err, "is out of this token's reach: it reaches /fA/fB and what is below it");
        assert_says(&err, outside[i]);
    }
    static const char *const none[] = {"",
                                       "/fA/fB/",
                                       "/fA/fB/..",
                                       "/fA/fB/../../fX",
                                       "/fA/fB/%2e%2e",
                                       "/fA/fB//0",
                                       "/fA/\xc6\x92"
                                       "B"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, none[i], &err),
                         ERROR_INVALID);
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_SHOW, NULL, &err), ERROR_REFUSED);
    assert_says(&err, "does not allow show: it allows cleanup");

    bearer = fresh();
    narrow(&bearer, &(struct bearer_limits){.steps = "1234.0"});
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "1234.0", &err), 0);
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "1234.01", &err), ERROR_REFUSED);
    assert_says(&err, "it reaches 1234.0");
}

/* By bytes, as narrowing never makes it: two restrictions without an operation in common. */
UNIT(operations__can_come_to_none)
{
    char text[BEARER_TEXT_MAX + 1];
    struct bearer bearer;
    struct error err = {0};
    put_caveats("\2\0\1\1\2\0\1\2", 8, text);
    assert_int_equal(bearer_decode(secret_of(text), &bearer, NULL), 0);
    assert_int_equal(bearer.scope.operations, 0);
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_SHOW, NULL, &err), ERROR_REFUSED);
    assert_says(&err, "it allows nothing");
    assert_int_equal(bearer_allows(&bearer.scope, BEARER_CLEANUP, "0", &err), ERROR_REFUSED);
    assert_int_equal(bearer_narrow(&bearer, &(struct bearer_limits){.operations = 3}, &err),
                     ERROR_INVALID);
}

UNIT(operations__have_words)
{
    assert_int_equal(bearer_operation_parse("show", 4), BEARER_SHOW);
    assert_int_equal(bearer_operation_parse("cleanup,show", 7), BEARER_CLEANUP);
    assert_int_equal(bearer_operation_parse("shown", 5), 0);
    assert_int_equal(bearer_operation_parse("sho", 3), 0);
    assert_int_equal(bearer_operation_parse("", 0), 0);
    assert_string_equal(bearer_operation_word(BEARER_CLEANUP), "cleanup");
    assert_string_equal(bearer_operation_word(BEARER_JOIN), "join");
    assert_int_equal(bearer_operation_parse("join", 4), BEARER_JOIN);
}

UNIT_RUN(NULL, NULL)
