/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens as their issuer sees them (B3, F19, I6): the format is that of docs/tokens.md,
 * narrowing never widens, and whatever is changed is refused. */

#include "base/base64url.h"
#include "base/hex.h"
#include "tests/unit/unit.h"
#include "tokens/issuer.h"

enum { NOW = 1790000000, VALUE_SIZE = 1100 };

/* The root key of the vectors, 00 01 02 … 1f, and an older one. */
static struct rootkeys ring(void)
{
    struct rootkeys keys = {.count = 2};
    assert_int_equal(hex_read("b516f57e047224ed", keys.keys[1].id, ROOTKEY_ID_SIZE), 0);
    for (size_t i = 0; i < ROOTKEY_SIZE; i++)
        keys.keys[1].bytes[i] = (unsigned char)i;
    memset(keys.keys[0].id, 0x77, ROOTKEY_ID_SIZE);
    memset(keys.keys[0].bytes, 0x88, ROOTKEY_SIZE);
    return keys;
}

static struct bearer minted(void)
{
    const struct rootkeys keys = ring();
    struct bearer bearer;
    struct error err = {0};
    if (issuer_mint(&keys, 4711, "elcap", "f2Rs8sydSxmd", &bearer, &err) < 0)
        fail_msg("%s", err.text);
    return bearer;
}

static void narrow(struct bearer *bearer, const char *steps, unsigned operations, int64_t expires)
{
    struct error err = {0};
    if (bearer_narrow(bearer, &(struct bearer_limits){steps, operations, expires}, &err) < 0)
        fail_msg("%s", err.text);
}

/* What becomes of a text: as the broker takes it. */
static int take(const char *text, int64_t now, struct bearer *bearer, struct error *err)
{
    const struct rootkeys keys = ring();
    int code = bearer_decode(secret_of(text), bearer, err);
    return code < 0 ? code : issuer_verify(&keys, bearer, now, err);
}

static int take_bytes(const unsigned char *bytes, size_t size)
{
    struct bearer bearer;
    struct error err;
    char text[2 * BEARER_TEXT_MAX] = "mcast1.";
    base64url_encode(bytes, size, text + 7);
    return take(text, NOW, &bearer, &err);
}

/* -- the page -- */

/* The value of a name in docs/tokens.md: what follows it in the line that begins with it. */
static const char *vector(const char *name)
{
    static char values[8][VALUE_SIZE];
    static int next;
    char line[2 * VALUE_SIZE], *value = values[next++ % 8];
    FILE *page = fopen(TOKENS_PAGE, "r");
    assert_non_null(page);
    value[0] = '\0';
    while (!value[0] && fgets(line, sizeof line, page)) {
        size_t length = strlen(name);
        if (strncmp(line, name, length) == 0 && strncmp(line + length, "  ", 2) == 0)
            (void)sscanf(line + length, " %1099s", value);
    }
    (void)fclose(page);
    if (!value[0])
        fail_msg("docs/tokens.md has no vector \"%s\"", name);
    return value;
}

static void assert_hex(const unsigned char *bytes, size_t size, const char *expected)
{
    char digits[2 * BEARER_BYTES_MAX + 1];
    hex_write(bytes, size, digits);
    digits[2 * size] = '\0';
    assert_string_equal(digits, expected);
}

