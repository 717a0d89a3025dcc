/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_PERMIT_H
#define MCAST_BROKER_HTTP_AUTH_PERMIT_H

#include "broker/http/auth/identity.h"
#include "broker/http/route.h"
#include "core/reservation/record.h"
#include "core/reservation/reservation.h"

/* What a peer may do, by what it is (identity.h): make a call at all, by its route's need
 * (route.h); see a job; see an event. Lists of jobs are narrowed in list.c. Pure. */

enum permit {
    PERMIT_GIVEN,
    PERMIT_NOBODY,   /* is not authenticated: 401 */
    PERMIT_UNLISTED, /* no name in its certificate is listed */
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

/* Who may, for a 403: "only an admin may; see ...". NULL for those that are 401, and for GIVEN. */
const char *permit_lacks(enum permit permit);

/* How much of a reservation the peer may see. */
enum job_sight {
    JOB_HIDDEN,
    JOB_OPEN, /* all but its environment and token: a node that it runs on, or may */
    JOB_WHOLE /* its owner, the cluster's resource manager, an admin */
};
enum job_sight permit_job(const struct rights *rights, const struct identity *identity,
                          const struct reservation *reservation);

/* Whether a subscriber may see this event. One about no job, also an alarm of another cluster, may
 * concern all. */
bool permit_event(const struct rights *rights, const struct identity *identity,
                  const struct event_record *event);

#endif
