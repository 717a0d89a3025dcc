/* SPDX-License-Identifier: Apache-2.0 */
/* Who a request says that it is from: the header Authorization (broker/http/auth/mungecred.h),
 * the payload of a MUNGE credential and what is made of munged's answer (mungecred.h). Three bytes
 * for the answer, then lines: the header, method, target. */

#include "broker/http/auth/mungecred.h"
#include "tests/fuzz/fuzz.h"

#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void check_header(const char *value)
{
    struct problem problem = {0};
    struct authorization shown;
    if (authorization_read(value, &shown, &problem) == 0) {
        const char *credential = shown.shown;
        const char *scheme = shown.scheme == AUTHORIZATION_BEARER  ? "Bearer"
                             : shown.scheme == AUTHORIZATION_BASIC ? "Basic"
                                                                   : "Munge";
        const size_t length = strlen(scheme);
        FUZZ_CHECK(strncasecmp(value, scheme, length) == 0);
        FUZZ_CHECK(value[length] == ' ' || value[length] == '\t');
        FUZZ_CHECK(credential > value && credential < value + strlen(value));
        FUZZ_CHECK(*credential != ' ' && *credential != '\t');
    } else {
        FUZZ_CHECK(problem.status == 401 && problem.code && problem.detail[0] != '\0');
    }
}

/* Two requests have the same payload only when they are the same. */
static void check_payload(const char *method, const char *target)
{
    char *payload = mungecred_payload(method, target), *back_method = NULL, *back_target = NULL;
    FUZZ_CHECK(payload && strncmp(payload, "mcastd1 ", 8) == 0);
    if (!strchr(method, ' ') && method[0] != '\0') {
        back_method = strndup(payload + 8, strcspn(payload + 8, " "));
        back_target = strdup(payload + 8 + strlen(back_method) + 1);
        FUZZ_CHECK(strcmp(back_method, method) == 0 && strcmp(back_target, target) == 0);
    }
    free(back_method);
    free(back_target);
    free(payload);
}

static void check_judgement(uint8_t code, uint8_t flags, uint8_t uid)
{
    const struct mungecred cred = {.code = code % 32,
                                   .decoded = flags & 1,
                                   .other_request = flags & 2,
                                   .proof = {.kind = PROOF_MUNGE, .uid = uid}};
    struct problem problem = {0};
    bool proved = mungecred_judge(&cred, &problem) == 0;
    FUZZ_CHECK(proved == (cred.code == EMUNGE_SUCCESS && !cred.other_request));
    FUZZ_CHECK(proved || problem.status == 401 || problem.status == 503);
    FUZZ_CHECK(proved || (problem.detail[0] != '\0' && fuzz_is_line(problem.detail)));
}

void fuzz_one(struct fuzz_input *in)
{
    uint8_t code = fuzz_byte(in), flags = fuzz_byte(in), uid = fuzz_byte(in);
    char *header = fuzz_line(in), *method = fuzz_line(in), *target = fuzz_rest(in);
    check_judgement(code, flags, uid);
    check_header(header);
    check_payload(method, target);
    free(header);
    free(method);
    free(target);
}
