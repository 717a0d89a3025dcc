/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pmix/infos.h"

/* Variables of a job's processes, kept as PMIX_SET_ENVAR and PMIX_UNSET_ENVAR. */

enum { ENVIRONMENT_NAMES_MAX = 32 }; /* room that the functions below need beside what is there */

/* Makes the job's variables those of a step (NULL: as they are), and all that are the broker's and
 * not among them to be unset. Without any variable nothing is done. */
int environment_settle(struct infos *variables, const char *step, struct mcast_error *error);

/* The fabric manager's CA has to be a file of this machine: else the system's store counts. */
bool environment_settle_ca(struct infos *variables);

/* An object of NAME: value, null for what is to be unset. */
int environment_read(struct infos *variables, const char *json, size_t length,
                     struct mcast_error *error);

/* Changes an environment as PMIx has it: an array that was malloc'ed, of strings that were. */
pmix_status_t environment_apply(const struct infos *variables, char ***env);
