/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One reservation as people read it. */

#include "cli/command.h"

/* Prints it: as JSON, if that was asked for (flags: enum mcast_json), or as a table of names and
 * values, with the environment if it has one; values of secret variables show as "***". An exit
 * code. */
int view_reservation(const struct mcast_reservation *reservation, const struct call *call,
                     unsigned flags);

/* VNIs: "1024,1025" or "-" */
void view_numbers(const uint16_t *numbers, size_t count, char *out, size_t size);

/* "5588", or "-" when the owner is not known */
void view_uid(const struct mcast_reservation *reservation, char *out, size_t size);

/* Addresses that the job has, not had. */
uint32_t view_addresses(const struct mcast_reservation *reservation);

/* Which nodes its VNIs are quarantined for, while they are (held_until): "elcap1 (lingering:
 * cxi2:2), elcap2 (created), silent: elcap[3-128]"; "no node, only the time". The caller's to
 * free(). */
char *view_waiting(const struct mcast_reservation *reservation);
