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

UNIT(endpoint__takes_sockets)
{
    accept_url("/run/mcastd/mcastd.sock", "/run/mcastd/mcastd.sock", "http://localhost",
               "/run/mcastd/mcastd.sock");
    accept_url("unix:/tmp/a b.sock", "/tmp/a b.sock", "http://localhost", "/tmp/a b.sock");
}

UNIT(endpoint__takes_hosts)
{
    accept_url("https://mgmt1:7470", "", "https://mgmt1:7470", "https://mgmt1:7470");
    accept_url("https://[fe80::1]:7470/", "", "https://[fe80::1]:7470", "https://[fe80::1]:7470");
    accept_url("http://localhost:7470", "", "http://localhost:7470", "http://localhost:7470");
    accept_url("http://127.9.9.9:7470", "", "http://127.9.9.9:7470", "http://127.9.9.9:7470");
    accept_url("http://127.0.0.1:1/", "", "http://127.0.0.1:1", "http://127.0.0.1:1");
    accept_url("http://[::1]:65535", "", "http://[::1]:65535", "http://[::1]:65535");
}

UNIT(endpoint__refuses_the_rest)
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
UNIT(endpoint__speaks_in_the_clear_to_this_machine_only)
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
UNIT(endpoint__refuses_credentials_and_does_not_show_them)
{
    struct endpoint endpoint;
    struct mcast_error error;
    assert_int_equal(endpoint_parse(&endpoint, "https://me:hunter2@mgmt1:7470", &error),
                     MCAST_USAGE);
    assert_null(strstr(error.text, "hunter2"));
}

UNIT(endpoint__refuses_a_path_longer_than_the_system_allows)
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

UNIT(endpoint__comes_from_argument_environment_default)
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

static void accept_list(const char *urls, const char *expected)
{
    struct endpoints endpoints;
    struct mcast_error error;
    char names[512] = "";
    assert_int_equal(endpoints_parse(&endpoints, urls, &error), 0);
    for (unsigned i = 0; i < endpoints.count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "<%s>", endpoint_name(&endpoints.list[i]));
    }
    assert_string_equal(names, expected);
    assert_int_equal(endpoints.current, 0);
}

UNIT(endpoints__are_separated_by_commas_and_blanks)
{
    accept_list("https://m1:7470", "<https://m1:7470>");
    accept_list("https://m1:7470,https://m2:7470", "<https://m1:7470><https://m2:7470>");
    accept_list(" https://m1:7470 ,\thttps://m2:7470/ , ", "<https://m1:7470><https://m2:7470>");
    accept_list("/a unix:/b", "</a></b>");
    accept_list("unix:/run/mcastd/mcastd.sock,https://m2:1",
                "</run/mcastd/mcastd.sock><https://m2:1>");
}

/* As it was before there were lists. */
UNIT(endpoints__leave_a_path_whole)
{
    accept_list("unix:/tmp/a b.sock", "</tmp/a b.sock>");
    accept_list("/tmp/a, b,c.sock", "</tmp/a, b,c.sock>");
    accept_list("/tmp/a b, https://m2:1 /c", "</tmp/a b><https://m2:1></c>");
}

static void refuse_list(const char *urls, const char *words)
{
    struct endpoints endpoints;
    struct mcast_error error;
    assert_int_equal(endpoints_parse(&endpoints, urls, &error), MCAST_USAGE);
    assert_words(error.text, words);
}

UNIT(endpoints__refuse_a_list_with_a_fault)
{
    refuse_list("", "the broker's URL must be");
    refuse_list(" , ", "the broker's URL must be");
    refuse_list("m1:7470", "the broker's URL must be");
    refuse_list("https://m1:7470,https://m2", "URL 2 of the list: the broker's URL is not https:");
    refuse_list("https://m1,https://m2:1", "URL 1 of the list: the broker's URL is not https:");
    refuse_list("https://m1:7470,m2:7470", "the broker's URL is not https:");
    refuse_list("https://m1:1,http://m2:1", "URL 2 of the list: http:// goes over the network");
    refuse_list("https://m1:1 https://M1:01/", "URL 2 of the list: https://M1:1 is named twice");
    refuse_list("/a,unix:/a", "URL 2 of the list: /a is named twice");
    accept_list("/1,/2,/3,/4,/5,/6,/7,/8", "</1></2></3></4></5></6></7></8>");
    refuse_list("/1,/2,/3,/4,/5,/6,/7,/8,/9", "URL 9 of the list: more than 8 brokers are named");
}

/* What a broker says of a leader is compared as it is understood, and chooses nothing else. */
UNIT(endpoints__find_a_hint_among_themselves)
{
    struct endpoints endpoints;
    assert_int_equal(endpoints_parse(&endpoints, "https://m1:7470,/b,https://[::1]:1", NULL), 0);
    assert_int_equal(endpoints_index(&endpoints, "https://m1:7470"), 0);
    assert_int_equal(endpoints_index(&endpoints, "https://M1:7470/"), 0);
    assert_int_equal(endpoints_index(&endpoints, "unix:/b"), 1);
    assert_int_equal(endpoints_index(&endpoints, "https://[::1]:1"), 2);
    static const char *const others[] = {"",
                                         "https://m1:7471",
                                         "https://m1",
                                         "http://m1:7470",
                                         "https://m1.example.org:7470",
                                         "https://m1:7470@evil:1",
                                         "https://evil:7470",
                                         "https://m1:7470,https://evil:1",
                                         "unix:/c",
                                         "/b "};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(endpoints_index(&endpoints, others[i]), -1);
}

static bool is_remote(const char *urls)
{
    struct endpoints endpoints;
    assert_int_equal(endpoints_parse(&endpoints, urls, NULL), 0);
    return endpoints_remote(&endpoints);
}

/* Then certificates and MUNGE have to be thought of. */
UNIT(endpoints__are_remote_when_one_is)
{
    assert_false(is_remote("/"));
    assert_false(is_remote("/a,/b"));
    assert_true(is_remote("/a,https://m1:1"));
    assert_true(is_remote("https://m1:1"));
}

UNIT(endpoints__next_is_the_hint_or_the_one_behind)
{
    assert_int_equal(endpoints_next(3, 0, 2, 1), 2);
    assert_int_equal(endpoints_next(3, 0, -1, 1), 1);
    assert_int_equal(endpoints_next(3, 2, -1, 4), 0);
    assert_int_equal(endpoints_next(3, 0, 0, 1), 1); /* it says that it leads, and does not */
    assert_int_equal(endpoints_next(3, 1, 0, 3), 2);
    assert_int_equal(endpoints_next(3, 1, 0, 7), 3);
    assert_int_equal(endpoints_next(1, 0, -1, 1), 1);
}

/* Whatever the hints say, each is asked once, and then it is over. */
UNIT(endpoints__each_is_asked_once)
{
    for (unsigned count = 1; count <= ENDPOINTS_MAX; count++) {
        for (int hint = -1; hint < (int)count; hint++) {
            unsigned asked = 0, at = 0;
            for (unsigned i = 0; i < count; i++) {
                assert_true(at < count && !(asked & 1U << at));
                asked |= 1U << at;
                at = endpoints_next(count, at, hint, asked);
            }
            assert_int_equal(at, count);
        }
    }
}

UNIT_RUN(NULL, NULL)
