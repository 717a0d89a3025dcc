#ifndef MCAST_STATE_SQLITE_FILEWATCH_H
#define MCAST_STATE_SQLITE_FILEWATCH_H

#include "base/error.h"

#include <sys/stat.h>

/* Whether the ledger's file and its log are still those that SQLite has open. It would go on
 * writing to files that somebody has removed or replaced, and what was acknowledged would be gone
 * with the process. */

enum { FILEWATCH_FILES = 2 };

struct filewatch {
    const char *path;
    struct {
        dev_t device;
        ino_t inode;
    } files[FILEWATCH_FILES];
};

/* Notes what is there now. path outlives it. 0 or ERROR_IO. */
int filewatch_begin(struct filewatch *watch, const char *path, struct error *err);

/* ERROR_IO when something else, or nothing, is there. Two calls of stat. */
int filewatch_check(const struct filewatch *watch, struct error *err);

#endif
