/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_INHERIT_H
#define MCAST_NODE_INHERIT_H

/* Takes over the services that an outer instance left in the environment, and checks them against
 * what is there (F6). Pure. */

#include "base/error.h"
#include "node/services/nic.h"
#include "node/services/variables.h"

/* given: the values of variables_names, NULL where unset. With none of them, variables->clear.
 * SLINGSHOT_TCS may be missing: it is found again at the services. ERROR_INVALID: which value is
 * wrong, and why. */
int inherit_variables(struct variables *variables, const char *const given[VARIABLES_COUNT],
                      struct nics *nics, struct error *err);

/* Whether any is set. */
bool inherit_anything(const char *const given[VARIABLES_COUNT]);

#endif
