#ifndef MCAST_CLI_CERTFILE_H
#define MCAST_CLI_CERTFILE_H

/* Files of certificates, PEM: how long they are good for. */

#include "cli/findings.h"

#include <stdint.h>
#include <time.h>

/* When the first of the file's certificates ends. 0, or -1 with a sentence in why. */
int certfile_ends(const char *path, time_t *end, char *why, size_t size);

/* Adds what is to be said of it: it ended, ends soon, cannot be read, or is fine. what: "the
 * broker's certificate". */
void certfile_judge(struct findings *findings, const char *what, const char *path, time_t now);

#endif
