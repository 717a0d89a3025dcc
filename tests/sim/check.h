/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What must hold when everything has had time to settle (I3, I4). */

struct sim;
struct wire_call;

/* After a quiet spell with jobs running. */
void check_quiet(struct sim *sim);

/* After every job ended and another quiet spell: nothing of them is left anywhere. */
void check_empty(struct sim *sim);

/* I8, when a reserve leaves: what the fabric manager holds of ours and what it may yet make of our
 * calls never sums up to more than there is. */
void check_budget(struct sim *sim, const struct wire_call *leaving);
