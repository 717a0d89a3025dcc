/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/permit.h"

bool permit_looks(enum need need, bool anonymous)
{
    return need != NEED_NOTHING && !(need == NEED_METRICS && anonymous);
}

static bool is_of_site(const struct identity *identity)
{
    return identity_has_role(identity) || identity->node_of != 0;
}

enum permit permit_judge(const struct rights *rights, const struct identity *identity,
                         enum need need, const struct permit_about *about, bool anonymous)
{
    if (!permit_looks(need, anonymous) || need == NEED_LOOK)
        return PERMIT_GIVEN;
    if (need == NEED_BEARER)
        return identity->proof.kind == PROOF_BEARER ? PERMIT_GIVEN : PERMIT_BEARERS;
    if (identity->proof.kind == PROOF_NONE || identity->proof.kind == PROOF_BEARER)
        return PERMIT_NOBODY;
    if (need == NEED_METRICS && identity->metrics)
        return PERMIT_GIVEN;
    if (identity->proof.kind == PROOF_CERTIFICATE && !is_of_site(identity))
        return PERMIT_UNLISTED;
    if (need == NEED_METRICS && !is_of_site(identity))
        return PERMIT_ROLES;
    if (need == NEED_MANAGER && !identity_has_role(identity))
        return PERMIT_MANAGERS;
    if (need == NEED_ADMIN && !identity->admin)
        return PERMIT_ADMINS;
    const bool manages = rights_manages(rights, identity, about->cluster);
    if (need == NEED_CLUSTER && !manages)
        return PERMIT_CLUSTER;
    if (need == NEED_NODE && !manages &&
        !rights_is_node(rights, identity, about->cluster, about->node))
        return PERMIT_NODE;
    if (need == NEED_HOST && !identity->admin && !rights_is_host(rights, identity, about->node))
        return PERMIT_HOST;
    return PERMIT_GIVEN;
}

const char *permit_lacks(enum permit permit)
{
    static const char *const lacks[] = {
        [PERMIT_UNLISTED] = "none of its names is listed in 'admins', or in 'users' or 'nodes' of "
                            "a cluster, in the configuration",
        [PERMIT_ROLES] = "only admins, resource managers, nodes and 'metrics_users' may read the "
                         "metrics; see these in the configuration ('metrics_anonymous' allows "
                         "everyone)",
        [PERMIT_MANAGERS] = "only an admin or the resource manager of a cluster may; see 'admins' "
                            "and 'users' in the configuration",
        [PERMIT_CLUSTER] = "only an admin or this cluster's resource manager may; see 'admins' and "
                           "'users' in the configuration",
        [PERMIT_NODE] = "only an admin, this cluster's resource manager, or the node may, by a "
                        "certificate with its name or as root by MUNGE; the name must be listed "
                        "in 'nodes' of the cluster",
        [PERMIT_HOST] = "only an admin or the node may, by a certificate with its name or as root "
                        "by MUNGE; the name must be listed in 'nodes' of a cluster",
        [PERMIT_ADMINS] = "only an admin may; see 'admins' in the configuration",
    };
    return (size_t)permit < sizeof lacks / sizeof *lacks ? lacks[permit] : NULL;
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
