#ifndef MCAST_BROKER_HTTP_CERTIFICATE_H
#define MCAST_BROKER_HTTP_CERTIFICATE_H

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stddef.h>
#include <stdint.h>

/* The certificate that a client has shown, with the names in it. That its holder has the key, TLS
 * has seen to; whether its names count is certificate_fault's to say, again for each request. */

enum { CERTIFICATE_NAMES_MAX = 16 };

struct certificate;

/* From a session past its handshake. NULL: none was shown, or there is no memory. */
struct certificate *certificate_take(gnutls_session_t session);
/* The same from PEM, the holder's own first. */
struct certificate *certificate_read(const char *pem);
void certificate_destroy(struct certificate *certificate); /* NULL is allowed */

/* The subject's common names, then its DNS names, at most CERTIFICATE_NAMES_MAX; NULL-terminated.
 * One with anything but printable ASCII in it is left out, and so is a too long one. */
const char *const *certificate_names(const struct certificate *certificate);

/* Asks the authorities (NULL: there are none) again. What comes of it stands until the next time.
 */
void certificate_judge(struct certificate *certificate, gnutls_x509_trust_list_t authorities);

/* Why it proves nothing at this time (Unix seconds): "it has expired"; NULL: it proves its names.
 */
const char *certificate_fault(const struct certificate *certificate, int64_t now);

#endif
