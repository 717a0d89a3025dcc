/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What one durable row costs on this disk at the very least: SQLite, WAL, synchronous=FULL, an
 * ascending INTEGER PRIMARY KEY, one row a transaction, nothing else. */

/* Median time of count commits in a new database in the folder. ns, or -1 with a word on stderr. */
int64_t commits_median_ns(const char *folder, size_t count);
