/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/tlssite.h"
#include "tests/unit/unit.h"

#include <time.h>
#include <gnutls/abstract.h>

/* Handshakes that cost the broker much and their maker nothing: they end before anything is
 * calculated. What would be slow is not measured: a refusal has come before, or it has not. */

enum { RSA_BITS_MAX = 16384 };

static const struct site_options as_boss = {.mcastd = MCASTD, .admins = "root cert:boss"};

static int open_site(void **state)
{
    *state = tlssite_open(&as_boss);
    return 0;
}

static int close_site(void **state)
{
    tlssite_close(*state);
    return 0;
}

static void assert_served(struct tlssite *tls)
{
    assert_int_equal(tlssite_call(tls, NULL, "GET", "/healthz", NULL, NULL), 200);
}

/* ---- RSA with the public exponent 1: every text is its own signature, so nobody needs a key ----
 */

static int sign_with_one(gnutls_privkey_t key, gnutls_sign_algorithm_t algorithm, void *bits,
                         unsigned flags, const gnutls_datum_t *digest, gnutls_datum_t *signature)
{
    const unsigned size = *(const unsigned *)bits / 8;
    /* RFC 8017, 9.2: padding, then the DigestInfo, which GnuTLS has made */
    signature->size = size;
    signature->data = gnutls_malloc(size);
    assert_non_null(signature->data);
    assert_true(digest->size == 51 && size > 64);
    memset(signature->data, 0xff, size);
    signature->data[0] = 0;
    signature->data[1] = 1;
    signature->data[size - digest->size - 1] = 0;
    memcpy(signature->data + size - digest->size, digest->data, digest->size);
    return 0;
}

static int describe(gnutls_privkey_t key, unsigned flags, void *bits)
{
    if (flags == GNUTLS_PRIVKEY_INFO_PK_ALGO)
        return GNUTLS_PK_RSA;
    if (flags == GNUTLS_PRIVKEY_INFO_PK_ALGO_BITS)
        return (int)*(const unsigned *)bits;
    if (!(flags & GNUTLS_PRIVKEY_INFO_HAVE_SIGN_ALGO))
        return -1;
    return GNUTLS_FLAGS_TO_SIGN_ALGO(flags) == GNUTLS_SIGN_RSA_SHA256;
}

/* A certificate with this modulus, signed by somebody: who is told later than what it costs. */
static gnutls_datum_t rsa_certificate(const struct authority *signer, unsigned bits)
{
    static unsigned char number[RSA_BITS_MAX / 8], one[] = {1};
    const gnutls_datum_t modulus = {number, bits / 8}, exponent = {one, sizeof one};
    gnutls_pubkey_t numbers;
    gnutls_x509_crt_t certificate;
    gnutls_datum_t der = {0};
    memset(number, 0xa5, sizeof number);
    assert_int_equal(gnutls_pubkey_init(&numbers), 0);
    assert_int_equal(gnutls_pubkey_import_rsa_raw(numbers, &modulus, &exponent), 0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    assert_int_equal(gnutls_x509_crt_set_version(certificate, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(certificate, "\1", 1), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 60), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 3600), 0);
    assert_int_equal(gnutls_x509_crt_set_pubkey(certificate, numbers), 0);
    assert_int_equal(
        gnutls_x509_crt_sign2(certificate, signer->cert, signer->key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, &der), 0);
    gnutls_x509_crt_deinit(certificate);
    gnutls_pubkey_deinit(numbers);
    return der;
}

static gnutls_certificate_credentials_t credentials_of(const gnutls_datum_t *der, unsigned *bits)
{
    gnutls_certificate_credentials_t credentials;
    gnutls_privkey_t key;
    gnutls_pcert_st shown; /* its contents become the credentials' */
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    gnutls_certificate_set_flags(credentials, GNUTLS_CERTIFICATE_SKIP_KEY_CERT_MATCH);
    assert_int_equal(gnutls_pcert_import_x509_raw(&shown, der, GNUTLS_X509_FMT_DER, 0), 0);
    assert_int_equal(gnutls_privkey_init(&key), 0);
    assert_int_equal(
        gnutls_privkey_import_ext4(key, bits, NULL, sign_with_one, NULL, NULL, describe, 0), 0);
    assert_int_equal(gnutls_certificate_set_key(credentials, NULL, 0, &shown, 1, key), 0);
    return credentials;
}

/* That the small key is taken shows that the large one would be, but for its length. */
static void key__beyond_reason_is_not_calculated_with(void **state)
{
    static const struct {
        unsigned bits;
        bool taken;
    } rows[] = {{2048, true}, {8192, true}, {8448, false}, {RSA_BITS_MAX, false}};
    struct tlssite *tls = *state;
    char authority[128];
    snprintf(authority, sizeof authority, "%s/ca.pem", tls->certificates);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned bits = rows[i].bits;
        gnutls_datum_t der = rsa_certificate(&tls->authority, bits);
        const struct line_tls how = {.authority = authority,
                                     .priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.2",
                                     .credentials = credentials_of(&der, &bits)};
        struct line *line = tlssite_tcp(tls);
        int rc = line_secure(line, &how);
        if ((rc == 0) != rows[i].taken)
            fail_msg("%u bits: %s", bits, gnutls_strerror(rc));
        line_close(line);
        gnutls_free(der.data);
        assert_served(tls);
    }
}

static void finite_fields__are_refused(void **state)
{
    static const struct {
        const char *priorities;
        bool taken;
    } rows[] = {
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE8192", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE2048", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE8192:+GROUP-X25519", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-SECP256R1", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-GROUP-ALL:+GROUP-X25519", true},
    };
    struct tlssite *tls = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct line *line = tlssite_tcp(tls);
        int rc = tlssite_secure(tls, line, NULL, rows[i].priorities, NULL);
        if ((rc == 0) != rows[i].taken)
            fail_msg("row %zu: %s", i, gnutls_strerror(rc));
        line_close(line);
        assert_served(tls);
    }
}

/* As many bytes as eight usual certificates have are taken, and not many more. */
static void certificate__of_many_bytes_is_not_read(void **state)
{
    static const struct {
        size_t length;
        bool taken;
    } rows[] = {{1000, true}, {15000, true}, {17000, false}, {60000, false}};
    static char name[60001];
    struct tlssite *tls = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(name, 'n', rows[i].length);
        name[rows[i].length] = '\0';
        const struct testcert testcert = {.common = "boss", .dns = {name}};
        authority_write(&tls->authority, &testcert, tls->certificates, "long");
        struct line *line = tlssite_tcp(tls);
        /* With 1.2 the client hears of it before it has done its part. */
        int rc = tlssite_secure(tls, line, "long", "NORMAL:-VERS-ALL:+VERS-TLS1.2", NULL);
        if ((rc == 0) != rows[i].taken)
            fail_msg("%zu: %s", rows[i].length, gnutls_strerror(rc));
        if (rc == 0)
            assert_int_equal(site_ask(tls->site, line, "GET", "/v1/jobs", NULL, NULL, NULL), 200);
        line_close(line);
        assert_served(tls);
    }
}

UNIT_MAIN(ON_SITE(key__beyond_reason_is_not_calculated_with), ON_SITE(finite_fields__are_refused),
          ON_SITE(certificate__of_many_bytes_is_not_read))
