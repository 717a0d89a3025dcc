/* SPDX-License-Identifier: Apache-2.0 */
/* The client's reading of a refusal (client/problem.h): a byte for the status, a line for the
 * media type, then the body. */

#include "client/calls/call.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_one(struct fuzz_input *in)
{
    static const int statuses[] = {400, 401, 403, 404, 409, 422, 500, 503};
    struct answer answer = {.status = statuses[fuzz_byte(in) % 8]};
    struct mcast_error error = {0};
    size_t length;
    char leader[64];
    char *type = fuzz_line(in), *body = fuzz_bytes(in, &length);
    (void)snprintf(answer.type, sizeof answer.type, "application/%s", type);
    FUZZ_CHECK(text_add(&answer.body, body, length));
    int rc = problem_read(&answer, "unix:/run/mcastd/mcastd.sock", &error);
    FUZZ_CHECK(rc == error.code && error.status == answer.status && error.text[0] != '\0');
    FUZZ_CHECK(rc == MCAST_UNCLEAR ||
               rc == (answer.status == 404 ? MCAST_NOT_FOUND : MCAST_REFUSED));
    FUZZ_CHECK(strcmp(answer.type, "application/problem+json") == 0 || rc == MCAST_UNCLEAR);
    /* Another's words must not drive a terminal. */
    for (const char *at = error.text; *at != '\0'; at++)
        FUZZ_CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
    FUZZ_CHECK(problem_is(&answer, error.word) || error.word[0] == '\0' ||
               strlen(error.word) == sizeof error.word - 1);
    FUZZ_CHECK(!problem_leader(&answer, leader, sizeof leader) ||
               (leader[0] != '\0' && rc != MCAST_UNCLEAR && memmem(body, length, "leader", 6)));
    text_release(&answer.body);
    free(type);
    free(body);
}
