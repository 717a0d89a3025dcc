#ifndef MCAST_STATE_SCHEMA_H
#define MCAST_STATE_SCHEMA_H

#include "core/error.h"

#include <sqlite3.h>

/* The tables of the SQLite keeper, and how a file of an older version becomes one of this version.
 *
 * The version is SQLite's user_version; application_id says that the file is a ledger of mcastd. */

enum {
    SCHEMA_VERSION = 1,
    SCHEMA_APPLICATION_ID = 0x6d637374, /* "mcst" */
};

/* Makes a new, empty ledger at path, mode 0600, under a temporary name first: a file of this name
 * is complete and durable, or it is not there. */
int schema_create(const char *path, struct error *err);

/* Refuses a file of another program (ERROR_CORRUPT) and of a newer version (ERROR_VERSION), brings
 * an older one to this version, each version in one transaction. Writes nothing when there is
 * nothing to bring up. */
int schema_open(sqlite3 *db, const char *path, struct error *err);

#endif
