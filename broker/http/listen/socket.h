/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Listening sockets. All return a descriptor (non-blocking, close-on-exec, listening), or a
 * negative enum error_code with a sentence in err. */

/* A Unix socket at path. A socket file that a dead process left there is replaced, one that
 * answers is an error, and so is any other kind of file. No client can connect before mode and
 * group (name or number; NULL: unchanged) are set. */
int socket_listen_unix(const char *path, unsigned mode, const char *group, struct error *err);

/* The socket file of fd, if it is still the one at path. */
void socket_unlink_unix(const char *path, dev_t device, ino_t inode);

/* TCP at "HOST:PORT" as [broker] listen has it ("[::1]:7470", "localhost:0", "0.0.0.0:7470"). *port
 * receives the real one. */
int socket_listen_tcp(const char *address, int *port, struct error *err);

/* Whether fd listens at exactly this address, with its port; port 0 is none. */
bool socket_listens_tcp(int fd, const char *address);

/* Of a TCP socket that is bound. */
int socket_port(int fd);
