#ifndef MCAST_CLI_DOCTOR_STAMP_H
#define MCAST_CLI_DOCTOR_STAMP_H

/* Of which release of mcastd a file of ours is: hooks and plugins have "… of mcastd 0.1.0" in them,
 * since what was copied somewhere by hand is forgotten when mcastd is upgraded. */

#include <stdbool.h>

enum { STAMP_SIZE = 32 };

/* False: it cannot be read, or has no stamp; out is "" then. */
bool stamp_read(const char *path, char out[STAMP_SIZE]);

#endif