/* The vectors were made with another implementation (Python's hmac and hashlib). */
UNIT(format__is_that_of_the_page)
{
    struct bearer bearer;
    struct error err = {0};
    char text[BEARER_TEXT_MAX + 1], id[BEARER_ID_SIZE];
    if (take(vector("token"), NOW, &bearer, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(bearer.scope.number, strtoull(vector("number"), NULL, 10));
    assert_string_equal(bearer.scope.cluster, vector("cluster"));
    assert_string_equal(bearer.scope.job, vector("job"));
    assert_hex(bearer.bytes, BEARER_KEY_ID_SIZE, vector("its id"));
    assert_hex(bearer.bytes, bearer.head_size, vector("head"));
    assert_hex(bearer.bytes + bearer.head_size, CHAIN_SIZE, vector("MAC 0"));
    assert_hex(bearer.bytes + bearer.head_size - BEARER_NONCE_SIZE, BEARER_NONCE_SIZE,
               vector("nonce"));
    bearer_id(&bearer, id);
    assert_string_equal(id, vector("id for logs"));

    narrow(&bearer, "/fA/fB", 0, 0);
    bearer_encode(&bearer, text);
    assert_string_equal(text, vector("token, steps"));
    assert_hex(bearer.bytes + bearer.size - CHAIN_SIZE, CHAIN_SIZE, vector("MAC 1"));
    assert_hex(bearer.bytes + bearer.head_size, 9, vector("steps /fA/fB"));
    narrow(&bearer, NULL, BEARER_CLEANUP, 1800000000);
    bearer_encode(&bearer, text);
    assert_string_equal(text, vector("token, all three"));
    assert_hex(bearer.bytes + bearer.size - CHAIN_SIZE, CHAIN_SIZE, vector("MAC 3"));
    assert_hex(bearer.bytes + bearer.head_size + 9, 4, vector("cleanup only"));
    assert_hex(bearer.bytes + bearer.head_size + 13, 11, vector("until 1800000000"));
}

UNIT(keys__are_those_of_the_page)
{
    const struct rootkeys keys = ring();
    struct chain key;
    unsigned char head[BEARER_BYTES_MAX];
    const char *digits = vector("head");
    size_t size = strlen(digits) / 2;
    assert_int_equal(hex_read(digits, head, size), 0);
    assert_hex(rootkeys_current(&keys)->bytes, ROOTKEY_SIZE, vector("root key"));
    assert_int_equal(chain_key(&key, rootkeys_current(&keys)->bytes, "mcast1 reservation", head + 8,
                               size - 24, NULL),
                     0);
    assert_hex(key.mac, CHAIN_SIZE, vector("reservation key"));
    assert_int_equal(chain_add(&key, head, size, NULL), 0);
    assert_hex(key.mac, CHAIN_SIZE, vector("MAC 0"));
}

UNIT(vectors__of_the_page_are_taken_as_it_says)
{
    struct bearer bearer;
    struct error err = {0};
    assert_int_equal(take(vector("token, unknown"), NOW, &bearer, &err), ERROR_VERSION);
    assert_non_null(strstr(err.text, "a kind (9)"));
    assert_int_equal(take(vector("token, no step"), NOW, &bearer, &err), 0);
    assert_true(bearer.scope.no_steps);
    assert_int_equal(take(vector("token, all three"), 1799999999, &bearer, &err), 0);
    assert_int_equal(take(vector("token, all three"), 1800000000, &bearer, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "expired at 2027-01-15T08:00:00Z"));
}

/* -- whose it is, and until when -- */

UNIT(token__minted_is_genuine_and_new)
{
    const struct rootkeys keys = ring();
    struct bearer a = minted(), b = minted();
    char one[BEARER_ID_SIZE], other[BEARER_ID_SIZE];
    assert_int_equal(issuer_verify(&keys, &a, INT64_MAX - 1, NULL), 0);
    assert_int_equal(issuer_verify(&keys, &b, 0, NULL), 0);
    bearer_id(&a, one);
    bearer_id(&b, other);
    assert_string_not_equal(one, other);
    assert_memory_equal(a.bytes, keys.keys[1].id, ROOTKEY_ID_SIZE);
}

UNIT(token__lives_as_long_as_its_root_key)
{
    struct rootkeys keys = ring();
    struct error err = {0};
    struct bearer bearer = minted();
    keys.count = 3; /* a new one makes tokens, the old one is honoured */
    memset(&keys.keys[2], 0x99, sizeof keys.keys[2]);
    assert_int_equal(issuer_verify(&keys, &bearer, NOW, &err), 0);
    keys.keys[1] = keys.keys[2]; /* the old one is dropped */
    keys.count = 2;
    assert_int_equal(issuer_verify(&keys, &bearer, NOW, &err), ERROR_NOT_FOUND);
    assert_non_null(strstr(err.text, "no longer honoured"));

    keys = ring(); /* another broker's key under this id */
    keys.keys[1].bytes[31] ^= 1;
    assert_int_equal(issuer_verify(&keys, &bearer, NOW, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "not genuine"));
}

UNIT(token__ends_when_its_time_is_over)
{
    const struct rootkeys keys = ring();
    struct error err = {0};
    struct bearer bearer = minted();
    narrow(&bearer, NULL, 0, NOW + 10);
    narrow(&bearer, NULL, 0, NOW);
    narrow(&bearer, NULL, 0, NOW + 20);
    assert_int_equal(issuer_verify(&keys, &bearer, NOW - 1, &err), 0);
    assert_int_equal(issuer_verify(&keys, &bearer, NOW, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "the token expired at 2026-09-21T14:13:20Z"));
    assert_int_equal(issuer_verify(&keys, &bearer, INT64_MAX, &err), ERROR_REFUSED);
}

/* The error of a forged token says that it is one, not what is wrong. */
UNIT(token__is_not_believed_before_its_mac)
{
    const struct rootkeys keys = ring();
    struct error err = {0};
    struct bearer bearer = minted();
    narrow(&bearer, NULL, 0, 1);
    bearer.bytes[bearer.size - 1] ^= 1;
    assert_int_equal(issuer_verify(&keys, &bearer, NOW, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "not genuine"));
}

/* -- what is changed is refused -- */

static struct bearer narrowed(void)
{
    struct bearer bearer = minted();
    narrow(&bearer, "/fA/fB", BEARER_CLEANUP, NOW + 1);
    narrow(&bearer, "/fA/fB/fC", 0, 0);
    return bearer;
}

static void flip(unsigned char *bytes, size_t bit)
{
    bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
}

UNIT(token__with_any_bit_flipped_is_refused)
{
    struct bearer tokens[] = {minted(), narrowed()};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        char text[BEARER_TEXT_MAX + 1];
        struct bearer bearer;
        struct error err = {0};
        bearer_encode(&tokens[i], text);
        assert_int_equal(take(text, NOW, &bearer, &err), 0);
        size_t length = strlen(text);
        for (size_t bit = 0; bit < 8 * length; bit++) {
            flip((unsigned char *)text, bit);
            assert_true(take(text, NOW, &bearer, &err) < 0);
            flip((unsigned char *)text, bit);
        }
        for (size_t bit = 0; bit < 8 * tokens[i].size; bit++) {
            flip(tokens[i].bytes, bit);
            assert_true(take_bytes(tokens[i].bytes, tokens[i].size) < 0);
            flip(tokens[i].bytes, bit);
        }
        assert_int_equal(take(text, NOW, &bearer, &err), 0);
    }
}

UNIT(token__cut_or_drawn_out_is_refused)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_= \n.";
    const struct bearer whole = narrowed();
    struct bearer bearer;
    struct error err;
    char text[BEARER_TEXT_MAX + 1], cut[BEARER_TEXT_MAX + 2];
    unsigned char longer[BEARER_BYTES_MAX] = {0};
    bearer_encode(&whole, text);
    size_t length = strlen(text);
    for (size_t size = 0; size < length; size++) { /* at the end, and at the beginning */
        memcpy(cut, text, size);
        cut[size] = '\0';
        assert_true(take(cut, NOW, &bearer, &err) < 0);
        assert_true(take(text + length - size, NOW, &bearer, &err) < 0);
    }
    for (const char *c = alphabet; *c; c++) {
        (void)snprintf(cut, sizeof cut, "%s%c", text, *c);
        assert_true(take(cut, NOW, &bearer, &err) < 0);
    }
    for (size_t size = 0; size < whole.size; size++)
        assert_true(take_bytes(whole.bytes, size) < 0);
    memcpy(longer, whole.bytes, whole.size);
    for (size_t size = whole.size + 1; size <= sizeof longer; size++)
        assert_true(take_bytes(longer, size) < 0);
}

