#ifndef MCAST_BROKER_HTTP_FAREWELL_H
#define MCAST_BROKER_HTTP_FAREWELL_H

#include "broker/http/problem.h"

#include <gnutls/gnutls.h>

/* Tells whoever is at the other end of a connection why it is closed, without waiting: an answer
 * that belongs to no request (RFC 9112, 9.5). Not in the middle of another answer. tls: its
 * session, or NULL; during a handshake nothing can be told. */
void farewell_send(int fd, gnutls_session_t tls, const struct problem *problem);

#endif
