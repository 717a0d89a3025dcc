/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/testcert.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/folder.h"

#include <arpa/inet.h>
#include <time.h>

enum { HOUR = 3600, FILE_SIZE = 64 };

static void must(int result)
{
    if (result < 0)
        fail_msg("making a certificate: %s", gnutls_strerror(result));
}

/* All but names, purpose and signature. */
static void draw_up(gnutls_x509_privkey_t *key, gnutls_x509_crt_t *cert, const char *common,
                    long begins, long ends)
{
    static uint32_t serial = 1u << 24; /* all of four bytes, and not negative */
    time_t now = time(NULL);
    const uint32_t number = htonl(++serial);
    if (begins == 0 && ends == 0) {
        begins = -HOUR;
        ends = HOUR;
    }
    must(gnutls_x509_privkey_init(key));
    must(gnutls_x509_privkey_generate(*key, GNUTLS_PK_ECDSA,
                                      GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
    must(gnutls_x509_crt_init(cert));
    must(gnutls_x509_crt_set_version(*cert, 3));
    must(gnutls_x509_crt_set_serial(*cert, &number, sizeof number));
    must(gnutls_x509_crt_set_activation_time(*cert, now + begins));
    must(gnutls_x509_crt_set_expiration_time(*cert, now + ends));
    must(gnutls_x509_crt_set_key(*cert, *key));
    if (common)
        must(gnutls_x509_crt_set_dn_by_oid(*cert, GNUTLS_OID_X520_COMMON_NAME, 0, common,
                                           (unsigned)strlen(common)));
}

static char *pem_of(gnutls_x509_crt_t cert)
{
    gnutls_datum_t pem;
    must(gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &pem));
    return (char *)pem.data;
}

void authority_init(struct authority *authority, const char *name)
{
    draw_up(&authority->key, &authority->cert, name, 0, 0);
    must(gnutls_x509_crt_set_basic_constraints(authority->cert, 1, -1));
    must(gnutls_x509_crt_set_key_usage(authority->cert, GNUTLS_KEY_KEY_CERT_SIGN));
    must(gnutls_x509_crt_sign2(authority->cert, authority->cert, authority->key, GNUTLS_DIG_SHA256,
                               0));
}

void authority_release(struct authority *authority)
{
    gnutls_x509_crt_deinit(authority->cert);
    gnutls_x509_privkey_deinit(authority->key);
}

char *authority_pem(const struct authority *authority)
{
    return pem_of(authority->cert);
}

char *authority_issue(const struct authority *authority, const struct testcert *testcert,
                      char **key)
{
    static const unsigned char loopback[] = {127, 0, 0, 1};
    gnutls_x509_privkey_t own;
    gnutls_x509_crt_t cert;
    gnutls_datum_t text;
    draw_up(&own, &cert, testcert->common, testcert->begins, testcert->ends);
    must(gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_IPADDRESS, loopback, sizeof loopback,
                                              GNUTLS_FSAN_SET));
    for (const char *const *name = testcert->dns; *name; name++)
        must(gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_DNSNAME, *name,
                                                  (unsigned)strlen(*name), GNUTLS_FSAN_APPEND));
    if (testcert->purpose)
        must(gnutls_x509_crt_set_key_purpose_oid(cert, testcert->purpose, 0));
    must(gnutls_x509_crt_sign2(cert, authority->cert, authority->key, GNUTLS_DIG_SHA256, 0));
    char *pem = pem_of(cert);
    if (key) {
        must(gnutls_x509_privkey_export2(own, GNUTLS_X509_FMT_PEM, &text));
        *key = (char *)text.data;
    }
    gnutls_x509_crt_deinit(cert);
    gnutls_x509_privkey_deinit(own);
    return pem;
}

void authority_write(const struct authority *authority, const struct testcert *testcert,
                     const char *folder, const char *name)
{
    char file[FILE_SIZE], *key, *pem = authority_issue(authority, testcert, &key);
    snprintf(file, sizeof file, "%s.pem", name);
    assert_int_equal(folder_write(folder, file, 0600, pem), 0);
    snprintf(file, sizeof file, "%s.key", name);
    assert_int_equal(folder_write(folder, file, 0600, key), 0);
    gnutls_free(pem);
    gnutls_free(key);
}

void authority_equip(const char *folder)
{
    const struct testcert nameless = {0}; /* etcd takes a name for a user */
    struct authority authority;
    char *pem;

    authority_init(&authority, "test authority");
    pem = authority_pem(&authority);
    assert_int_equal(folder_write(folder, "ca.pem", 0600, pem), 0);
    gnutls_free(pem);
    authority_write(&authority, &nameless, folder, "server");
    authority_write(&authority, &nameless, folder, "client");
    authority_release(&authority);
}
