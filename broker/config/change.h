/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/config/table.h"

#include <stddef.h>
#include <sys/stat.h>

/* In what two configurations differ: what a reload would change, row by row of the table. */

struct config_change {
    const struct config_key *key; /* NULL: the cluster as a whole was added or removed */
    /* "[vni] pool = 1024-2047 -> 1024-4095", "[cluster \"tuo\"] added". Values hold no secrets:
     * those are in files. */
    char words[1024];
};

struct config_changes {
    struct config_change *items;
    size_t count;
};

/* In the order of the table, clusters last. To be released. */
void config_changes_find(struct config_changes *changes, const struct config *before,
                         const struct config *after);
void config_changes_release(struct config_changes *changes);

/* The files whose contents count as configuration, though only their names stand in it:
 * certificates, keys, logins. They show a reload what has changed behind a name. */

enum { NAMEDFILES_MAX = 16 };

struct namedfile {
    const struct config_key *key; /* whose value names it */
    const char *name;             /* below that folder; NULL: the value is the file */
    struct stat status;           /* all zero: it is not there */
};

struct namedfiles {
    struct namedfile files[NAMEDFILES_MAX];
    size_t count;
};

/* Looks at them now: what is there, and which version of it, never what is in it. */
void namedfiles_stat(struct namedfiles *out, const struct config *config);

/* The next file that both looked at and that is another one, or has other contents, after than
 * before; NULL when there are no more. *at begins at 0. */
const struct namedfile *namedfiles_next_changed(const struct namedfiles *before,
                                                const struct namedfiles *after, size_t *at);
