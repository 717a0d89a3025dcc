#include "broker/http/auth/permit.h"

bool permit_looks(enum need need, bool anonymous)
{
    return need != NEED_NOTHING && !(need == NEED_METRICS && anonymous);
}

static bool has_role(const struct identity *identity)
{
    return identity->admin || identity->clusters || identity->node_of;
}

static bool is_listed(const struct identity *identity)
{
    return identity->proof.kind != PROOF_CERTIFICATE || has_role(identity);
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
    if (!is_listed(identity))
        return PERMIT_UNLISTED;
    if (need == NEED_METRICS && !has_role(identity))
        return PERMIT_ROLES;
    if (need == NEED_MANAGER && !identity->admin && !identity->clusters)
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
