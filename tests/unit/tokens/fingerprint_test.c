/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints of session tokens (B3): the same for the same token and key, telling nothing. */

#include "tokens/fingerprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct chain derived(unsigned char first)
{
    unsigned char from[CHAIN_SIZE];
    struct chain key;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(first + i);
    assert_int_equal(chain_key(&key, from, "mcastd session fingerprint", NULL, 0, NULL), 0);
    return key;
}

static struct fingerprint taken(const struct chain *from, const char *token)
{
    struct fingerprint_key *key = fingerprint_key_create(from);
    (void)fingerprint_compute(key, secret_of("another before it"));
    const struct fingerprint print = fingerprint_compute(key, secret_of(token));
    fingerprint_key_destroy(key);
    return print;
}

/* Made with another implementation (Python's hmac), so that a kept fingerprint stays true. */
static void fingerprint__is_that_of_the_vector(void **state)
{
    static const struct fingerprint expected = {{0xb5, 0xf0, 0xa8, 0xc9, 0x75, 0x8e, 0x6e, 0xed,
                                                 0x19, 0xdd, 0xb0, 0x6b, 0xcf, 0xd9, 0x9b, 0x78}};
    const struct chain key = derived(0);
    const struct fingerprint print = taken(&key, "sess-f4ec6948c83408028802cab7572f92f7");
    assert_memory_equal(&print, &expected, sizeof print);
    assert_true(fingerprint_equal(&print, &expected));
}

static void fingerprint__follows_from_token_and_key(void **state)
{
    static const char *const tokens[] = {"", "s", "sess-1", "sess-2", "sess-11"};
    enum { COUNT = sizeof tokens / sizeof *tokens };
    const struct chain keys[] = {derived(0), derived(1)};
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            const struct fingerprint a = taken(&keys[0], tokens[i]), b = taken(&keys[0], tokens[k]);
            const struct fingerprint other = taken(&keys[1], tokens[k]);
            assert_int_equal(fingerprint_equal(&a, &b), i == k);
            assert_false(fingerprint_equal(&a, &other));
        }
    }
}

static void fingerprint__differing_in_any_bit_is_another(void **state)
{
    const struct chain key = derived(0);
    const struct fingerprint print = taken(&key, "sess-1");
    for (unsigned bit = 0; bit < 8 * FINGERPRINT_SIZE; bit++) {
        struct fingerprint changed = print;
        changed.bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_false(fingerprint_equal(&print, &changed));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingerprint__is_that_of_the_vector),
        cmocka_unit_test(fingerprint__follows_from_token_and_key),
        cmocka_unit_test(fingerprint__differing_in_any_bit_is_another),
    };
    return cmocka_run_group_tests_name("tokens_fingerprint", tests, NULL, NULL);
}
