#ifndef MCAST_BROKER_HTTP_AUTH_PERMIT_H
#define MCAST_BROKER_HTTP_AUTH_PERMIT_H

#include "broker/http/auth/identity.h"
#include "broker/http/route.h"

/* Whether a peer may make a call at all, by its route's need (route.h). Which jobs it may then see,
 * the handlers say (job_path.h, list.c, stream.c). Pure. */

enum permit {
    PERMIT_GIVEN,
    PERMIT_NOBODY,   /* has proved nothing: 401 */
    PERMIT_UNLISTED, /* its certificate names nobody that stands in a list */
    PERMIT_ROLES,    /* is no admin, manager or node, nor named to read the metrics */
    PERMIT_MANAGERS, /* is no admin and manages no cluster */
    PERMIT_CLUSTER,  /* does not manage the cluster of the path */
    PERMIT_NODE,     /* nor is the node of the path */
    PERMIT_HOST,     /* is no admin, nor the node of the path */
    PERMIT_ADMINS,   /* is no admin */
    PERMIT_BEARERS   /* shows no token of a job: 401 */
};

/* What the path names, looked at where the need says so; "" when it names none. */
struct permit_about {
    const char *cluster, *node;
};

/* Whether what the peer shows is looked at for this route. anonymous: the site lets anyone read the
 * metrics. */
bool permit_looks(enum need need, bool anonymous);

enum permit permit_judge(const struct rights *rights, const struct identity *identity,
                         enum need need, const struct permit_about *about, bool anonymous);

#endif
