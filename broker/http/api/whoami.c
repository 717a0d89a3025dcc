/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/routes.h"
#include "broker/http/api/bodies/job_json.h"

/* GET /v1/whoami: who the broker takes the peer for, and what that makes it. */

static const char *proof_word(enum proof_kind kind)
{
    static const char *const words[] = {[PROOF_NONE] = "none",
                                        [PROOF_SOCKET] = "socket",
                                        [PROOF_CERTIFICATE] = "certificate",
                                        [PROOF_MUNGE] = "munge",
                                        [PROOF_BEARER] = "bearer"};
    return words[kind];
}

static void write_clusters(struct call *call, const char *name, uint64_t bits)
{
    const char *cluster;
    writer_begin_array(&call->out, name);
    for (size_t i = 0; (cluster = rights_cluster(call->http->rights, i)) != NULL; i++)
        if (bits >> i & 1)
            writer_string(&call->out, NULL, cluster);
    writer_end_array(&call->out);
}

int whoami_handle(struct call *call)
{
    struct writer *out = &call->out;
    const struct identity *identity = &call->identity;
    const struct proof *proof = &identity->proof;
    char who[IDENTITY_TEXT_SIZE];
    writer_begin_object(out, NULL);
    writer_string(out, "identity", identity_format(proof, who, sizeof who));
    writer_string(out, "proof", proof_word(proof->kind));
    if (proof->kind == PROOF_SOCKET || proof->kind == PROOF_MUNGE)
        writer_number(out, "uid", proof->uid);
    if (proof->kind == PROOF_CERTIFICATE) {
        writer_begin_array(out, "names");
        for (const char *const *name = proof->names; *name; name++)
            writer_string(out, NULL, *name);
        writer_end_array(out);
    }
    if (proof->kind == PROOF_BEARER)
        token_json_write(out, proof->token);
    writer_bool(out, "admin", identity->admin);
    write_clusters(call, "clusters", identity->clusters);
    if (identity->node)
        writer_string(out, "node", identity->node);
    write_clusters(call, "node_of", identity->node_of);
    writer_end_object(out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
