/* SPDX-License-Identifier: Apache-2.0 */
/* What a request for a token wants (broker/http/api/bodies/bodies.h): the whole input. What
 * passes can be put into a token, and leaves it what was asked for. */

#include "broker/http/api/bodies/bodies.h"
#include "base/steppath.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const int64_t now = INT64_C(1800000000), most = INT64_C(3650) * 24 * 60 * 60;

static void check_taken(const struct bearer_limits *limits)
{
    static const unsigned char key_id[BEARER_KEY_ID_SIZE], nonce[BEARER_NONCE_SIZE];
    struct bearer bearer;
    FUZZ_CHECK(!limits->steps || steppath_valid(limits->steps));
    FUZZ_CHECK((limits->operations & ~(unsigned)BEARER_EVERYTHING) == 0);
    FUZZ_CHECK(limits->expires == 0 || (limits->expires >= now && limits->expires <= now + most));
    bearer_begin(&bearer, key_id, 1, "elcap", "f1", nonce);
    FUZZ_CHECK(bearer_narrow(&bearer, limits, NULL) == 0);
    FUZZ_CHECK(strcmp(bearer.scope.steps, limits->steps ? limits->steps : "") == 0);
    FUZZ_CHECK(bearer.scope.operations ==
               (limits->operations ? limits->operations : (unsigned)BEARER_EVERYTHING));
    FUZZ_CHECK(bearer.scope.expires == (limits->expires ? limits->expires : INT64_MAX));
}

void fuzz_one(struct fuzz_input *in)
{
    struct bearer_limits limits;
    struct problem problem = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    json_t *body = body_read(bytes, length, &problem);
    if (body && mint_body_parse(body, now, &limits, &problem) == 0) {
        check_taken(&limits);
    } else {
        FUZZ_CHECK(problem.status == 400 || problem.status == 422);
        FUZZ_CHECK(problem.code && problem.detail[0] != '\0');
    }
    json_decref(body);
    free(bytes);
}
