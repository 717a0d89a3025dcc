/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_ENDPOINT_H
#define MCAST_CLIENT_TRANSPORT_ENDPOINT_H

/* Where the broker is: a Unix socket, or a host and port. */

#include "client/mcast.h"

#include <sys/un.h>

enum { ENDPOINT_BASE_MAX = 280 }; /* "https://", a host name of 253, a port */

struct endpoint {
    char socket[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "" when it is TCP */
    char base[ENDPOINT_BASE_MAX]; /* what paths are appended to: "http://localhost" for a socket */
    bool tls;
};

/* "unix:/path", "/path", "https://host:port", or "http://host:port" where the host is this machine;
 * else MCAST_USAGE with what is allowed. No credentials in the URL, because URLs end up in
 * messages. Jobs' tokens never cross a network in the clear: http to another host is refused. */
int endpoint_parse(struct endpoint *endpoint, const char *url, struct mcast_error *error);

/* url, or MCAST_URL, or the default socket. */
int endpoint_find(struct endpoint *endpoint, const char *url, struct mcast_error *error);

/* Whether its host is a name that must be resolved. */
bool endpoint_named(const struct endpoint *endpoint);

/* What to call it in messages: the socket's path, or "https://host:port". */
const char *endpoint_name(const struct endpoint *endpoint);

#endif
