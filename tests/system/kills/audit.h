/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/scene.h"

/* After a round: the clients' notes, what the broker shows, its ledger on the disk, what the fabric
 * manager holds, and the events all agree (I1 to I4, I6 to I8, F24). Both programs run, and nothing
 * disturbs them. What does not agree is a fault. */
void audit(struct scene *scene);
