/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {.at = data, .left = size};
    fuzz_one(&in);
    return 0;
}

uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

uint16_t fuzz_pair(struct fuzz_input *in)
{
    unsigned high = fuzz_byte(in);
    return (uint16_t)(high << 8 | fuzz_byte(in));
}

static void *allocated(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        perror("fuzz");
        exit(1);
    }
    return memory;
}

/* The next bytes without their NULs, as text. */
static char *take_text(struct fuzz_input *in, size_t length)
{
    size_t kept = 0;
    for (size_t i = 0; i < length; i++)
        kept += in->at[i] != '\0';
    char *text = allocated(kept + 1), *end = text;
    for (size_t i = 0; i < length; i++)
        if (in->at[i] != '\0')
            *end++ = (char)in->at[i];
    *end = '\0';
    in->at += length;
    in->left -= length;
    return text;
}

char *fuzz_line(struct fuzz_input *in)
{
    const uint8_t *newline = in->left > 0 ? memchr(in->at, '\n', in->left) : NULL;
    char *text = take_text(in, newline ? (size_t)(newline - in->at) : in->left);
    (void)fuzz_byte(in);
    return text;
}

char *fuzz_rest(struct fuzz_input *in)
{
    return take_text(in, in->left);
}

char *fuzz_bytes(struct fuzz_input *in, size_t *length)
{
    char *bytes = allocated(in->left);
    *length = in->left;
    if (in->left > 0)
        memcpy(bytes, in->at, in->left);
    in->at += in->left;
    in->left = 0;
    return bytes;
}

_Noreturn void fuzz_broken(const char *file, int line, const char *condition)
{
    (void)fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, condition);
    abort();
}

/* The character at text, or -1 when it is no valid UTF-8; *length is set. */
static long character(const unsigned char *text, size_t *length)
{
    static const long least[] = {0, 0, 0x80, 0x800, 0x10000};
    long point = text[0];
    *length = point < 0x80 ? 1 : point < 0xc0 ? 0 : point < 0xe0 ? 2 : point < 0xf0 ? 3 : 4;
    if (*length == 0 || point > 0xf4)
        return -1;
    if (*length > 1)
        point &= 0x7f >> *length;
    for (size_t i = 1; i < *length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return -1;
        point = point << 6 | (text[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point < least[*length] || point > 0x10ffff || surrogate ? -1 : point;
}

bool fuzz_is_line(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t length = 0; *at != '\0'; at += length) {
        long point = character(at, &length);
        if (point < ' ' || (point >= 0x7f && point < 0xa0))
            return false;
    }
    return true;
}

/* place: of two files, so that no name is ever another's. */
static const char *memory_file(int place, const char *bytes, size_t length)
{
    static char paths[2][64];
    static int files[2] = {-1, -1};
    int *file = &files[place];
    if (*file < 0 && ((*file = memfd_create("fuzz", MFD_CLOEXEC)) < 0 || fchmod(*file, 0600) < 0)) {
        perror("fuzz: memfd_create");
        exit(1);
    }
    if (ftruncate(*file, 0) < 0 || pwrite(*file, bytes, length, 0) != (ssize_t)length) {
        perror("fuzz: memory file");
        exit(1);
    }
    (void)snprintf(paths[place], sizeof paths[place], "/proc/self/fd/%d", *file);
    return paths[place];
}

const char *fuzz_file(const char *bytes, size_t length)
{
    return memory_file(0, bytes, length);
}

const char *fuzz_other_file(const char *bytes, size_t length)
{
    return memory_file(1, bytes, length);
}
