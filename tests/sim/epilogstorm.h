/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Thousands of epilogs of jobs that never asked for anything, in a few seconds: more than the
 * broker remembers, so that its tables are full and what is oldest makes room. In few runs. */

struct sim;

/* Draws when, in a storm that begins now. */
void epilogstorm_storm(struct sim *sim);
