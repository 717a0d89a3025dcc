/* SPDX-License-Identifier: Apache-2.0 */
/* Names and faults of clients' certificates. */

#include "broker/http/auth/certificate.h"
#include "tests/system/http/testcert.h"
#include "tests/unit/unit.h"

#include <gnutls/abstract.h>
#include <time.h>

static const char *unbearable(const gnutls_datum_t *shown, unsigned count)
{
    const char *why;
    struct certificate *certificate = certificate_create(shown, count, &why);
    assert_true(!certificate == (why || count == 0));
    certificate_destroy(certificate);
    return why;
}

static const char *message_unbearable(const gnutls_datum_t *message, bool tls13)
{
    const char *why;
    certificate_destroy(certificate_read(message, tls13, &why));
    return why;
}

static struct certificate *issue(const struct authority *authority, const struct testcert *testcert)
{
    char *pem = authority_issue(authority, testcert, NULL);
    const gnutls_datum_t text = {.data = (unsigned char *)pem, .size = (unsigned)strlen(pem)};
    gnutls_datum_t der;
    assert_int_equal(gnutls_pem_base64_decode2("CERTIFICATE", &text, &der), 0);
    const char *why;
    struct certificate *certificate = certificate_create(&der, 1, &why);
    gnutls_free(der.data);
    gnutls_free(pem);
    assert_non_null(certificate);
    return certificate;
}

static int authority_open(void **state)
{
    static struct authority authority;
    authority_init(&authority, "authority");
    *state = &authority;
    return 0;
}

static int authority_close(void **state)
{
    authority_release(*state);
    return 0;
}

UNIT_WITH(names__are_those_that_can_be_compared, authority_open, authority_close)
{
    static const struct {
        struct testcert testcert;
        const char *names[5];
    } cases[] = {
        {{.common = "node17"}, {"node17"}},
        {{.common = "node17", .dns = {"node17.site", "n17"}}, {"node17", "node17.site", "n17"}},
        {{.dns = {"n17"}}, {"n17"}},
        {{.common = NULL}, {NULL}},
        {{.common = "two words", .dns = {"n17"}}, {"n17"}},
        {{.common = "quo\"te", .dns = {"n17"}}, {"n17"}},
        {{.common = "back\\slash", .dns = {"n17"}}, {"n17"}},
        {{.common = "l\xc3\xbc"
                    "beck",
          .dns = {"n17"}},
         {"n17"}},
        {{.common = "new\nline", .dns = {"n17"}}, {"n17"}},
        {{.common = "*.site"}, {"*.site"}}, /* a name like any other: it stands for no second one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct certificate *certificate = issue(*state, &cases[i].testcert);
        const char *const *names = certificate_names(certificate);
        size_t count = 0;
        for (; cases[i].names[count]; count++) {
            if (!names[count] || strcmp(names[count], cases[i].names[count]) != 0)
                fail_msg("row %zu: %s", i, names[count] ? names[count] : "none");
        }
        assert_null(names[count]);
        certificate_destroy(certificate);
    }
}

/* A certificate of its own key: a number of RSA, which need not be a real one. */
static gnutls_datum_t der_of_rsa(unsigned modulus_bits, unsigned exponent_bytes)
{
    gnutls_x509_crt_t certificate, issuer;
    gnutls_x509_privkey_t signer;
    gnutls_pubkey_t numbers;
    gnutls_datum_t der = {0}, modulus = {.size = modulus_bits / 8}, exponent = {0};
    modulus.data = gnutls_malloc(modulus.size);
    memset(modulus.data, 0xa5, modulus.size);
    exponent.size = exponent_bytes;
    exponent.data = gnutls_malloc(exponent.size);
    memset(exponent.data, 0x5b, exponent.size);
    assert_int_equal(gnutls_pubkey_init(&numbers), 0);
    assert_int_equal(gnutls_pubkey_import_rsa_raw(numbers, &modulus, &exponent), 0);
    assert_int_equal(gnutls_x509_privkey_init(&signer), 0);
    assert_int_equal(gnutls_x509_privkey_generate(signer, GNUTLS_PK_ECDSA,
                                                  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                                                  0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&issuer), 0);
    assert_int_equal(gnutls_x509_crt_set_key(issuer, signer), 0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    assert_int_equal(gnutls_x509_crt_set_version(certificate, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(certificate, "\1", 1), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(certificate, time(NULL)), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 3600), 0);
    assert_int_equal(gnutls_x509_crt_set_pubkey(certificate, numbers), 0);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, issuer, signer, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, &der), 0);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_crt_deinit(issuer);
    gnutls_x509_privkey_deinit(signer);
    gnutls_pubkey_deinit(numbers);
    gnutls_free(modulus.data);
    gnutls_free(exponent.data);
    return der;
}

/* A certificate with this many DNS names, and countries in its subject. */
static gnutls_datum_t der_of_names(unsigned names, unsigned subjects)
{
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
    gnutls_datum_t der = {0};
    static unsigned char list[1 << 16];
    unsigned at = 4;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    assert_int_equal(gnutls_x509_crt_set_version(certificate, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(certificate, "\1", 1), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(certificate, time(NULL)), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 3600), 0);
    assert_int_equal(gnutls_x509_crt_set_key(certificate, key), 0);
    for (unsigned i = 0; i < names; i++, at += 3)
        memcpy(list + at, "\x82\x01n", 3);
    memcpy(list,
           (unsigned char[]){0x30, 0x82, (unsigned char)((at - 4) >> 8), (unsigned char)(at - 4)},
           4);
    if (names)
        assert_int_equal(
            gnutls_x509_crt_set_extension_by_oid(certificate, "2.5.29.17", list, at, 0), 0);
    for (unsigned i = 0; i < subjects; i++)
        assert_int_equal(
            gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COUNTRY_NAME, 0, "US", 2),
            0);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, &der), 0);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    return der;
}

