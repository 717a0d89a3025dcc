/* SPDX-License-Identifier: Apache-2.0 */
/* Sealing (B8): what is sealed opens with its key at its place, and nothing else does. */

#include "tests/unit/unit.h"
#include "tokens/seal.h"

enum { TEXT_MAX = 4096, SEALED_MAX = TEXT_MAX + SEAL_OVERHEAD };

static const struct seal_place place = {"reservation.token", 1};

/* The key of the test vectors in docs/state.md: 00 01 02 … 1f. */
static struct seal_key vector_key(void)
{
    struct seal_key key = {{0}};
    for (size_t i = 0; i < sizeof key.bytes; i++)
        key.bytes[i] = (unsigned char)i;
    return key;
}

static int setup(void **state)
{
    struct error err = {0};
    const struct seal_key key = vector_key();
    *state = seal_create(&key, &err);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    seal_destroy(*state);
    return 0;
}

static size_t from_hex(const char *hex, unsigned char *bytes)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        const char pair[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return size;
}

#define SEALED(test) UNIT_WITH(test, setup, teardown)

/* Made with another implementation of AES-256-GCM (Python's cryptography 48). */
SEALED(format__is_that_of_the_vectors)
{
    static const struct {
        uint64_t row;
        const char *sealed, *text;
    } vectors[] = {
        {1,
         "01c407bb5799e49f35000102030405060708090a0b3467a568e883f67eee77aebf898a405eb7e6bf04c243674"
         "c"
         "0a0484e72a5c378067299c9a98c0d598ce0ec85d133a598b3feecdfd96",
         "sess-f4ec6948c83408028802cab7572f92f7"},
        {INT64_MAX, "01c407bb5799e49f35ffffffffffffffffffffffffad892a20e3daf6819f50f2efb5fbbd6e",
         ""},
        {77, "01c407bb5799e49f350000000000000000000000007ab61a809a9e26a840bc8ab0e019631737", "t"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        unsigned char sealed[128];
        char text[128];
        const struct seal_place at = {"reservation.token", vectors[i].row};
        size_t size = from_hex(vectors[i].sealed, sealed);
        assert_int_equal(seal_unwrap(*state, &at, sealed, size, text), strlen(vectors[i].text));
        assert_string_equal(text, vectors[i].text);
    }
}

SEALED(secret__of_any_length_comes_back)
{
    static char text[TEXT_MAX + 1], back[SEALED_MAX + 1];
    static unsigned char sealed[SEALED_MAX];
    for (size_t length = 0; length <= TEXT_MAX; length += length < 70 ? 1 : 671) {
        memset(text, 'k', length);
        text[length] = '\0';
        int size = seal_wrap(*state, &place, secret_of(text), sealed);
        assert_int_equal(size, length + SEAL_OVERHEAD);
        assert_int_equal(seal_unwrap(*state, &place, sealed, (size_t)size, back), length);
        assert_string_equal(back, text);
    }
}

SEALED(sealed__opens_nowhere_else)
{
    static const struct seal_place others[] = {
        {"reservation.token", 2},
        {"reservation.token", UINT64_C(1) << 56}, /* the same bytes the other way round */
        {"reservation.toke", 1},
        {"", 1},
    };
    unsigned char sealed[64];
    char text[64];
    int size = seal_wrap(*state, &place, secret_of("sess-1"), sealed);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(seal_unwrap(*state, &others[i], sealed, (size_t)size, text),
                         ERROR_CORRUPT);
    assert_int_equal(seal_unwrap(*state, &place, sealed, (size_t)size, text), 6);
}

/* Damage, a wrong key and a later format are distinguished; and a failed opening
 * leaves neither a part of the secret nor a seal that opens no more. */
SEALED(sealed__damaged_in_any_bit_is_refused)
{
    unsigned char sealed[64];
    char text[64];
    int size = seal_wrap(*state, &place, secret_of("sess-1"), sealed);
    for (int bit = 0; bit < size * 8; bit++) {
        sealed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        memset(text, 'x', sizeof text);
        int expected = bit < 8                            ? ERROR_VERSION
                       : bit < 8 * (1 + SEAL_KEY_ID_SIZE) ? ERROR_REFUSED
                                                          : ERROR_CORRUPT;
        assert_int_equal(seal_unwrap(*state, &place, sealed, (size_t)size, text), expected);
        assert_memory_not_equal(text, "sess", 4);
        sealed[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_int_equal(seal_unwrap(*state, &place, sealed, (size_t)size, text), 6);
}

SEALED(sealed__cut_or_drawn_out_is_refused)
{
    unsigned char sealed[64] = {0};
    char text[64];
    int size = seal_wrap(*state, &place, secret_of("sess-1"), sealed);
    for (int length = 0; length < size + 3; length++)
        if (length != size)
            assert_int_equal(seal_unwrap(*state, &place, sealed, (size_t)length, text),
                             ERROR_CORRUPT);
}

SEALED(sealed__opens_with_no_other_key)
{
    struct error err;
    struct seal_key key = vector_key();
    key.bytes[31] ^= 1;
    struct seal *other = seal_create(&key, &err);
    unsigned char sealed[64];
    char text[64];
    int size = seal_wrap(*state, &place, secret_of("sess-1"), sealed);
    assert_int_equal(seal_unwrap(other, &place, sealed, (size_t)size, text), ERROR_REFUSED);

    /* Also when it claims to be of that key. */
    unsigned char others[64];
    (void)seal_wrap(other, &place, secret_of("sess-1"), others);
    memcpy(sealed + 1, others + 1, SEAL_KEY_ID_SIZE);
    assert_int_equal(seal_unwrap(other, &place, sealed, (size_t)size, text), ERROR_CORRUPT);
    seal_destroy(other);
}

/* The nonce stands behind the key id. A seal counts from where it began; each begins elsewhere. */
SEALED(nonce__never_comes_twice)
{
    enum { SEALINGS = 100000, RUNS = 50 };
    unsigned char sealed[64], before[SEAL_NONCE_SIZE] = {0}, starts[RUNS][SEAL_NONCE_SIZE];
    for (int i = 0; i < SEALINGS; i++) {
        (void)seal_wrap(*state, &place, secret_of("s"), sealed);
        const unsigned char *nonce = sealed + 1 + SEAL_KEY_ID_SIZE;
        for (int at = SEAL_NONCE_SIZE - 1; i > 0 && at >= 0 && ++before[at] == 0; at--)
            ;
        if (i > 0)
            assert_memory_equal(nonce, before, SEAL_NONCE_SIZE);
        memcpy(before, nonce, SEAL_NONCE_SIZE);
    }
    const struct seal_key key = vector_key();
    for (int run = 0; run < RUNS; run++) {
        struct error err;
        struct seal *seal = seal_create(&key, &err);
        (void)seal_wrap(seal, &place, secret_of("s"), sealed);
        memcpy(starts[run], sealed + 1 + SEAL_KEY_ID_SIZE, SEAL_NONCE_SIZE);
        for (int earlier = 0; earlier < run; earlier++)
            assert_memory_not_equal(starts[run], starts[earlier], 8); /* far apart */
        seal_destroy(seal);
    }
}

UNIT_RUN(NULL, NULL)
