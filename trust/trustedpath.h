#ifndef MCAST_TRUST_TRUSTEDPATH_H
#define MCAST_TRUST_TRUSTEDPATH_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Whether a path can be changed by root and one user only: what is read, run, written or listened
 * at there is then what these two made it. */

enum trustedpath_kind {
    TRUSTEDPATH_FILE,   /* a regular file that is there */
    TRUSTEDPATH_FOLDER, /* a folder that is there; others can make nothing in it */
    TRUSTEDPATH_ENTRY,  /* whatever is there, or will be made there, as a socket */
};

struct trustedpath {
    const char *path; /* relative ones begin at the process's own folder */
    enum trustedpath_kind kind;
    uid_t user;
    bool written;        /* it is the user's to write: he shall own it, else root */
    const char *subject; /* what others could change, for the sentences: "what is run" */
};

/* Follows the path, symbolic links one at a time, and looks at what it names and at each folder and
 * link on the way: it belongs to root or to the user, and its mode lets no other user write. In a
 * folder with the sticky bit, as /tmp, others may write: they cannot touch what is not theirs; but
 * a TRUSTEDPATH_FOLDER itself must not be one. 0; ERROR_REFUSED with what is open to whom and the
 * command that mends it; ERROR_NOT_FOUND when there is no such thing, or it cannot be seen. */
int trustedpath_check(const struct trustedpath *wanted, struct error *err);

/* Who may serve the Unix socket of this path besides root: the owner of its folder, if only he and
 * root can put another socket there. 0; ERROR_REFUSED and ERROR_NOT_FOUND as above: only root. */
int trustedpath_socket_owner(const char *path, uid_t *owner, struct error *err);

#endif
