/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A disk so small that it can be full (ENOSPC), for the ledger of a broker that does not run: in
 * the folder's "disk", seen by this process and by what it starts, and by nobody else. Failures say
 * why on stderr. */

/* Moves the ledger there as an operator does: a link is left in its place. 0; -1: it cannot be,
 * mostly because only root may mount something. */
int smalldisk_move_in(const char *folder);

/* Until nothing more can be written there; and room again. 0, or -1. */
int smalldisk_fill(const char *folder);
int smalldisk_make_room(const char *folder);

/* Moves the ledger back, with its log when it has one, and ends the disk. 0, or -1. */
int smalldisk_move_out(const char *folder);
