/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/permit.h"

bool permit_looks(enum need need, bool anonymous)
{
    return need != NEED_NOTHING && !(need == NEED_METRICS && anonymous);
}

const char PERMIT_NO_IDENTITY[] = "authentication required";
const char PERMIT_NO_TOKEN[] = "a token of a job is required";

const char *permit_lacks(const struct rights *rights, const struct identity *identity,
                         enum need need, const char *cluster, const char *node, bool anonymous)
{
    const enum proof_kind proof = identity->proof.kind;
    const bool role = identity_has_role(identity), of_site = role || identity->node_of != 0;
    if (!permit_looks(need, anonymous) || need == NEED_LOOK)
        return NULL;
    if (need == NEED_BEARER)
        return proof == PROOF_BEARER ? NULL : PERMIT_NO_TOKEN;
    if (proof == PROOF_NONE || proof == PROOF_BEARER)
        return PERMIT_NO_IDENTITY;
    if (need == NEED_METRICS && identity->metrics)
        return NULL;
    if (proof == PROOF_CERTIFICATE && !of_site)
        return "none of its names is listed in 'admins', or in 'users' or 'nodes' of a cluster, in "
               "the configuration";
    if (need == NEED_METRICS && !of_site)
        return "only admins, resource managers, nodes and 'metrics_users' may read the metrics; "
               "see these in the configuration ('metrics_anonymous' allows everyone)";
    if (need == NEED_MANAGER && !role)
        return "only an admin or the resource manager of a cluster may; see 'admins' and 'users' "
               "in the configuration";
    if (need == NEED_ADMIN && !identity->admin)
        return "only an admin may; see 'admins' in the configuration";
    const bool manages = rights_manages(rights, identity, cluster);
    if (need == NEED_CLUSTER && !manages)
        return "only an admin or this cluster's resource manager may; see 'admins' and 'users' in "
               "the configuration";
    if (need == NEED_NODE && !manages && !rights_is_node(rights, identity, cluster, node))
        return "only an admin, this cluster's resource manager, or the node may, by a certificate "
               "with its name or as root by MUNGE; the name must be listed in 'nodes' of the "
               "cluster";
    if (need == NEED_HOST && !identity->admin && !rights_is_node(rights, identity, NULL, node))
        return "only an admin or the node may, by a certificate with its name or as root by MUNGE; "
               "the name must be listed in 'nodes' of a cluster";
    return NULL;
}

enum job_sight permit_job(const struct rights *rights, const struct identity *identity,
                          const struct reservation *reservation)
{
    if (rights_manages(rights, identity, reservation->cluster) ||
        identity_is_user(identity, reservation->uid))
        return JOB_WHOLE;
    return rights_is_among(rights, identity, reservation->cluster, reservation->nodes) ? JOB_OPEN
                                                                                       : JOB_HIDDEN;
}

bool permit_event(const struct rights *rights, const struct identity *identity,
                  const struct event_record *event)
{
    return !event->cluster || !event->job || rights_manages(rights, identity, event->cluster);
}
