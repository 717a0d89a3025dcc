/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* The little of roff that manual pages need (man(7)). */

/* Text as it stands, UTF-8: nothing in it is a request or an escape. */
void roff_text(FILE *out, const char *text);

/* The same, in lines that are kept as they are. */
void roff_example(FILE *out, const char *text);

/* The page's first line, with the version. The title is roff. */
void roff_title(FILE *out, const char *title, int section);
