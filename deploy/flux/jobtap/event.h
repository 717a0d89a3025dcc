/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The event "mcast" in a job's eventlog, which every user of the instance can read, and for which
 * `flux job wait-event JOB mcast` waits. Its member "status" says what happened:
 *
 *   reserved    with what the memo has: number, vnis, hwcoll, reason, addresses, warning
 *   refused     the job ends; reason, which is the exception's note, too
 *   without     it starts without VNIs and multicast addresses; reason
 *   off         it wants nothing (-o mcast=off)
 *   releasing   its processes have ended: the broker is told
 *   unreleased  and did not take it; reason. list_command finds it
 *
 * The first four have vnis, a list that may be empty. None has a token. */

#include "deploy/flux/jobtap/jobtap.h"

#include <jansson.h>

/* more: members besides, or NULL; reason: NULL: none. What cannot be posted is logged, unless the
 * job is over. */
void event_post(struct jobtap *jobtap, flux_jobid_t id, const char *status, const json_t *more,
                const char *reason);
