/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"

#include <jansson.h>

/* The trees of a job's steps as the fabric manager shows them, "jobSteps" of the job's document:
 * {"<step>":[id,…],…} (docs/fabric-manager.md, "Jobs"). Any JSON is allowed.
 *
 * Results are valid: steps that step_id_valid accepts and that have trees, ids below FMCALL_TREES,
 * each once. Other entries are left out and counted as skipped. An id may be a number, or digits at
 * the end of a string ("77", "/fabric/collectives/multicasts/77"). */

/* NULL when value is no object. No value, or null, is a job without steps. */
struct fmcall_steps *jobsteps_create(json_t *value);
void jobsteps_destroy(struct fmcall_steps *steps); /* NULL is allowed */
