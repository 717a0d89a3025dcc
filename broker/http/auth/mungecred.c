/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/mungecred.h"

#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *mungecred_payload(const char *method, const char *target)
{
    char *payload;
    return asprintf(&payload, "mcastd1 %s %s", method, target) < 0 ? NULL : payload;
}

static bool payload_is(const void *payload, int length, const char *expected)
{
    size_t size = strlen(expected);
    return payload && length >= 0 && (size_t)length == size && memcmp(payload, expected, size) == 0;
}

void mungecred_decode(const char *socket, const char *credential, const char *payload,
                      struct mungecred *out)
{
    void *found = NULL;
    int length = 0;
    uid_t uid = (uid_t)-1;
    gid_t gid;
    munge_ctx_t context = munge_ctx_create();
    *out = (struct mungecred){.code = EMUNGE_NO_MEMORY};
    if (!context)
        return;
    munge_err_t code = munge_ctx_set(context, MUNGE_OPT_SOCKET, socket);
    if (code == EMUNGE_SUCCESS)
        code = munge_decode(credential, context, &found, &length, &uid, &gid);
    out->code = (int)code;
    out->decoded = code == EMUNGE_SUCCESS || code == EMUNGE_CRED_EXPIRED ||
                   code == EMUNGE_CRED_REWOUND || code == EMUNGE_CRED_REPLAYED;
    if (out->decoded) {
        out->proof = (struct proof){.kind = PROOF_MUNGE, .uid = uid};
        munge_ctx_get(context, MUNGE_OPT_ADDR4, &out->proof.origin);
        out->other_request = !payload_is(found, length, payload);
    }
    free(found);
    munge_ctx_destroy(context);
}

static int refuse_credential(const struct mungecred *mungecred, struct problem *problem,
                             const char *code, const char *why)
{
    char who[IDENTITY_TEXT_SIZE] = "MUNGE credential";
    if (mungecred->decoded)
        identity_format(&mungecred->proof, who, sizeof who);
    return problem_set(problem, 401, code, NULL, "the %s is not accepted: %s", who, why);
}

int mungecred_judge(const struct mungecred *mungecred, struct problem *problem)
{
    switch (mungecred->code) {
    case EMUNGE_SUCCESS:
        break;
    case EMUNGE_CRED_REPLAYED:
        return refuse_credential(mungecred, problem, "munge-replayed",
                                 "it has been shown before; make a new one for each attempt");
    case EMUNGE_CRED_EXPIRED:
        return refuse_credential(
            mungecred, problem, "munge-expired",
            "it is older than its lifetime; make a new one for each attempt, and compare "
            "the clocks of its host and the broker's");
    case EMUNGE_CRED_REWOUND:
        return refuse_credential(
            mungecred, problem, "munge-rewound",
            "it was made in the future of the broker's host; compare the clocks of both");
    case EMUNGE_CRED_UNAUTHORIZED:
        return refuse_credential(
            mungecred, problem, "munge-invalid",
            "it is for another user than the broker's to decode; make it without a "
            "restriction");
    case EMUNGE_SNAFU:
    case EMUNGE_NO_MEMORY:
    case EMUNGE_SOCKET:
    case EMUNGE_TIMEOUT:
        return problem_set(problem, 503, "munge-unavailable", NULL,
                           "the broker cannot ask its munged about the MUNGE credential "
                           "(%s); see that munged runs on the broker's host",
                           munge_strerror((munge_err_t)mungecred->code));
    default:
        return refuse_credential(
            mungecred, problem, "munge-invalid",
            "it was made with another key than that of the broker's host, or is damaged");
    }
    if (mungecred->other_request)
        return refuse_credential(
            mungecred, problem, "munge-other-request",
            "it was made for another request than this; its payload must be \"mcastd1 "
            "METHOD TARGET\" as they stand in the request line");
    return 0;
}
