/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A sentence for people and a code for programs, in a buffer that the caller owns. */

/* code, its stable word for logs, when it occurs */
#define ERROR_CODES(X)                                                                             \
    X(INVALID, "invalid", "a value is not allowed; the text names it and what is allowed")         \
    X(NOMEM, "out-of-memory", "memory is exhausted")                                               \
    X(IO, "io", "a file, socket or disk failed; the text carries the system's words")              \
    X(FULL, "full", "a limit that has a name is reached")                                          \
    X(NOT_LEADER, "not-leader",                                                                    \
      "this broker leads no longer; whether it was written is not known")                          \
    X(CORRUPT, "corrupt", "what was read back is not what was written")                            \
    X(VERSION, "version", "written by a newer version of the program")                             \
    X(REFUSED, "refused", "the other side said no")                                                \
    X(NOT_FOUND, "not-found", "there is no such thing")

enum error_code {
    ERROR_OK = 0,
    ERROR_BASE_ = -1000,
#define ERROR_ENUM_(name, word, when) ERROR_##name,
    ERROR_CODES(ERROR_ENUM_)
#undef ERROR_ENUM_
};

enum { ERROR_TEXT_SIZE = 320 };

struct error {
    int code; /* 0 or one of enum error_code */
    char text[ERROR_TEXT_SIZE];
};

/* Sets code and text (cut to fit, never overflowing) and returns the code, so that
 * `return error_set(err, ERROR_IO, …)` is one statement. err may be NULL. */
__attribute__((format(printf, 3, 4))) int error_set(struct error *err, int code, const char *format,
                                                    ...);

/* Puts "prefix: " before the text that is there; returns the code. */
__attribute__((format(printf, 2, 3))) int error_prefix(struct error *err, const char *format, ...);

/* The word of a code; "ok", or "unknown". */
const char *error_word(int code);
