#ifndef MCAST_BROKER_TRUSTEDPATH_H
#define MCAST_BROKER_TRUSTEDPATH_H

#include "core/error.h"

#include <sys/types.h>

/* Whether nobody but root and one user can put another file in the place of one that is named: what
 * the service runs, whoever can change it runs as the service. */

/* Follows an absolute path to a regular file, symbolic links one at a time, and looks at the file
 * and at each folder and link on the way: it belongs to root or to that user, and its mode lets
 * nobody else write. In a folder with the sticky bit, as /tmp, others may write: they cannot touch
 * what is not theirs. 0; ERROR_REFUSED with what is open to whom and what to do; ERROR_NOT_FOUND
 * when there is no such file, or it cannot be seen. */
int trustedpath_check(const char *path, uid_t user, struct error *err);

#endif
