/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/auth/tokenproof.h"
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/http/shared.h"

#include <string.h>

/* GET /v1/clusters/{cluster}/jobs/{job}/traffic, /v1/reservation/traffic: what a job's nodes have
 * counted on their NICs (P6). */

/* "node/device". */
static void write_nic(struct writer *out, const char *key, const char *nic, const char *amount_word,
                      uint64_t amount)
{
    char node[NODELIST_NAME_MAX + 1];
    const size_t length = strcspn(nic, "/");
    memcpy(node, nic, length);
    node[length] = '\0';
    writer_begin_object(out, key);
    writer_string(out, "node", node);
    writer_string(out, "device", nic + length + 1);
    writer_number(out, amount_word, amount);
    writer_end_object(out);
}

static void write_sum(struct writer *out, const struct traffic_record *sum)
{
    writer_number(out, "nodes", sum->told);
    writer_number(out, "shared", sum->shared);
    writer_number(out, "unclear", sum->unclear);
    writer_number(out, "seconds", sum->seconds);
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        writer_number(out, traffic_words[kind], sum->amounts[kind]);
    writer_begin_array(out, "lacking");
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        if (sum->lacking >> kind & 1)
            writer_string(out, NULL, traffic_words[kind]);
    writer_end_array(out);
    if (sum->slowest)
        write_nic(out, "slowest", sum->slowest, "octets", sum->slowest_octets);
    if (sum->congested)
        write_nic(out, "congested", sum->congested, "paused", sum->congested_paused);
}

static void write_of(struct writer *out, const struct reservation *r)
{
    static const struct traffic_record none;
    const struct traffic_record *sum = core_traffic_of(r);
    writer_begin_object(out, NULL);
    writer_string(out, "cluster", r->cluster);
    writer_string(out, "job", r->job);
    writer_number(out, "number", r->number);
    writer_string(out, "state", job_state_word(r->state));
    writer_number(out, "node_count", r->node_count);
    write_sum(out, sum ? sum : &none);
    writer_end_object(out);
}

static void write_kept(struct writer *out, const struct traffic_record *kept)
{
    writer_begin_object(out, NULL);
    writer_string(out, "cluster", kept->cluster);
    writer_string(out, "job", kept->job);
    writer_number(out, "number", kept->number);
    writer_string(out, "state", "over");
    writer_time(out, "ended", kept->ended_ms);
    writer_number(out, "node_count", kept->node_count);
    write_sum(out, kept);
    writer_end_object(out);
}

/* Of a job that is over, to whom the reservation was shown. */
static bool may_see(const struct call *call, const struct traffic_record *kept)
{
    return rights_manages(call->http->rights, &call->identity, kept->cluster) ||
           proof_is_user(&call->identity.proof, kept->uid);
}

int traffic_handle(struct call *call)
{
    struct job_path path;
    const struct reservation *found;
    enum job_sight sight;
    if (job_path_read(call, &path) < 0)
        return -1;
    const struct traffic_record *kept =
        core_traffic(engine_core(call->http->engine), path.cluster, path.job, &found);
    if (!found && kept && may_see(call, kept)) {
        write_kept(&call->out, kept);
        return call_reply_saved(call, MHD_HTTP_OK, CALL_JSON);
    }
    found = job_path_find(call, JOB_WHOLE, &sight); /* or it says why not */
    if (!found)
        return -1;
    call_show(call, found);
    write_of(&call->out, found);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}

int owntraffic_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    const struct reservation *own = tokencheck_reservation(call->http, proof);
    if (tokenproof_allows(proof, BEARER_SHOW, NULL, &call->problem) < 0)
        return -1;
    call_show(call, own);
    write_of(&call->out, own);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}
