/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/peer.h"
#include "tests/unit/unit.h"

static void accept_url(const char *url, const char *socket, const char *base, const char *name)
{
    struct endpoint endpoint;
    struct mcast_error error;
    assert_int_equal(endpoint_parse(&endpoint, url, &error), 0);
    assert_string_equal(endpoint.socket, socket);
    assert_string_equal(endpoint.base, base);
    assert_string_equal(endpoint_name(&endpoint), name);
}

static void refuse_url(const char *url)
{
    struct endpoint endpoint;
    struct mcast_error error;
    assert_int_equal(endpoint_parse(&endpoint, url, &error), MCAST_USAGE);
    assert_int_equal(error.code, MCAST_USAGE);
    assert_true(strlen(error.text) > 10);
}

static void endpoint__takes_sockets(void **state)
{
    accept_url("/run/mcastd/mcastd.sock", "/run/mcastd/mcastd.sock", "http://localhost",
               "/run/mcastd/mcastd.sock");
    accept_url("unix:/tmp/a b.sock", "/tmp/a b.sock", "http://localhost", "/tmp/a b.sock");
}

static void endpoint__takes_hosts(void **state)
{
    accept_url("https://mgmt1:7470", "", "https://mgmt1:7470", "https://mgmt1:7470");
    accept_url("https://[fe80::1]:7470/", "", "https://[fe80::1]:7470", "https://[fe80::1]:7470");
    accept_url("http://localhost:7470", "", "http://localhost:7470", "http://localhost:7470");
    accept_url("http://127.9.9.9:7470", "", "http://127.9.9.9:7470", "http://127.9.9.9:7470");
    accept_url("http://127.0.0.1:1/", "", "http://127.0.0.1:1", "http://127.0.0.1:1");
    accept_url("http://[::1]:65535", "", "http://[::1]:65535", "http://[::1]:65535");
}

static void endpoint__refuses_the_rest(void **state)
{
    static const char *const urls[] = {
        "",
        "mgmt1:7470",
        "unix:",
        "unix:relative.sock",
        "run/mcastd.sock",
        "https://",
        "https://mgmt1",
        "https://mgmt1:7470/path",
        "HTTPS://mgmt1:7470",
        "ftp://mgmt1:7470",
        "http://",
        "http://mgmt1",
        "http://:7470",
        "http://mgmt1:",
        "http://localhost:0",
        "http://localhost:65536",
        "http://localhost:99999999999999999999",
        "http://localhost:7470/path",
        "http://localhost:7470?x",
        "http://localhost:-1",
        "http://[::1:7470",
        "http://[]:7470",
        "http://a b:7470",
    };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
        refuse_url(urls[i]);
}

/* Tokens are in the answers, MUNGE credentials in the requests: neither may be read on the way. */
static void endpoint__speaks_in_the_clear_to_this_machine_only(void **state)
{
    static const char *const urls[] = {"http://mgmt1:7470",
                                       "http://10.0.0.1:7470",
                                       "http://128.0.0.1:7470",
                                       "http://[fe80::1]:7470",
                                       "http://127.0.0.1.evil.org:80",
                                       "http://localhost.evil.org:80",
                                       "http://[::ffff:7f00:1]:80",
                                       "http://127.1:7470"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        struct endpoint endpoint;
        struct mcast_error error;
        assert_int_equal(endpoint_parse(&endpoint, urls[i], &error), MCAST_USAGE);
        assert_non_null(strstr(error.text, "use https://"));
    }
}

/* A password in a URL would come back in messages and logs. */
static void endpoint__refuses_credentials_and_does_not_show_them(void **state)
{
    struct endpoint endpoint;
    struct mcast_error error;
    assert_int_equal(endpoint_parse(&endpoint, "https://me:hunter2@mgmt1:7470", &error),
                     MCAST_USAGE);
    assert_null(strstr(error.text, "hunter2"));
}

static void endpoint__refuses_a_path_longer_than_the_system_allows(void **state)
{
    char path[200];
    struct endpoint endpoint;
    struct mcast_error error;
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[107] = '\0';
    assert_int_equal(endpoint_parse(&endpoint, path, &error), 0);
    path[107] = 'x';
    path[108] = '\0';
    assert_int_equal(endpoint_parse(&endpoint, path, &error), MCAST_USAGE);
    assert_non_null(strstr(error.text, "107"));
}

static void endpoint__comes_from_argument_environment_default(void **state)
{
    struct endpoints endpoints;
    struct mcast_error error;
    setenv("MCAST_URL", "https://other:1", 1);
    assert_int_equal(endpoints_find(&endpoints, "/a.sock", &error), 0);
    assert_string_equal(endpoint_name(&endpoints.list[0]), "/a.sock");
    assert_int_equal(endpoints_find(&endpoints, NULL, &error), 0);
    assert_string_equal(endpoint_name(&endpoints.list[0]), "https://other:1");
    setenv("MCAST_URL", "nonsense", 1);
    assert_int_equal(endpoints_find(&endpoints, NULL, &error), MCAST_USAGE);
    assert_int_equal(strncmp(error.text, "MCAST_URL: ", 11), 0);
    setenv("MCAST_URL", "", 1);
    assert_int_equal(endpoints_find(&endpoints, NULL, &error), 0);
    assert_string_equal(endpoint_name(&endpoints.list[0]), MCAST_DEFAULT_SOCKET);
    unsetenv("MCAST_URL");
    assert_int_equal(endpoints_find(&endpoints, NULL, NULL), 0);
    assert_string_equal(endpoint_name(&endpoints.list[0]), MCAST_DEFAULT_SOCKET);
}

UNIT_MAIN(cmocka_unit_test(endpoint__takes_sockets), cmocka_unit_test(endpoint__takes_hosts),
          cmocka_unit_test(endpoint__refuses_the_rest),
          cmocka_unit_test(endpoint__speaks_in_the_clear_to_this_machine_only),
          cmocka_unit_test(endpoint__refuses_credentials_and_does_not_show_them),
          cmocka_unit_test(endpoint__refuses_a_path_longer_than_the_system_allows),
          cmocka_unit_test(endpoint__comes_from_argument_environment_default))
