/* SPDX-License-Identifier: Apache-2.0 */
/* How many elements bytes of DER have (broker/http/auth/certificate.h): a byte for the most that
 * are wanted, then they come. */

#include "broker/http/auth/certificate.h"
#include "tests/fuzz/fuzz.h"

#include <gnutls/x509.h>
#include <stdlib.h>

/* What GnuTLS takes for a certificate has its three parts and their elements, and is not refused
 * for how it is written. */
static void check_certificate(const char *bytes, size_t length, size_t count)
{
    gnutls_x509_crt_t certificate;
    const gnutls_datum_t der = {.data = (unsigned char *)(uintptr_t)bytes,
                                .size = (unsigned)length};
    if (gnutls_x509_crt_init(&certificate) < 0)
        abort();
    if (gnutls_x509_crt_import(certificate, &der, GNUTLS_X509_FMT_DER) == 0)
        FUZZ_CHECK(count > 10);
    gnutls_x509_crt_deinit(certificate);
}

void fuzz_one(struct fuzz_input *in)
{
    size_t length, max = fuzz_byte(in);
    char *text = fuzz_bytes(in, &length);
    const unsigned char *bytes = (const unsigned char *)text;
    size_t all = der_elements(bytes, length, length); /* each has two bytes at least */
    size_t some = der_elements(bytes, length, max);
    FUZZ_CHECK(all <= length + 1 && some <= max + 1);
    if (all <= length) /* not strange */
        FUZZ_CHECK(2 * all <= length && some == (all <= max ? all : max + 1));
    else
        FUZZ_CHECK(some == max + 1);
    if (length > 0 && bytes[0] == 0x30)
        check_certificate(text, length, all);
    free(text);
}
