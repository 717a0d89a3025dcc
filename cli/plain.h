/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Words of programs, brokers and fabric managers, made fit for a terminal: no byte of them drives
 * it, neither as ASCII nor as the control characters of UTF-8 (U+0080 to U+009F). */

/* In place, of the same length: '?' for each byte of a control character. */
void plain_make(char *text);

/* Where to cut a longer text: at most there, and not within a character. */
size_t plain_cut(const char *text, size_t most);

/* One line to stdout, made so: the format ends with the only line break. */
__attribute__((format(printf, 1, 2))) void plain_printf(const char *format, ...);

/* Whether there are colours: "always", "never"; NULL and "auto": where stdout is a terminal and
 * NO_COLOR is not set. False: it is none of these words. */
bool plain_set_colour(const char *when);

/* Whether stdout takes the sequences of a terminal; whether it has colours. */
bool plain_is_terminal(void);
bool plain_has_colours(void);

/* Of the terminal at stdout; otherwise: where there is none. */
size_t plain_width(size_t otherwise);
size_t plain_height(size_t otherwise);

/* Text in lines of so many columns, broken at blanks, indented, the first with a lead before it.
 * How many lines it took. */
size_t plain_wrapped(size_t width, size_t indent, const char *lead, const char *text);

/* What follows on stdout has this colour, if there are any. */
enum plain_colour { PLAIN_NORMAL, PLAIN_GOOD, PLAIN_BAD };
void plain_colour(enum plain_colour colour);
/* The sequence that begins it. */
const char *plain_sequence(enum plain_colour colour);
