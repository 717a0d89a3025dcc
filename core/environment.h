/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "core/reservation/reservation.h"

/* The environment of a job's tasks (F16). */

/* Calls each for every variable of the reservation, in a fixed order. Strings are valid during the
 * call; among them are the job's secrets. Slingshot: those of the fabric manager fm_url (or
 * config->job_url, if there is one), for step (NULL: "0", since FI_CXI_COLL_JOB_STEP_ID is never
 * unset); nothing unless hwcoll is reserved: without all of them libfabric does without. */
void environment_each(const struct core_config *config, const char *fm_url,
                      const struct reservation *reservation, const char *step,
                      void (*each)(void *arg, const char *name, const char *value), void *arg);
