#ifndef MCAST_BROKER_REREAD_H
#define MCAST_BROKER_REREAD_H

#include "broker/config/config.h"
#include "broker/http/http.h"
#include "broker/keyring.h"
#include "broker/config/change.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Everything that a reload reads: the configuration, the files that it names, the site's users
 * (F5). That takes as long as disks and name services do, so it is done in a thread of its own and
 * touches nothing that is in force. */

struct reread_line {
    bool fault;
    char *text;
};

struct reread {
    /* What to read, and for whom: both as they were at the start. */
    const char *path;
    const struct keyring *keyring;

    struct config *config; /* NULL: it has faults, and lines tell them */
    struct reread_line *lines;
    size_t line_count;
    struct namedfiles files;
    struct error err; /* code 0: what the configuration names can be used. Then these are there: */
    struct http_change *http;
    struct rootkeys keys;
};

/* In any thread. The configuration's own words about its files are kept as lines. */
void reread_files(struct reread *reread);

/* Frees and wipes what was not taken. */
void reread_release(struct reread *reread);

#endif
