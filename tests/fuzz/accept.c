/* SPDX-License-Identifier: Apache-2.0 */
/* The header Accept (broker/http/request/head.h): a byte for the type asked about, then the
 * header. */

#include "broker/http/request/head.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

void fuzz_one(struct fuzz_input *in)
{
    static const char *const types[] = {"application/json", "text/plain", "text/event-stream"};
    const char *type = types[fuzz_byte(in) % 3];
    char *accept = fuzz_rest(in), *more = NULL;
    int weight = accept_weight(accept, type);
    FUZZ_CHECK(weight >= 0 && weight <= 1000);
    FUZZ_CHECK(accept[0] != '\0' || weight == 1000);

    /* A type that is wanted fully stays so, unless it is named before. */
    if (asprintf(&more, "%s, %s", type, accept) < 0)
        abort();
    FUZZ_CHECK(accept_weight(more, type) == 1000);
    free(more);
    /* Types and parameters have no case. */
    for (char *at = accept; *at != '\0'; at++)
        *at = (char)(islower((unsigned char)*at) ? toupper((unsigned char)*at)
                                                 : tolower((unsigned char)*at));
    FUZZ_CHECK(accept_weight(accept, type) == weight);
    free(accept);
}
