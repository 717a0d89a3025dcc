/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/mockfm/authority.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/folder.h"

#define PATH_SIZE 128
#define DAY 86400

static void must(int result)
{
    if (result < 0)
        fail_msg("making a certificate: %s", gnutls_strerror(result));
}

/* A key and a certificate for it that lacks only its signature. */
static void draw_up(gnutls_x509_privkey_t *key, gnutls_x509_crt_t *cert, const char *name,
                    time_t end)
{
    static unsigned char serial;
    char subject[64];

    serial++;
    snprintf(subject, sizeof subject, "CN=%s", name);
    must(gnutls_x509_privkey_init(key));
    must(gnutls_x509_privkey_generate(*key, GNUTLS_PK_ECDSA,
                                      GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
    must(gnutls_x509_crt_init(cert));
    must(gnutls_x509_crt_set_version(*cert, 3));
    must(gnutls_x509_crt_set_serial(*cert, &serial, sizeof serial));
    must(gnutls_x509_crt_set_dn(*cert, subject, NULL));
    must(gnutls_x509_crt_set_activation_time(*cert, end - 3L * DAY));
    must(gnutls_x509_crt_set_expiration_time(*cert, end));
    must(gnutls_x509_crt_set_key(*cert, *key));
}

static void write_pem(const char *folder, const char *name, const char *suffix,
                      const gnutls_datum_t *pem)
{
    char file[PATH_SIZE];

    snprintf(file, sizeof file, "%s.%s", name, suffix);
    assert_int_equal(folder_write(folder, file, 0600, (const char *)pem->data), 0);
}

static void write_cert(const char *folder, const char *name, gnutls_x509_crt_t cert)
{
    gnutls_datum_t pem;

    must(gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &pem));
    write_pem(folder, name, "pem", &pem);
    gnutls_free(pem.data);
}

void authority_create(struct authority *authority, const char *folder, const char *name)
{
    draw_up(&authority->key, &authority->cert, name, time(NULL) + DAY);
    must(gnutls_x509_crt_set_basic_constraints(authority->cert, 1, -1));
    must(gnutls_x509_crt_set_key_usage(authority->cert, GNUTLS_KEY_KEY_CERT_SIGN));
    must(gnutls_x509_crt_sign2(authority->cert, authority->cert, authority->key, GNUTLS_DIG_SHA256,
                               0));
    write_cert(folder, name, authority->cert);
}

void authority_destroy(struct authority *authority)
{
    gnutls_x509_crt_deinit(authority->cert);
    gnutls_x509_privkey_deinit(authority->key);
}

void authority_issue(const struct authority *authority, const char *folder, const char *name,
                     time_t end)
{
    static const unsigned char loopback[] = {127, 0, 0, 1};
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t cert;
    gnutls_datum_t pem;

    draw_up(&key, &cert, name, end);
    must(gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_IPADDRESS, loopback, sizeof loopback,
                                              GNUTLS_FSAN_SET));
    must(gnutls_x509_crt_sign2(cert, authority->cert, authority->key, GNUTLS_DIG_SHA256, 0));
    write_cert(folder, name, cert);
    must(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem));
    write_pem(folder, name, "key", &pem);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(cert);
    gnutls_x509_privkey_deinit(key);
}
