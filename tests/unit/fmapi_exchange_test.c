/* What is set on libcurl's handle where no server can see it: curl_easy_setopt of fmapi/ is the one
 * here (the linker's --wrap). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fmapi/exchange.h"

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */

CURLcode __real_curl_easy_setopt(CURL *easy, CURLoption option, ...);
CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...);

struct place {
    unsigned times;
    char path[32]; /* "" when cleared */
};

static struct place file, directory; /* where authorities are looked for, set last */
static long ca_kept_s;               /* how long they count */
static const void *posted;           /* body that stays ours */
static struct curl_blob cert, key;
static struct curl_slist *head;
static bool copies_a_secret; /* into memory of libcurl's, which does not wipe it */

static void note(struct place *place, const char *path)
{
    place->times++;
    (void)snprintf(place->path, sizeof place->path, "%s", path != NULL ? path : "");
}

/* Integers, pointers and functions all come as one word on the machines that we run on. */
CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    va_list args;
    va_start(args, option);
    void *value = va_arg(args, void *);
    va_end(args);
    if (option == CURLOPT_CAINFO)
        note(&file, value);
    if (option == CURLOPT_CAPATH)
        note(&directory, value);
    if (option == CURLOPT_CA_CACHE_TIMEOUT)
        ca_kept_s = (long)(intptr_t)value;
    if (option == CURLOPT_POSTFIELDS)
        posted = value;
    if (option == CURLOPT_SSLCERT_BLOB)
        cert = *(struct curl_blob *)value;
    if (option == CURLOPT_SSLKEY_BLOB)
        key = *(struct curl_blob *)value;
    if (option == CURLOPT_HTTPHEADER)
        head = value;
    copies_a_secret |= option == CURLOPT_COPYPOSTFIELDS || option == CURLOPT_PASSWORD ||
                       option == CURLOPT_USERPWD || option == CURLOPT_XOAUTH2_BEARER;
    return __real_curl_easy_setopt(easy, option, value);
}

/* NOLINTEND(readability-identifier-naming) */

static void create(const char *ca, bool ca_directory)
{
    struct transport_options options = {
        .ca = ca, .ca_directory = ca_directory, .verify = true, .parallel = 1};
    struct request request = {.method = "GET", .url = (char[]){"https://fmn/"}, .answer_max = 1};

    file = directory = (struct place){0};
    struct exchange *exchange = exchange_create(&options, NULL, &request, NULL, 1000);
    assert_non_null(exchange);
    exchange_destroy(exchange);
}

/* F13: who named an authority trusts that one, not the system's besides it. */
static void exchange__trusts_the_named_authority_alone(void **state)
{
    (void)state;
    create("/ca.pem", false);
    assert_string_equal(file.path, "/ca.pem");
    assert_int_equal(directory.times, 1);
    assert_string_equal(directory.path, "");

    create("/ca.d", true);
    assert_string_equal(directory.path, "/ca.d");
    assert_int_equal(file.times, 1);
    assert_string_equal(file.path, "");
}

static void exchange__trusts_the_systems_when_none_is_named(void **state)
{
    (void)state;
    create(NULL, false);
    assert_int_equal(file.times, 0);
    assert_int_equal(directory.times, 0);
}

/* A file that was changed counts soon, not after a day. */
static void exchange__reads_authorities_again(void **state)
{
    (void)state;
    ca_kept_s = -1;
    create("/ca.pem", false);
    assert_int_equal(ca_kept_s, 1);
}

/* peers.md: what libcurl is given stays ours, to be wiped. */
static void exchange__gives_secrets_that_can_be_wiped(void **state)
{
    (void)state;
    struct clientcert own = {.cert = secret_copy(secret_of("CERT")),
                             .key = secret_copy(secret_of("PRIVATE KEY"))};
    struct credential *credential = credential_bearer(secret_of("t0ken"), &own);
    struct transport_options options = {.verify = true, .parallel = 1};
    char body[] = "client_secret=s3cret";
    struct request request = {.method = "POST",
                              .url = (char[]){"https://fmn/"},
                              .body = body,
                              .body_type = "application/x-www-form-urlencoded",
                              .answer_max = 1};

    copies_a_secret = false;
    struct exchange *exchange = exchange_create(&options, NULL, &request, credential, 1000);
    assert_non_null(exchange);
    assert_ptr_equal(posted, body);
    assert_ptr_equal(cert.data, secret_expose(credential_cert(credential)->cert));
    assert_ptr_equal(key.data, secret_expose(credential_cert(credential)->key));
    assert_int_equal(key.len, strlen("PRIVATE KEY"));
    assert_true(cert.flags == CURL_BLOB_NOCOPY && key.flags == CURL_BLOB_NOCOPY);
    assert_false(copies_a_secret);

    bool bearer = false, type = false;
    for (const struct curl_slist *line = head; line != NULL; line = line->next) {
        bearer |= strcmp(line->data, "Authorization: Bearer t0ken") == 0;
        type |= strcmp(line->data, "Content-Type: application/x-www-form-urlencoded") == 0;
    }
    assert_true(bearer && type);
    credential_drop(credential); /* the exchange holds it */
    assert_memory_equal(key.data, "PRIVATE KEY", key.len);
    exchange_destroy(exchange);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchange__trusts_the_named_authority_alone),
        cmocka_unit_test(exchange__trusts_the_systems_when_none_is_named),
        cmocka_unit_test(exchange__reads_authorities_again),
        cmocka_unit_test(exchange__gives_secrets_that_can_be_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
