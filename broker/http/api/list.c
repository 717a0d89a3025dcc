/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/auth/gate.h"
#include "broker/http/api/bodies/job_json.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"

#include <inttypes.h>
#include <string.h>

/* GET /v1/jobs: page by page. A page may be short although there is more; "next" tells. */

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 1000 };

/* One page while it is written. */
struct page {
    struct call *call;
    const char *node;   /* that was asked for, or NULL */
    const char *judged; /* the cluster that is_node is about: the core's own text */
    bool is_node;
    bool silent;
    uint64_t hidden; /* reservations that match, and that the peer may not see */
    uint32_t names_left;
};

static int read_filter(struct call *call, struct core_filter *filter)
{
    const char *state = target_query(&call->target, "state");
    const char *silent = target_query(&call->target, "silent");
    uint64_t uid = UINT64_MAX, limit = LIMIT_DEFAULT;
    *filter = (struct core_filter){.cluster = target_query(&call->target, "cluster"),
                                   .node = target_query(&call->target, "node")};
    if (filter->cluster && !cluster_name_valid(filter->cluster))
        return problem_set(&call->problem, 422, "invalid", "cluster",
                           "a cluster's name is 1 to %d of a-z, 0-9 and _", CLUSTER_NAME_MAX);
    for (int i = JOB_ACTIVE; state && i <= JOB_RELEASING; i++)
        if (!strcmp(state, job_state_word(i)))
            filter->state = i;
    if (state && !filter->state)
        return problem_set(&call->problem, 422, "invalid", "state",
                           "state must be active or releasing");
    if (silent && strcmp(silent, "no") != 0 && (strcmp(silent, "yes") != 0 || !filter->node))
        return problem_set(&call->problem, 422, "invalid", "silent",
                           "silent is yes, with node, or no");
    if ((filter->node && node_name_read(call, filter->node) < 0) ||
        target_query_number(&call->target, "uid", 0, UINT32_MAX - 1, &uid, &call->problem) < 0 ||
        target_query_number(&call->target, "limit", 1, LIMIT_MAX, &limit, &call->problem) < 0 ||
        target_query_number(&call->target, "after", 0, UINT64_MAX - 1, &filter->after,
                            &call->problem) < 0)
        return -1;
    filter->silent = silent && !strcmp(silent, "yes");
    filter->uid = uid == UINT64_MAX ? -1 : (int64_t)uid;
    filter->limit = (size_t)limit;
    return 0;
}

/* What may run on a node: resource managers see their clusters' jobs of it, the node itself those
 * of the clusters that it is of. Nothing is narrowed: how many others there are is shown, so that
 * the list is not taken for complete. */
static int check_node(struct call *call, const struct core_filter *filter)
{
    const struct rights *rights = call->http->rights;
    const struct identity *identity = &call->identity;
    /* With it, how many are hidden would tell whose jobs of other clusters run there. */
    if (filter->uid >= 0 && !filter->cluster && !identity->admin)
        return gate_forbid(call, "only an admin may list what one user may run on a node without "
                                 "naming a cluster: give cluster too, or leave uid out");
    if (rights_is_node(rights, identity, filter->cluster, filter->node) ||
        (filter->cluster ? rights_manages(rights, identity, filter->cluster)
                         : identity_has_role(identity)))
        return 0;
    return gate_forbid(call, "only an admin, a cluster's resource manager, or the node itself, by "
                             "a name that the cluster's 'nodes' has, may list what may run on it");
}

/* A resource manager sees its clusters' jobs, others their own. */
static int narrow_to_own(struct call *call, struct core_filter *filter)
{
    const struct rights *rights = call->http->rights;
    const struct identity *identity = &call->identity;
    if (filter->node)
        return check_node(call, filter);
    if (identity->admin || (filter->cluster && rights_manages(rights, identity, filter->cluster)))
        return 0;
    if (!filter->cluster && identity->clusters) {
        filter->cluster = rights_only_cluster(rights, identity);
        return 0; /* of several clusters: write_job picks */
    }
    if (!proof_is_user(&identity->proof, identity->proof.uid))
        return gate_forbid(call, "only an admin or a cluster's resource manager may list jobs of "
                                 "others, and it is no user with jobs of its own");
    if (filter->uid >= 0 && filter->uid != (int64_t)identity->proof.uid)
        return gate_forbid(call, "only an admin or the cluster's resource manager may list other "
                                 "users' jobs");
    filter->uid = identity->proof.uid;
    return 0;
}

/* Consecutive reservations in a list are mostly of one cluster: a long host list is not read for
 * each. */
static bool is_its_node(struct page *page, const char *cluster)
{
    const struct call *call = page->call;
    if (page->node && page->judged != cluster) {
        page->judged = cluster;
        page->is_node = rights_is_node(call->http->rights, &call->identity, cluster, page->node);
    }
    return page->is_node;
}

static void write_job(void *arg, const struct reservation *reservation)
{
    struct page *page = arg;
    struct call *call = page->call;
    const struct identity *identity = &call->identity;
    if (!proof_is_user(&identity->proof, reservation->uid) &&
        !rights_manages(call->http->rights, identity, reservation->cluster) &&
        !is_its_node(page, reservation->cluster)) {
        page->hidden++;
        return;
    }
    call_show(call, reservation);
    job_json_write(&call->out, engine_core(call->http->engine), reservation,
                   &(struct job_parts){
                       .node = page->node, .names_left = &page->names_left, .brief = page->silent});
}

static void write_next(struct call *call, const struct core_filter *filter, uint64_t after)
{
    struct writer *out = &call->out;
    static const char *const kept[] = {"cluster", "node", "state", "uid", "silent", NULL};
    if (!after) {
        writer_string(out, "next", NULL);
        return;
    }
    /* What stands in these has been checked: none of it needs escaping. */
    writer_text(out, ",\"next\":\"/v1/jobs?");
    for (const char *const *name = kept; *name; name++) {
        const char *value = target_query(&call->target, *name);
        if (value)
            writer_textf(out, "%s=%s&", *name, value);
    }
    writer_textf(out, "limit=%zu&after=%" PRIu64 "\"", filter->limit, after);
}

int list_handle(struct call *call)
{
    struct core_filter filter;
    struct page page = {
        .call = call, .node = target_query(&call->target, "node"), .names_left = JOB_JSON_NAMES};
    if (read_filter(call, &filter) < 0 || narrow_to_own(call, &filter) < 0)
        return -1;
    page.silent = filter.silent;
    writer_begin_object(&call->out, NULL);
    writer_begin_array(&call->out, "jobs");
    size_t before = call->out.used;
    uint64_t after = core_page(engine_core(call->http->engine), &filter, write_job, &page);
    /* A name that is misspelt must not look like a cluster without jobs. One that has left the
     * configuration is known as long as it has jobs. */
    if (call->out.used == before && after == 0 && filter.after == 0 && filter.cluster &&
        !rights_knows(call->http->rights, filter.cluster))
        return job_path_no_cluster(call, filter.cluster);
    writer_end_array(&call->out);
    if (page.node)
        writer_number(&call->out, "hidden", page.hidden);
    write_next(call, &filter, after);
    writer_end_object(&call->out);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}
