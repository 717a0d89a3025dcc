/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_RECORD_LEFTOVERS_H
#define MCAST_NODE_RECORD_LEFTOVERS_H

/* How much of this node one owner may hold by services of jobs that are over (F9, F10). They are in
 * use by processes of his, for as long as he likes: others' jobs would find none of a NIC's queues,
 * and everybody's hooks would have them to look at. Pure. */

#include "node/services/claim.h"
#include "node/services/nic.h"
#include "node/record/note.h"

/* Jobs of one owner whose services linger here, and the part of a NIC's resource that these may
 * have reserved: one in so many. */
enum { LEFTOVERS_JOBS_MAX = 4, LEFTOVERS_PART = 8 };

/* ERROR_FULL: the claim's owner has more, which is no fault of the node. */
int leftovers_check(const struct notes *notes, const struct nics *nics, const struct claim *claim,
                    struct error *err);

#endif
