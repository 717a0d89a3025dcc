/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_SERVICES_WISHES_H
#define MCAST_NODE_SERVICES_WISHES_H

/* What one job wants of the NICs' resources, other than node.conf says: the words that srun takes
 * after --network (F7). Pure. */

#include "node/services/limits.h"

#include <stdbool.h>

/* Gets a sentence for each wish that is not met in full. */
typedef void wishes_warn_fn(void *arg, const char *sentence);

/* Takes "def_txqs=4", "res_les=200", "max_cts=64", "adjust_limits", "no_adjust_limits", with blanks
 * or commas between them. Rules and adjust_limits are the site's before, and the job's after it.
 * What is above the site's max_… is taken as that, what is not understood is left out. Returns how
 * many were not understood. arg: for warn. */
unsigned int wishes_take(struct limits_rules *rules, bool *adjust_limits, const char *text,
                         wishes_warn_fn *warn, void *arg);

#endif
