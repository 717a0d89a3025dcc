/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The certificate that a client has shown, with the names in it. That its holder has the key, TLS
 * has seen to; whether its names count is certificate_fault's to say, again for each request. */

enum {
    CERTIFICATE_NAMES_MAX = 16,
    CERTIFICATE_CHAIN_MAX = 8,
    CERTIFICATE_RSA_BITS_MAX = 8192,
    CERTIFICATE_EXPONENT_MAX = 8,    /* bytes of RSA's public one */
    CERTIFICATE_ELEMENTS_MAX = 1024, /* of DER, in a whole chain; a usual one has about 100 */
};

/* The number of elements in bytes of DER (ITU-T X.690), those in extensions of certificates (octet
 * strings that hold a sequence and nothing else) with them; max + 1 as soon as there are more, or
 * lengths and tags are written in ways that certificates have no use for. Bytes that are no DER end
 * the count. They are stepped over, not taken apart, which would cost a thousand times more. */
size_t der_elements(const unsigned char *bytes, size_t length, size_t max);

struct certificate;

/* From the chain in DER, the holder's own first; each is parsed once. NULL: none is shown, or, with
 * the reason in *unbearable, which is NULL else, it cannot be verified at bounded cost, as any
 * client may send it: TLS checks the holder's signature with the key that is shown before the
 * certificate's trust is verified, and with keys as large as they can be sent that takes minutes;
 * thousands of names take long to read. */
struct certificate *certificate_create(const gnutls_datum_t *shown, unsigned count,
                                       const char **unbearable);
/* The same of a handshake message Certificate without its header: RFC 8446 4.4.2, or with an older
 * version RFC 5246 7.4.2. GnuTLS itself looks at the chain only after that signature. */
struct certificate *certificate_read(const gnutls_datum_t *message, bool tls13,
                                     const char **unbearable);
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
