/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_REQUEST_ACCEPT_H
#define MCAST_BROKER_HTTP_REQUEST_ACCEPT_H

/* How much a client wants a media type ("text/plain"), by its Accept header (RFC 9110, 12.5.1):
 * 0 (not at all) to 1000. The most specific range that matches counts. accept may be NULL: 1000. */
int accept_weight(const char *accept, const char *type);

#endif