/* The restrictions cannot be taken away one by one, nor from the middle, nor change places, nor be
 * added without the chain. */
UNIT(caveats__cannot_be_taken_away)
{
    const struct bearer whole = narrowed();
    size_t starts[BEARER_CAVEATS_MAX + 1], count = 0, end = whole.size - CHAIN_SIZE;
    for (size_t at = whole.head_size; at < end; at += bearer_caveat_size(whole.bytes + at))
        starts[count++] = at;
    starts[count] = end;
    assert_int_equal(count, 4);
    for (size_t from = 0; from < count; from++) {
        for (size_t to = from + 1; to <= count; to++) {
            unsigned char bytes[BEARER_BYTES_MAX];
            memcpy(bytes, whole.bytes, starts[from]);
            memcpy(bytes + starts[from], whole.bytes + starts[to], whole.size - starts[to]);
            assert_int_equal(take_bytes(bytes, whole.size - (starts[to] - starts[from])),
                             ERROR_REFUSED);
        }
    }
    unsigned char turned[BEARER_BYTES_MAX], more[BEARER_BYTES_MAX];
    size_t first = starts[1] - starts[0], second = starts[2] - starts[1];
    memcpy(turned, whole.bytes, whole.size);
    memcpy(turned + starts[0], whole.bytes + starts[1], second);
    memcpy(turned + starts[0] + second, whole.bytes + starts[0], first);
    assert_int_equal(take_bytes(turned, whole.size), ERROR_REFUSED);

    memcpy(more, whole.bytes, end);
    memcpy(more + end, "\2\0\1\2", 4);
    memcpy(more + end + 4, whole.bytes + end, CHAIN_SIZE);
    assert_int_equal(take_bytes(more, whole.size + 4), ERROR_REFUSED);
}

