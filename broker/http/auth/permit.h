/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_PERMIT_H
#define MCAST_BROKER_HTTP_AUTH_PERMIT_H

#include "broker/http/auth/identity.h"
#include "broker/http/route.h"
#include "core/reservation/record.h"
#include "core/reservation/reservation.h"

/* What a peer may do, by what it is (identity.h): make a call at all, by its route's need
 * (route.h); see a job; see an event. Lists of jobs are narrowed in list.c. Pure. */

/* Whether what the peer shows is looked at for this route. anonymous: the site lets anyone read the
 * metrics. */
bool permit_looks(enum need need, bool anonymous);

/* NULL: the peer may make the call. Else who may, for a 403: "only an admin may; see ..."; or one
 * of these two, for a 401: it has no identity, or no token of a job. cluster, node: of the path,
 * where the need is about them; else "". */
const char *permit_lacks(const struct rights *rights, const struct identity *identity,
                         enum need need, const char *cluster, const char *node, bool anonymous);
extern const char PERMIT_NO_IDENTITY[], PERMIT_NO_TOKEN[];

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
