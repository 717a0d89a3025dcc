/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/rm.h"

#include <stdint.h>

/* Whether each answer is right by the model, when the core gives it; and what follows from it when
 * it leaves the broker. */

struct sim;

/* A sync reaches the broker: whom it names. */
void answers_sync_begins(struct sim *sim, struct request *request);

void answers_given(struct sim *sim, const struct request *request, const struct told *told,
                   uint64_t batch);
void answers_told(struct sim *sim, const struct request *request);
