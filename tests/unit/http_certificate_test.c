/* Names and faults of clients' certificates. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/certificate.h"
#include "tests/system/http/papers.h"

#include <time.h>

static struct certificate *issue(const struct authority *authority, const struct paper *paper)
{
    char *pem = authority_issue(authority, paper, NULL);
    struct certificate *certificate = certificate_read(pem);
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

static void names__are_those_that_can_be_compared(void **state)
{
    static const struct {
        struct paper paper;
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
        struct certificate *certificate = issue(*state, &cases[i].paper);
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

static void certificate__proves_nothing_unless_all_is_well(void **state)
{
    static const struct paper good = {.common = "a"},
                              client = {.common = "a", .purpose = GNUTLS_KP_TLS_WWW_CLIENT},
                              server = {.common = "a", .purpose = GNUTLS_KP_TLS_WWW_SERVER},
                              past = {.common = "a", .begins = -7200, .ends = -3600},
                              future = {.common = "a", .begins = 3600, .ends = 7200};
    struct authority other, pretender;
    authority_init(&other, "other");
    authority_init(&pretender, "authority");
    const struct {
        const struct authority *signer;
        const struct paper *paper;
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
        struct certificate *certificate = issue(cases[i].signer, cases[i].paper);
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

static void garbage__is_no_certificate(void **state)
{
    (void)state;
    assert_null(certificate_read(""));
    assert_null(certificate_read("no certificate"));
    assert_null(certificate_read("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names__are_those_that_can_be_compared, authority_open,
                                        authority_close),
        cmocka_unit_test_setup_teardown(certificate__proves_nothing_unless_all_is_well,
                                        authority_open, authority_close),
        cmocka_unit_test(garbage__is_no_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
