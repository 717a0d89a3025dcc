/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_SERVERUSER_H
#define MCAST_CLIENT_TRANSPORT_SERVERUSER_H

/* Whether who serves the broker's Unix socket may be the broker: tokens are shown there, and what
 * comes back ends up in root's hooks (B8; docs/security.md, "The Unix socket"). */

#include <stdbool.h>
#include <stddef.h>

/* fd: connected to the socket of this path. configured: a user's name or uid that is trusted as
 * well, or NULL. True for it, for root, for this process's own user, and for the owner of the
 * socket's folder if only he and root can put a socket there. Else false, and words say who serves
 * it. */
bool serveruser_trusted(int fd, const char *path, const char *configured, char *words, size_t size);

#endif