/* A MAC of one token fits no other one: not of another reservation, life, key or nonce. */
UNIT(mac__fits_one_token_only)
{
    const struct rootkeys keys = ring();
    struct rootkeys old = ring();
    struct bearer tokens[6];
    old.count = 1;
    assert_int_equal(issuer_mint(&keys, 4711, "elcap", "f1", &tokens[0], NULL), 0);
    assert_int_equal(issuer_mint(&keys, 4712, "elcap", "f1", &tokens[1], NULL), 0);
    assert_int_equal(issuer_mint(&keys, 4711, "elcap", "f2", &tokens[2], NULL), 0);
    assert_int_equal(issuer_mint(&keys, 4711, "elca", "pf1", &tokens[3], NULL), 0);
    assert_int_equal(issuer_mint(&old, 4711, "elcap", "f1", &tokens[4], NULL), 0);
    assert_int_equal(issuer_mint(&keys, 4711, "elcap", "f1", &tokens[5], NULL), 0);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            struct bearer mixed = tokens[i];
            memcpy(mixed.bytes + mixed.size - CHAIN_SIZE,
                   tokens[k].bytes + tokens[k].size - CHAIN_SIZE, CHAIN_SIZE);
            assert_int_equal(issuer_verify(&keys, &mixed, NOW, NULL), i == k ? 0 : ERROR_REFUSED);
        }
    }
}

/* -- narrowing never widens -- */

static uint64_t prng_state;

/* splitmix64 */
static unsigned prng(unsigned sides)
{
    uint64_t z = (prng_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ z >> 31) % sides);
}

static const char *any_step(void)
{
    static const char *const steps[] = {"/a",   "/a/b", "/a/b/c", "/a/b/c/d", "/a/bb", "/ab",
                                        "/a/c", "/b",   "/b/a",   "/a/b/b",   "a",     "b",
                                        "0",    "a.b",  "/a.b",   "/a/b.c"};
    return steps[prng(sizeof steps / sizeof *steps)];
}

/* Whether it could be narrowed so: chance asks for what leaves nothing, too. */
static bool narrow_by_chance(struct bearer *bearer)
{
    struct bearer_limits limits = {0};
    unsigned which = 1 + prng(7);
    if (which & 1)
        limits.steps = any_step();
    if (which & 2)
        limits.operations = 1 + prng(3);
    if (which & 4)
        limits.expires = NOW + prng(20);
    return bearer_narrow(bearer, &limits, NULL) == 0;
}

struct question {
    enum bearer_operation operation;
    const char *step; /* NULL: none */
    int64_t now;
};

