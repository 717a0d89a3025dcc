/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <sqlite3.h>

/* The tables of the SQLite keeper, and how a file of an older version becomes one of this version.
 *
 * The version is SQLite's user_version; application_id says that the file is a ledger of mcastd. */

enum {
    SCHEMA_VERSION = 11,
    SCHEMA_SEALED = 2,                  /* from here on, tokens are sealed, */
    SCHEMA_KEYS = 9,                    /* and keys of jobs, which there are */
    SCHEMA_APPLICATION_ID = 0x6d637374, /* "mcst" */
};

/* Creates an empty ledger at path, mode 0600: it is complete and durable, or not there. */
int schema_create(const char *path, struct error *err);

/* Reads the version. Refuses a file of another program (ERROR_CORRUPT) and of a newer version
 * (ERROR_VERSION). Writes nothing. */
int schema_check(sqlite3 *db, const char *path, int *version, struct error *err);

/* Upgrades a file of an older version step by step; a broker that was killed continues at its next
 * start. Writes nothing to a file of this version. db has the function of sealing_define. */
int schema_upgrade(sqlite3 *db, const char *path, int version, struct error *err);
