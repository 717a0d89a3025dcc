/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/operation/certificate.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <time.h>
#include <unistd.h>

enum { DAY_S = 24 * 3600 };

static void write_pem(const char *path, mode_t mode, const gnutls_datum_t *pem)
{
    /* Another file in its place, as an administrator puts it there. */
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, pem->data, pem->size), pem->size);
    assert_int_equal(close(fd), 0);
}

void certificate_write(const char *cert, const char *key, int days)
{
    static unsigned char serial;
    gnutls_x509_privkey_t private;
    gnutls_x509_crt_t certificate;
    gnutls_datum_t pem;
    time_t now = time(NULL);
    serial++;
    assert_int_equal(gnutls_x509_privkey_init(&private), 0);
    assert_int_equal(gnutls_x509_privkey_generate(private, GNUTLS_PK_ECDSA,
                                                  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                                                  0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    assert_int_equal(gnutls_x509_crt_set_version(certificate, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(certificate, &serial, 1), 0);
    assert_int_equal(gnutls_x509_crt_set_dn(certificate, "CN=localhost", NULL), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(certificate, now - 1000 * (time_t)DAY_S),
                     0);
    /* Half a day more, so that the days that are left are as many as asked for. */
    assert_int_equal(
        gnutls_x509_crt_set_expiration_time(certificate, now + days * (time_t)DAY_S + DAY_S / 2),
        0);
    assert_int_equal(gnutls_x509_crt_set_key(certificate, private), 0);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, private, GNUTLS_DIG_SHA256, 0),
                     0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(cert, 0644, &pem);
    gnutls_free(pem.data);
    assert_int_equal(gnutls_x509_privkey_export2(private, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(key, 0600, &pem);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(private);
}