static bool accepts(const struct bearer *bearer, const struct question *question)
{
    const struct rootkeys keys = ring();
    char text[BEARER_TEXT_MAX + 1];
    struct bearer shown;
    bearer_encode(bearer, text);
    return bearer_decode(secret_of(text), &shown, NULL) == 0 &&
           issuer_verify(&keys, &shown, question->now, NULL) == 0 &&
           bearer_allows(&shown.scope, question->operation, question->step, NULL) == 0;
}

/* Each caveat on its own, from the bytes: the letter of docs/tokens.md. */
static bool each_caveat_accepts(const struct bearer *bearer, const struct question *question)
{
    const unsigned char *at = bearer->bytes + bearer->head_size;
    const unsigned char *end = bearer->bytes + bearer->size - CHAIN_SIZE;
    for (; at < end; at += bearer_caveat_size(at)) {
        char step[STEP_ID_MAX + 1];
        uint64_t until = 0;
        size_t size = bearer_caveat_size(at) - 3;
        switch (at[0]) {
        case BEARER_STEPS:
            (void)snprintf(step, sizeof step, "%.*s", (int)size, (const char *)at + 3);
            if (question->step && !steppath_within(question->step, step))
                return false;
            break;
        case BEARER_OPERATIONS:
            if (!(at[3] & question->operation))
                return false;
            break;
        case BEARER_EXPIRES:
            for (size_t i = 0; i < size; i++)
                until = until << 8 | at[3 + i];
            if (question->now >= (int64_t)until)
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

UNIT(narrowing__never_widens)
{
    enum { TOKENS = 1500, QUESTIONS = 12 };
    unsigned accepted = 0, lost = 0, kept = 0;
    for (unsigned i = 0; i < TOKENS; i++) {
        prng_state = i;
        struct bearer wide = minted(), slim;
        for (unsigned times = prng(4); times > 0; times--)
            (void)narrow_by_chance(&wide);
        slim = wide;
        if (!narrow_by_chance(&slim))
            continue;
        (void)narrow_by_chance(&slim);
        for (unsigned k = 0; k < QUESTIONS; k++) {
            bool show = prng(4) == 0;
            struct question question = {.operation = show ? BEARER_SHOW : BEARER_CLEANUP,
                                        .step = show ? NULL : any_step(),
                                        .now = NOW - 2 + prng(24)};
            bool before = accepts(&wide, &question), after = accepts(&slim, &question);
            assert_int_equal(before, each_caveat_accepts(&wide, &question));
            assert_int_equal(after, each_caveat_accepts(&slim, &question));
            assert_true(before || !after);
            accepted += before;
            kept += after;
            lost += before && !after;
        }
    }
    /* It was about something. */
    assert_true(accepted > 1000 && lost > 500 && kept > 200);
}

/* The kernel's random numbers, or none (the linker's --wrap). */
static bool no_random_bytes;

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */
int __real_keybytes_draw(unsigned char *bytes, size_t size, struct error *err);
int __wrap_keybytes_draw(unsigned char *bytes, size_t size, struct error *err);

int __wrap_keybytes_draw(unsigned char *bytes, size_t size, struct error *err)
{
    if (no_random_bytes)
        return error_set(err, ERROR_IO, "there are none");
    return __real_keybytes_draw(bytes, size, err);
}
/* NOLINTEND(readability-identifier-naming) */

/* B3: a token with a nonce that can be guessed is worse than none. */
UNIT(mint__fails_without_random_bytes)
{
    const struct rootkeys keys = ring();
    struct bearer bearer, before;
    struct error err = {0};
    memset(&bearer, 0x5a, sizeof bearer);
    memcpy(&before, &bearer, sizeof before);
    no_random_bytes = true;
    int code = issuer_mint(&keys, 4711, "elcap", "f1", &bearer, &err);
    no_random_bytes = false;
    assert_int_equal(code, ERROR_IO);
    assert_string_equal(err.text, "there are none");
    assert_memory_equal(&bearer, &before, sizeof bearer);
    assert_int_equal(issuer_mint(&keys, 4711, "elcap", "f1", &bearer, &err), 0);
    assert_int_equal(issuer_verify(&keys, &bearer, NOW, &err), 0);
}

UNIT_RUN(NULL, NULL)
