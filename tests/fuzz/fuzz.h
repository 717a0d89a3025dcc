/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the fuzz targets are made of (docs/fuzzing.md). A target is one file with one fuzz_one: it
 * is given bytes, tries a parser on them, and ends the process when something does not hold. The
 * same function runs under libFuzzer, which looks for such bytes, and in the tests, which try those
 * that were found (replay.c). */

/* The bytes that are still to be used. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* Each target's own. Called over and over in one process, so it leaves nothing behind. */
void fuzz_one(struct fuzz_input *in);

/* The next byte, 0 at the end; the next two as a number. */
uint8_t fuzz_byte(struct fuzz_input *in);
uint16_t fuzz_pair(struct fuzz_input *in);

/* Up to the next newline, which is used up; up to the end. On the heap and no byte longer than it
 * has to be, so that the sanitizer sees one read too far. NULs are dropped: these are texts. */
char *fuzz_line(struct fuzz_input *in);
char *fuzz_rest(struct fuzz_input *in);

/* The same for what may hold NULs; not ended by one. Never NULL. */
char *fuzz_bytes(struct fuzz_input *in, size_t *length);

/* A property that holds for all input whatever. Unlike assert it cannot be compiled away. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_broken(const char *file, int line, const char *condition);

/* What may stand in a log or a terminal: valid UTF-8 without control characters. */
bool fuzz_is_line(const char *text);

/* A file of these bytes that lives in memory, mode 0600; its path. Until the next call of the same:
 * there are two. */
const char *fuzz_file(const char *bytes, size_t length);
const char *fuzz_other_file(const char *bytes, size_t length);
