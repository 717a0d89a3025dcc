/* SPDX-License-Identifier: Apache-2.0 */
/* Small files that a login or a seal is made of (trust/keyfile.h, tokens/seal_key.h): the
 * whole input is what stands in the file. */

#include "trust/keyfile.h"
#include "tests/fuzz/fuzz.h"
#include "tokens/seal_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 64 };

static struct keyfile kind = {.holds = "the password", .guard = KEYFILE_SECRET, .max = LONGEST};

static size_t without_end(const char *bytes, size_t length)
{
    while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
        length--;
    return length;
}

static bool is_line(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f)
            return false;
    return length > 0 && length <= LONGEST;
}

static void check_read(int code, const struct secret *found, const char *bytes, size_t length,
                       const struct error *err)
{
    const char *text = secret_expose(*found);
    if (code == 0) {
        FUZZ_CHECK(text && strlen(text) == length && memcmp(text, bytes, length) == 0);
    } else {
        FUZZ_CHECK(code == err->code && code == ERROR_INVALID && !text && fuzz_is_line(err->text));
        FUZZ_CHECK(length < 12 || !memmem(err->text, strlen(err->text), bytes, length));
    }
}

static void check_key(const char *path, const char *bytes, size_t length)
{
    struct seal_key key;
    struct error err = {0};
    char digits[2 * SEAL_KEY_SIZE + 1];
    int code = seal_key_read(path, &key, &err);
    size_t size = without_end(bytes, length);
    if (code != 0) {
        FUZZ_CHECK(code == ERROR_CORRUPT && err.text[0] != '\0');
        FUZZ_CHECK(size < 12 || !memmem(err.text, strlen(err.text), bytes, size));
        return;
    }
    FUZZ_CHECK(size == 2 * SEAL_KEY_SIZE);
    for (size_t i = 0; i < SEAL_KEY_SIZE; i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", key.bytes[i]);
    FUZZ_CHECK(strncasecmp(digits, bytes, size) == 0);
    seal_key_wipe(&key);
}

void fuzz_one(struct fuzz_input *in)
{
    struct secret found;
    struct error err = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    const char *path = fuzz_file(bytes, length);
    size_t line = without_end(bytes, length);

    kind.line = true;
    int code = keyfile_text(path, &kind, &found, &err);
    check_read(code, &found, bytes, line, &err);
    if (length <= LONGEST)
        FUZZ_CHECK((code == 0) == is_line(bytes, line));
    secret_wipe(&found);

    kind.line = false;
    code = keyfile_text(path, &kind, &found, &err);
    check_read(code, &found, bytes, length, &err);
    FUZZ_CHECK((code == 0) == (length > 0 && length <= LONGEST && !memchr(bytes, 0, length)));
    secret_wipe(&found);

    check_key(path, bytes, length);
    free(bytes);
}
