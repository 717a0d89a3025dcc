/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "base/error.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>

/* What the broker shows and asks for on a TLS connection: its own certificate, and the authorities
 * by which it believes clients'. Read as a whole from files, and then counted by its users: after a
 * reload new connections begin with the new one, while open ones go on with what they began with.
 */

/* libmicrohttpd takes them as GnuTLS writes them: TLS 1.2 and 1.3, and of 1.2 only what keeps
 * recorded traffic unreadable when the key is stolen later. X25519 is first, because OpenSSL's
 * clients begin with it: for another one they would have to begin again, which takes a round trip
 * and a third more of the broker's time (G23). */
#define TLS_PRIORITIES                                                                             \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-GROUP-ALL:+GROUP-X25519:"           \
    "+GROUP-SECP256R1:+GROUP-SECP384R1:+GROUP-SECP521R1:+GROUP-X448:-CIPHER-ALL:+AES-256-GCM:"     \
    "+AES-128-GCM:+CHACHA20-POLY1305:%SERVER_PRECEDENCE"

struct tls;

/* The files of PEM that tls_cert, tls_key and tls_client_ca name; without the last, certificates of
 * clients are not asked for. The key must be readable by no other user, the others changeable by
 * no other user. NULL with a sentence in err that names the file: unreadable, no PEM, a key that
 * belongs to another certificate, a certificate whose time is over. */
struct tls *tls_load(const struct config *config, struct error *err);
struct tls *tls_hold(struct tls *tls);
void tls_drop(struct tls *tls); /* NULL is allowed; the last one frees it */

/* Makes a session before its handshake use all of this. The session's
 * holder holds tls for as long. */
void tls_session_setup(const struct tls *tls, gnutls_session_t session);

/* The authorities; NULL: certificates of clients prove nothing. */
gnutls_x509_trust_list_t tls_authorities(const struct tls *tls);

/* When the broker's own certificate ends, Unix seconds. */
int64_t tls_expires(const struct tls *tls);
