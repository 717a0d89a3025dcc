#ifndef MCAST_CLI_DOCTOR_PLACE_H
#define MCAST_CLI_DOCTOR_PLACE_H

/* Where that lies which was installed with this program: told from where the program itself lies,
 * so that any prefix is right, and no variable of the environment has a say. */

#include <stdbool.h>

enum { PLACE_SIZE = 1024 };

/* relative: from this program's folder ("../sbin/mcastd"). The whole path, without "..". False:
 * there is none, and out is "". */
bool place_find(const char *relative, char out[PLACE_SIZE]);

#endif
