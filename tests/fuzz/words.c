/* SPDX-License-Identifier: Apache-2.0 */
/* Another's words made fit to be passed on (fmapi/wire/secrets.h): a byte
 * for the room, two lines with secrets, then the text. */

#include "fmapi/wire/secrets.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* The text need not end in a NUL. */
static void check_clean(const char *text, size_t length, size_t size)
{
    char *out = malloc(size), *again = malloc(size);
    size_t written = printable_copy(out, size, text, length);
    FUZZ_CHECK(written == strlen(out) && written < size && fuzz_is_line(out));
    FUZZ_CHECK(printable_copy(again, size, out, written) == written && strcmp(out, again) == 0);
    size_t plain = 0;
    while (plain < length && text[plain] >= ' ' && text[plain] <= '~')
        plain++;
    if (plain == length && length < size)
        FUZZ_CHECK(written == length && memcmp(out, text, length) == 0);
    free(out);
    free(again);
}

static void check_blank(struct secrets *secrets, const char *text, size_t size)
{
    char *out = malloc(size), *whole = malloc(3 * SECRETS_TEXT_MAX + 1);
    bool passed = secrets_blank(secrets, text, whole, 3 * SECRETS_TEXT_MAX + 1);
    FUZZ_CHECK(passed == (strlen(text) <= SECRETS_TEXT_MAX));
    FUZZ_CHECK(passed || whole[0] == '\0');
    for (size_t i = 0; i < secrets->count; i++)
        if (!strchr(secrets->values[i], '*')) /* which is what they are replaced by */
            FUZZ_CHECK(!strstr(whole, secrets->values[i]));
    FUZZ_CHECK(secrets_blank(secrets, text, out, size) == passed);
    FUZZ_CHECK(strlen(out) < size && strncmp(whole, out, strlen(out)) == 0);
    free(out);
    free(whole);
}

void fuzz_one(struct fuzz_input *in)
{
    struct secrets secrets = {.count = 0};
    size_t size = 4 + fuzz_byte(in), length;
    char *one = fuzz_line(in), *other = fuzz_line(in);
    struct fuzz_input again = *in;
    char *bytes = fuzz_bytes(in, &length), *text = fuzz_rest(&again);
    FUZZ_CHECK(secrets_add(&secrets, one) && secrets_add(&secrets, other));
    check_clean(bytes, length, size);
    check_blank(&secrets, text, size);
    free(one);
    free(other);
    free(bytes);
    free(text);
}
