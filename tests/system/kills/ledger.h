/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/scene.h"

/* What lies on the disk, read past the broker: SQL and the key, docs/state.md, while the broker has
 * the ledger open, as anyone may. It holds exactly the live jobs of the clients' notes as active,
 * with number, uid, size, VNIs, what became of their addresses, and the token that they were told,
 * sealed (I2, B8); no VNI twice (I1); counters that no number or event exceeds (S3); and every
 * event that was ever heard (F24). */

/* All is quiet: nothing is under way, all events are heard. Whatever differs is a fault. */
void ledger_compare(struct scene *scene);
