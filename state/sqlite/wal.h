/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

/* Checks the ledger's write-ahead log ("<path>-wal") before SQLite opens it: is all of it there
 * that was committed? (sqlite.org/fileformat2.html, 4)
 *
 * SQLite takes the first frame whose checksum is wrong for the end of the log, as after a power
 * cut, and silently drops what was committed behind it: the last jobs, and pages that were written
 * back into the ledger since are then mixed with older ones.
 *
 * Syncs the log: what a killed broker wrote without sync will be read as committed (I2). No log is
 * a good log. Returns 0; ERROR_CORRUPT when committed data is damaged or missing; ERROR_IO. Damage
 * to the last transaction alone, when the log's index is gone too, looks like a power cut and is no
 * error. */
int wal_check(const char *path, struct error *err);