/* Anybody can show a key that takes minutes to calculate with: it is not calculated with. */
UNIT(shown__keys_beyond_reason_end_the_handshake)
{
    static const struct {
        unsigned modulus_bits, exponent_bytes;
        const char *why;
    } keys[] = {
        {2048, 3, NULL},
        {8192, 8, NULL},
        {8200, 3, "longer than 8192 bits"},
        {32768, 3, "longer than 8192 bits"},
        {2048, 9, "exponent"},
        {4096, 512, "exponent"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        gnutls_datum_t der = der_of_rsa(keys[i].modulus_bits, keys[i].exponent_bytes);
        const char *why = unbearable(&der, 1);
        if ((!why) != (!keys[i].why) || (why && !strstr(why, keys[i].why)))
            fail_msg("row %zu: %s", i, why ? why : "taken");
        gnutls_free(der.data);
    }
    gnutls_datum_t junk = {.data = (unsigned char *)(uintptr_t) "junk", .size = 4};
    assert_non_null(unbearable(&junk, 1));
    assert_null(unbearable(NULL, 0));
    gnutls_datum_t der = der_of_rsa(2048, 3), chain[CERTIFICATE_CHAIN_MAX + 1];
    for (size_t i = 0; i <= CERTIFICATE_CHAIN_MAX; i++)
        chain[i] = der;
    assert_null(unbearable(chain, CERTIFICATE_CHAIN_MAX));
    assert_non_null(unbearable(chain, CERTIFICATE_CHAIN_MAX + 1));
    gnutls_free(der.data);
}

/* What is read of a certificate before it is known whose it is costs time for each of its parts. */
UNIT(shown__certificates_of_thousands_of_parts_are_not_read)
{
    static const struct {
        unsigned names, subjects;
        bool taken;
    } rows[] = {{0, 0, true},     {100, 10, true}, {900, 0, true}, {1030, 0, false},
                {5000, 0, false}, {0, 110, true},  {0, 130, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gnutls_datum_t der = der_of_names(rows[i].names, rows[i].subjects);
        const char *why = unbearable(&der, 1);
        if ((!why) != rows[i].taken || (why && !strstr(why, "too many parts")))
            fail_msg("row %zu: %s", i, why ? why : "taken");
        gnutls_datum_t chain[] = {der, der}; /* counted together */
        if (rows[i].names == 900)
            assert_non_null(unbearable(chain, 2));
        gnutls_free(der.data);
    }
    gnutls_datum_t der = der_of_names(3, 1);
    const size_t usual = der_elements(der.data, der.size, SIZE_MAX - 1);
    assert_in_range(usual, 30, 100);
    assert_int_equal(der_elements(der.data, der.size, 10), 11);
    for (unsigned cut = 0; cut < der.size; cut++)
        assert_true(der_elements(der.data, cut, SIZE_MAX - 1) <= usual);
    assert_int_equal(der_elements((const unsigned char *)"\x30\x80\x05\x00\x00\x00", 6, 9), 10);
    assert_int_equal(der_elements((const unsigned char *)"\x3f\x81\x01\x00", 4, 9), 10);
    assert_int_equal(der_elements((const unsigned char *)"\x05\x00\x05\x00", 4, 9), 2);
    gnutls_free(der.data);
}

/* A message of `count` times the same certificate; its length. */
static unsigned message_write(unsigned char *out, const gnutls_datum_t *der, unsigned count,
                              bool tls13)
{
    unsigned at = 0, each = 3 + der->size + (tls13 ? 2 : 0), whole = each * count;
    if (tls13)
        out[at++] = 0;
    out[at++] = (unsigned char)(whole >> 16);
    out[at++] = (unsigned char)(whole >> 8);
    out[at++] = (unsigned char)whole;
    for (unsigned i = 0; i < count; i++) {
        out[at++] = (unsigned char)(der->size >> 16);
        out[at++] = (unsigned char)(der->size >> 8);
        out[at++] = (unsigned char)der->size;
        memcpy(out + at, der->data, der->size);
        at += der->size;
        if (tls13) {
            out[at++] = 0;
            out[at++] = 0;
        }
    }
    return at;
}

UNIT(message__is_judged_in_both_versions)
{
    static unsigned char bytes[1 << 17];
    gnutls_datum_t good = der_of_rsa(2048, 3), bad = der_of_rsa(16384, 3);
    gnutls_datum_t message = {.data = bytes};
    for (int tls13 = 0; tls13 <= 1; tls13++) {
        message.size = message_write(bytes, &good, 0, tls13);
        assert_null(message_unbearable(&message, tls13)); /* shows none */
        message.size = message_write(bytes, &good, 2, tls13);
        assert_null(message_unbearable(&message, tls13));
        for (; message.size > 0; message.size--) {
            gnutls_datum_t part = {.data = bytes, .size = message.size - 1};
            assert_non_null(message_unbearable(&part, tls13));
        }
        message.size = message_write(bytes, &bad, 1, tls13);
        assert_non_null(strstr(message_unbearable(&message, tls13), "8192"));
        message.size = message_write(bytes, &good, 9, tls13);
        assert_non_null(strstr(message_unbearable(&message, tls13), "more than 8"));
        message.size = message_write(bytes, &good, 100, tls13);
        assert_non_null(strstr(message_unbearable(&message, tls13), "more than 8"));
    }
    gnutls_free(good.data);
    gnutls_free(bad.data);
}

UNIT_WITH(certificate__proves_nothing_unless_all_is_well, authority_open, authority_close)
{
    static const struct testcert good = {.common = "a"},
                                 client = {.common = "a", .purpose = GNUTLS_KP_TLS_WWW_CLIENT},
                                 server = {.common = "a", .purpose = GNUTLS_KP_TLS_WWW_SERVER},
                                 past = {.common = "a", .begins = -7200, .ends = -3600},
                                 future = {.common = "a", .begins = 3600, .ends = 7200};
    struct authority other, pretender;
    authority_init(&other, "other");
    authority_init(&pretender, "authority");
    const struct {
        const struct authority *signer;
        const struct testcert *testcert;
        const char *fault; /* NULL: none */
    } cases[] = {
        {*state, &good, NULL},
        {*state, &client, NULL},
        {*state, &server, "it is not meant for clients"},
        {*state, &past, "it has expired"},
        {*state, &future, "it is not valid yet"},
        {&other, &good, "no authority in tls_client_ca"},
        {&pretender, &good, "its signature is wrong"},
    };
    gnutls_x509_trust_list_t believed;
    char *pem = authority_pem(*state);
    const gnutls_datum_t text = {(unsigned char *)pem, (unsigned)strlen(pem)};
    assert_int_equal(gnutls_x509_trust_list_init(&believed, 0), 0);
    assert_int_equal(
        gnutls_x509_trust_list_add_trust_mem(believed, &text, NULL, GNUTLS_X509_FMT_PEM, 0, 0), 1);
    gnutls_free(pem);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct certificate *certificate = issue(cases[i].signer, cases[i].testcert);
        const int64_t now = time(NULL);
        assert_non_null(certificate_fault(certificate, now)); /* before anybody has looked */
        certificate_judge(certificate, NULL);
        assert_non_null(strstr(certificate_fault(certificate, now), "tls_client_ca is unset"));
        certificate_judge(certificate, believed);
        const char *fault = certificate_fault(certificate, now);
        if (!fault != !cases[i].fault || (fault && !strstr(fault, cases[i].fault)))
            fail_msg("row %zu: %s", i, fault ? fault : "none");
        if (!fault) { /* its time goes by while the connection lives */
            assert_string_equal(certificate_fault(certificate, now + 7200), "it has expired");
            assert_string_equal(certificate_fault(certificate, now - 7200), "it is not valid yet");
        }
        certificate_destroy(certificate);
    }
    gnutls_x509_trust_list_deinit(believed, 1);
    authority_release(&other);
    authority_release(&pretender);
}

UNIT(garbage__is_no_certificate)
{
    const gnutls_datum_t garbage = {.data = (unsigned char *)"AAAA", .size = 4};
    assert_null(unbearable(NULL, 0));
    assert_non_null(unbearable(&garbage, 1));
}

UNIT_RUN(NULL, NULL)
