/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "core/reservation/reservation.h"

/* The environment of a job's tasks (F16). */

/* Calls each for every variable of the reservation at the fabric manager fm_url (or at
 * config->job_url, if there is one), in a fixed order, for step (NULL: "0", since
 * FI_CXI_COLL_JOB_STEP_ID is never unset). Nothing unless hwcoll is reserved: without all of them
 * libfabric does without. Strings are valid during the call; one of them is the secret token. */
void environment_each(const struct core_config *config, const char *fm_url,
                      const struct reservation *reservation, const char *step,
                      void (*each)(void *arg, const char *name, const char *value), void *arg);
