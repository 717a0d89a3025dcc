/* SPDX-License-Identifier: Apache-2.0 */

#include "fmapi/wire/credential.h"
#include "tests/unit/unit.h"

static struct clientcert nothing;

static struct credential *basic(const char *password)
{
    return credential_basic("cxi", secret_of(password), &nothing);
}

static void header_is(struct credential *credential, const char *expected)
{
    struct secret header = credential->header;
    if (!expected)
        assert_true(secret_none(header));
    else
        assert_string_equal(secret_expose(header), expected);
    credential_drop(credential);
}

/* RFC 7617, 2 with each padding; RFC 6750, 2.1. */
UNIT(credential__is_a_line_of_the_head)
{
    header_is(credential_plain(&nothing), NULL);
    header_is(basic("fm-passw0rd"), "Authorization: Basic Y3hpOmZtLXBhc3N3MHJk");
    header_is(basic("second"), "Authorization: Basic Y3hpOnNlY29uZA==");
    header_is(basic("third"), "Authorization: Basic Y3hpOnRoaXJk");
    header_is(basic("4th!"), "Authorization: Basic Y3hpOjR0aCE=");
    header_is(credential_bearer(secret_of("a.b"), &nothing), "Authorization: Bearer a.b");
}

UNIT(credential__knows_what_a_server_may_quote)
{
    struct credential *credential = basic("second");
    struct secrets secrets = {0};
    credential_add_secrets(credential, &secrets);
    assert_int_equal(secrets.count, 2);
    assert_string_equal(secrets.values[0], "second");
    assert_string_equal(secrets.values[1], "Y3hpOnNlY29uZA");
    credential_drop(credential);

    credential = credential_bearer(secret_of("a.b"), &nothing);
    secrets = (struct secrets){0};
    credential_add_secrets(credential, &secrets);
    assert_int_equal(secrets.count, 1);
    assert_string_equal(secrets.values[0], "a.b");
    credential_drop(credential);
}

static struct clientcert cert_of(const char *cert, const char *key)
{
    return (struct clientcert){.cert = secret_copy(secret_of(cert)),
                               .key = secret_copy(secret_of(key))};
}

UNIT(credential__takes_the_certificate)
{
    struct clientcert cert = cert_of("CERT", "KEY");
    struct credential *credential = credential_plain(&cert);
    assert_true(secret_none(cert.cert) && secret_none(cert.key));
    assert_string_equal(secret_expose(credential->cert.cert), "CERT");
    assert_string_equal(secret_expose(credential->cert.key), "KEY");
    credential_drop(credential);
}

UNIT(credential__lives_as_long_as_it_is_held)
{
    struct credential *credential = basic("second");
    assert_ptr_equal(credential_hold(credential), credential);
    credential_drop(credential);
    assert_string_equal(secret_expose(credential->header), "Authorization: Basic Y3hpOnNlY29uZA==");
    credential_drop(credential);
    credential_drop(NULL);
}

UNIT(credential_equal__looks_at_all_of_it)
{
    struct clientcert certs[] = {cert_of("A", "B"), cert_of("A", "C"), cert_of("D", "B")};
    struct credential *all[] = {
        basic("one"),
        basic("two"),
        credential_plain(&nothing),
        credential_bearer(secret_of("one"), &nothing),
        credential_plain(&certs[0]),
        credential_plain(&certs[1]),
        credential_plain(&certs[2]),
    };
    enum { ALL = sizeof all / sizeof all[0] };
    for (size_t i = 0; i < ALL; i++)
        for (size_t j = 0; j < ALL; j++)
            assert_int_equal(credential_equal(all[i], all[j]), i == j);
    struct credential *again = basic("one");
    assert_true(credential_equal(all[0], again));
    credential_drop(again);
    for (size_t i = 0; i < ALL; i++)
        credential_drop(all[i]);
}

/* RFC 4648, 10, as far as a colon allows; RFC 7617, 2. */
UNIT(credential_basic__is_base64)
{
    static const struct {
        const char *user, *password, *encoded;
    } cases[] = {{"", "", "Og=="},
                 {"f", "", "Zjo="},
                 {"cxi", "second", "Y3hpOnNlY29uZA=="},
                 {"Aladdin", "open sesa", "QWxhZGRpbjpvcGVuIHNlc2E="},
                 {"\xff\xfe", "\xff\xbf\xff", "//46/7//"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct credential *credential =
            credential_basic(cases[i].user, secret_of(cases[i].password), &(struct clientcert){0});
        assert_string_equal(secret_expose(credential->header) + strlen("Authorization: Basic "),
                            cases[i].encoded);
        size_t bare = strcspn(cases[i].encoded, "=");
        assert_int_equal(strlen(secret_expose(credential->quotable[1])), bare);
        assert_memory_equal(secret_expose(credential->quotable[1]), cases[i].encoded, bare);
        credential_drop(credential);
    }
}

UNIT_RUN(NULL, NULL)
