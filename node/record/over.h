/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Jobs whose end this node did not hear of: all of the resource manager was killed while they ran,
 * and it started again without an epilog of theirs (F9). Their services would stay, and would
 * excuse others of the same owner. */

#include "node/node.h"

/* For tend: asks the broker of each job that has services here whether it is over, and destroys
 * what is left of those that are: reported, and a remainder when it cannot be destroyed.
 *
 * The broker's word alone ends nothing that may run (B11). Where the job's owner has no process
 * here, nothing can: that is asked after a sixth of missed_every (node.conf). Else the broker is
 * asked each missed_every, and has to say it twice, of which the first time its VNIs are told as
 * lingering; what it does not know at all then stays until the job's epilog. Also what an epilog
 * left to a housekeeping that has not come is ended.
 *
 * COMMAND_DONE; COMMAND_BUSY or COMMAND_IN_USE of what stays. */
int over_end(struct node *node);
