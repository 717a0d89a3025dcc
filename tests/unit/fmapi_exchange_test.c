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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchange__trusts_the_named_authority_alone),
        cmocka_unit_test(exchange__trusts_the_systems_when_none_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
