/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets sealed at rest (tokens/seal.h): a byte for the row, two for the bit that is changed, then
 * the secret; the same bytes are tried as something sealed, too. */

#include "tests/fuzz/fuzz.h"
#include "tokens/seal.h"

#include <stdlib.h>
#include <string.h>

static int unwrap(struct seal *seal, uint64_t row, const unsigned char *sealed, size_t size,
                  char *out)
{
    return seal_unwrap(seal, &(struct seal_place){.column = "reservation.token", .row = row},
                       sealed, size, out);
}

/* Random bytes open nothing. */
static void check_anything(struct seal *seal, const char *bytes, size_t length)
{
    char *out = malloc(length + 1);
    int rc = unwrap(seal, 1, (const unsigned char *)bytes, length, out);
    FUZZ_CHECK(rc == ERROR_VERSION || rc == ERROR_REFUSED || rc == ERROR_CORRUPT);
    free(out);
}

static void check_changed(struct seal *seal, uint64_t row, const unsigned char *sealed, size_t size,
                          uint16_t bit, const char *text)
{
    unsigned char *changed = malloc(size);
    char *out = calloc(1, size);
    memcpy(changed, sealed, size);
    changed[bit / 8 % size] ^= (unsigned char)(1u << bit % 8);
    FUZZ_CHECK(unwrap(seal, row, changed, size, out) < 0);
    FUZZ_CHECK(text[0] == '\0' || strcmp(out, text) != 0); /* nothing is left of what was opened */
    FUZZ_CHECK(unwrap(seal, row, sealed, bit % size, out) < 0);
    FUZZ_CHECK(unwrap(seal, row + 1, sealed, size, out) < 0);
    FUZZ_CHECK(seal_unwrap(seal, &(struct seal_place){.column = "reservation.toke", .row = row},
                           sealed, size, out) < 0);
    free(changed);
    free(out);
}

void fuzz_one(struct fuzz_input *in)
{
    static const struct seal_key key = {.bytes = "0123456789abcdef0123456789abcde"};
    static struct seal *seal;
    uint8_t row = fuzz_byte(in);
    uint16_t bit = fuzz_pair(in);
    struct fuzz_input again = *in;
    size_t length;
    char *text = fuzz_rest(in), *bytes = fuzz_bytes(&again, &length);
    if (!seal && !(seal = seal_create(&key, NULL)))
        abort();
    check_anything(seal, bytes, length);

    size_t size = strlen(text) + SEAL_OVERHEAD;
    unsigned char *sealed = malloc(size);
    char *out = malloc(size);
    const struct seal_place place = {.column = "reservation.token", .row = row};
    FUZZ_CHECK(seal_wrap(seal, &place, secret_of(text), sealed) == (int)size);
    FUZZ_CHECK(unwrap(seal, row, sealed, size, out) == (int)strlen(text));
    FUZZ_CHECK(strcmp(out, text) == 0);
    check_changed(seal, row, sealed, size, bit, text);
    free(sealed);
    free(out);
    free(text);
    free(bytes);
}
