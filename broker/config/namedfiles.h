#ifndef MCAST_BROKER_CONFIG_NAMEDFILES_H
#define MCAST_BROKER_CONFIG_NAMEDFILES_H

#include "broker/config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* The files whose contents count as configuration, though only their names stand in it:
 * certificates, keys, logins. A reload tells by them what has changed behind a name. */

enum { NAMEDFILES_MAX = 16 };

struct namedfile {
    const char *section, *key; /* whose value names it */
    const char *name;          /* below that folder; NULL: the value is the file */
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct namedfiles {
    struct namedfile files[NAMEDFILES_MAX];
    size_t count;
};

/* Looks at them now: what is there, and which version of it, never what is in it. */
void namedfiles_look(struct namedfiles *out, const struct config *config);

/* The next file that both looked at and that is another one, or has other contents, after than
 * before; NULL when there are no more. *at begins at 0. */
const struct namedfile *namedfiles_next_changed(const struct namedfiles *before,
                                                const struct namedfiles *after, size_t *at);

#endif
