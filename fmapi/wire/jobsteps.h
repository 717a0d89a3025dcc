/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_WIRE_JOBSTEPS_H
#define MCAST_FMAPI_WIRE_JOBSTEPS_H

#include "core/fabric/fmcall.h"

#include <jansson.h>

/* The trees of a job's steps as the fabric manager shows them, "jobSteps" of the job's document:
 * {"<step>":[id,…],…} (docs/fabric-manager.md, "Jobs"). Any JSON is allowed.
 *
 * Results are valid: steps that step_id_valid accepts and that have trees, ids below FMCALL_TREES,
 * each once. Other entries are left out and counted as skipped. An id may be a number, or digits at
 * the end of a string ("77", "/fabric/collectives/multicasts/77"). */

struct jobsteps;

/* NULL when value is no object. No value, or null, is a job without steps. */
struct jobsteps *jobsteps_create(json_t *value);
void jobsteps_destroy(struct jobsteps *jobsteps); /* NULL is allowed */

/* Valid as long as they are. NULL stays NULL. */
const struct fmcall_steps *jobsteps_list(const struct jobsteps *jobsteps);

#endif
