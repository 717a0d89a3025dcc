#ifndef MCAST_CLIENT_MUNGE_H
#define MCAST_CLIENT_MUNGE_H

/* MUNGE credentials, by libmunge where it is installed: it is opened at run time, so that programs
 * on systems without MUNGE can use libmcast too. */

#include "client/mcast.h"

/* A fresh credential over the payload. *out is the caller's to munge_forget. socket: of munged;
 * NULL: libmunge's own. MCAST_UNREACHABLE with the word "munge", and why there is none; or
 * MCAST_NOMEM. Each can be used once: a second use is a replay. */
int munge_credential(const char *socket, const char *payload, char **out,
                     struct mcast_error *error);

/* Wipes and frees. Takes NULL. */
void munge_forget(char *credential);

#endif
