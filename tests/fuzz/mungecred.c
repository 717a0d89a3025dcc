/* SPDX-License-Identifier: Apache-2.0 */
/* What munged says of a credential (broker/http/auth/mungecred.h): here it is this file that stands
 * for libmunge. Its code, the user as two bytes; the method and the target of the request, a line
 * each; then the payload. */

#include "broker/http/auth/mungecred.h"
#include "tests/fuzz/fuzz.h"

#include <arpa/inet.h>
#include <munge.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- libmunge ---- */

static struct {
    munge_err_t code;
    uid_t uid;
    const char *payload;
    size_t length;
} said;

struct munge_ctx {
    char unused;
};

munge_ctx_t munge_ctx_create(void)
{
    return malloc(sizeof(struct munge_ctx));
}

void munge_ctx_destroy(munge_ctx_t ctx)
{
    free(ctx);
}

munge_err_t munge_ctx_set(munge_ctx_t ctx, int opt, ...)
{
    return opt == MUNGE_OPT_SOCKET ? EMUNGE_SUCCESS : EMUNGE_BAD_ARG;
}

munge_err_t munge_ctx_get(munge_ctx_t ctx, int opt, ...)
{
    va_list args;
    va_start(args, opt);
    if (opt == MUNGE_OPT_ADDR4)
        va_arg(args, struct in_addr *)->s_addr = htonl(INADDR_LOOPBACK);
    va_end(args);
    return opt == MUNGE_OPT_ADDR4 ? EMUNGE_SUCCESS : EMUNGE_BAD_ARG;
}

/* As munge_decode(3): a payload that is empty is none, any other is the caller's, with a NUL behind
 * it; of a credential that only does not count, all is told. */
munge_err_t munge_decode(const char *cred, munge_ctx_t ctx, void **buf, int *len, uid_t *uid,
                         gid_t *gid)
{
    bool told = said.code == EMUNGE_SUCCESS || said.code == EMUNGE_CRED_EXPIRED ||
                said.code == EMUNGE_CRED_REWOUND || said.code == EMUNGE_CRED_REPLAYED;
    *buf = NULL;
    *len = 0;
    *uid = told ? said.uid : (uid_t)-1;
    *gid = told ? said.uid : (gid_t)-1;
    if (told && said.length > 0) {
        char *copy = malloc(said.length + 1);
        if (!copy)
            abort();
        memcpy(copy, said.payload, said.length);
        copy[said.length] = '\0';
        *buf = copy;
        *len = (int)said.length;
    }
    return said.code;
}

/* ---- the target ---- */

static void check(const struct mungecred *cred, const char *method, const char *target)
{
    struct problem problem = {0};
    char wanted[2 * 2048 + 16];
    int size = snprintf(wanted, sizeof wanted, "mcastd1 %s %s", method, target);
    bool same = (size_t)size == said.length && memcmp(wanted, said.payload, said.length) == 0;
    bool proved = mungecred_judge(cred, &problem) == 0;
    FUZZ_CHECK(cred->code == (int)said.code);
    FUZZ_CHECK(proved == (said.code == EMUNGE_SUCCESS && same));
    FUZZ_CHECK(!cred->decoded || (cred->proof.kind == PROOF_MUNGE && cred->proof.uid == said.uid));
    FUZZ_CHECK(cred->decoded || cred->proof.kind != PROOF_MUNGE);
    FUZZ_CHECK(proved || problem.status == 401 || problem.status == 503);
    FUZZ_CHECK(proved || (problem.code && problem.detail[0] != '\0'));
    FUZZ_CHECK(proved || fuzz_is_line(problem.detail));
}

void fuzz_one(struct fuzz_input *in)
{
    struct mungecred cred;
    said.code = fuzz_byte(in) % 24; /* some are none of libmunge's */
    said.uid = fuzz_pair(in);
    char *method = fuzz_line(in), *target = fuzz_line(in);
    char *bytes = fuzz_bytes(in, &said.length), *payload = mungecred_payload(method, target);
    said.payload = bytes;
    FUZZ_CHECK(payload && strlen(method) + strlen(target) < 4096);
    mungecred_decode("/none", "MUNGE:", payload, &cred);
    check(&cred, method, target);
    free(payload);
    free(bytes);
    free(method);
    free(target);
}
