/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Jobs that were over before this node heard of them: cancelled before their prologs, or of an
 * epilog that found no broker. Their VNIs wait for this node's word (F3). */

#include "node/node.h"

/* When its turn has come (missed_every in node.conf; the time of the next one is kept in the
 * spool): asks the broker which they are, and tells it of each that nothing is here, nor will be:
 * this node has no note of it, no NIC has a service with one of its VNIs, and its launch documents
 * are refused from then on. What cannot be asked or told waits for the next turn; one line says
 * why. */
void missed_tell(struct node *node);
