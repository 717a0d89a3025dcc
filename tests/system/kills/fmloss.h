/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/scene.h"

/* A fabric manager that loses what it had. What jobs are to be told of it, or may be, goes into the
 * notes of each job; budgets cannot hold, and are not looked at, while the broker finds out. */

/* Some active jobs are gone there, or are there with another token. */
void fmloss_of_some(struct scene *scene);

/* An old backup is put back, which nobody but the broker can tell: what is over is there again,
 * what is new is gone. First the backup is made, later put back. False, with a fault: it is not
 * done. */
bool fmloss_remember(struct scene *scene);
bool fmloss_since(struct scene *scene);
