/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One answer, taken apart from the bytes of a connection. */

struct answer {
    int status;
    char *head; /* status line and headers, NUL-terminated */
    char *body; /* unchunked, NUL-terminated */
    size_t length;
    json_t *json; /* NULL when the body is not JSON */
};

/* How many bytes the answer at the start of text takes: 0 when it is not whole yet, -1 when it can
 * never be one. Fills answer only when whole. bodiless: it answers a HEAD. */
long answer_take(const char *text, size_t length, bool bodiless, struct answer *answer);
void answer_release(struct answer *answer);

/* A header's value into out, cut to fit; false when it is not there. */
bool answer_header(const struct answer *answer, const char *name, char *out, size_t size);

/* Of its document, by a path such as "vnis.held"; "" and 0 when there is none. */
const char *answer_text(const struct answer *answer, const char *path);
json_int_t answer_number(const struct answer *answer, const char *path);
