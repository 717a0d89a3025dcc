/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/names.h"

#include <stdbool.h>

/* Names of job steps, and which of them lie below which (F19, I6): what a token may reach.
 *
 *   step = path / part       of 1 to STEP_ID_MAX (512) bytes
 *   path = 1*("/" part)      Flux's job id path: "/fA", "/fA/fB"
 *   part = 1*[A-Za-z0-9._:@+-], but neither "." nor ".."
 *
 * A part alone is Slurm's step id ("0", "batch", "1234.0"). Flux's "ƒA" is written "fA" first. Each
 * step has one spelling: nothing is decoded or simplified. Narrower than step_id_valid
 * (base/names.h), which is about what libfabric can be handed. */

/* 0, or ERROR_INVALID with what is wrong, in printable ASCII whatever the step holds. */
int steppath_check(const char *step, struct error *err);

static inline bool steppath_valid(const char *step)
{
    return steppath_check(step, NULL) == 0;
}

/* Whether step is scope itself or lies below it, by whole parts: "/fA/fB" is within "/fA", not
 * within "/f" or "/fA/f". A part alone is within itself only: "1234.0" is not within "1234", nor
 * "/fA" within "fA". What is no step is within nothing, and nothing is within it. */
bool steppath_within(const char *step, const char *scope);
