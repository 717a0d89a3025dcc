/* SPDX-License-Identifier: Apache-2.0 */

#include "fmapi/wire/baseurl.h"
#include "tests/unit/unit.h"

UNIT(baseurl_create__takes_bases)
{
    static const char *const rows[][2] = {
        {"https://fmn:8000", "https://fmn:8000"},
        {"https://fmn:8000/", "https://fmn:8000"},
        {"http://127.0.0.1:80//", "http://127.0.0.1:80"},
        {"https://[::1]:8000", "https://[::1]:8000"},
        {"https://api-gw.local/apis/fabric-manager/", "https://api-gw.local/apis/fabric-manager"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error err = {0};
        char *base = baseurl_create(rows[i][0], &err);
        assert_non_null(base);
        assert_string_equal(base, rows[i][1]);
        free(base);
    }
}

UNIT(baseurl_create__says_what_is_wrong)
{
    static const char *const rows[][2] = {
        {"", "not an http or https URL"},
        {"fmn:8000", "not an http or https URL"},
        {"ftp://fmn", "not an http or https URL"},
        {"file:///etc/passwd", "not an http or https URL"},
        {"https://", "not an http or https URL"},
        {"http:/fmn", "not an http or https URL"},
        {"http:///fmn", "not an http or https URL"},
        {"https://fmn:99999", "not an http or https URL"},
        {"https://fm n", "not an http or https URL"},
        {"https://fmn#x", "not an http or https URL"},
        {"https://fmn/\r\nX: y", "not an http or https URL"},
        {"https://cxi:secret@fmn", "carries a login"},
        {"https://cxi@fmn", "carries a login"},
        {"https://fmn/?a=b", "ends in a query"},
        {"https://fmn/?", "ends in a query"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error err = {0};
        assert_null(baseurl_create(rows[i][0], &err));
        assert_int_equal(err.code, ERROR_INVALID);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], err.text);
        assert_null(strstr(err.text, "secret"));
    }
}

UNIT(baseurl_of_trees__is_what_jobs_are_given_without_its_end)
{
    static const char *const rows[][2] = {
        {"https://fmn:8000/fabric/collectives/multicasts", "https://fmn:8000"},
        {"http://[::1]:1/apis/fabric-manager/fabric/collectives/multicasts",
         "http://[::1]:1/apis/fabric-manager"},
        {"http://fmn//fabric/collectives/multicasts", "http://fmn"},
    };
    static const char *const wrong[] = {
        "",
        "https://fmn:8000",
        "https://fmn:8000/fabric/collectives/jobs",
        "https://fmn:8000/fabric/collectives/multicasts/7",
        "https://fmn/fabric/collectives/multicasts?secret",
        "https://fmn/?secret/fabric/collectives/multicasts",
        "https://cxi:secret@fmn/fabric/collectives/multicasts",
        "https://fabric/collectives/multicasts",
        "/fabric/collectives/multicasts",
        "ftp://fmn/fabric/collectives/multicasts",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error err = {0};
        char *base = baseurl_of_trees(rows[i][0], &err);
        if (!base)
            fail_msg("%s: %s", rows[i][0], err.text);
        assert_string_equal(base, rows[i][1]);
        free(base);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error err = {0};
        char *base = baseurl_of_trees(wrong[i], &err);
        if (base)
            fail_msg("%s: %s", wrong[i], base);
        assert_int_equal(err.code, ERROR_INVALID);
        assert_null(strstr(err.text, "secret"));
    }
}

UNIT(baseurl_resolve__stays_at_the_fabric_manager)
{
    static const char *const rows[][3] = {
        {"https://f:8000", "/fabric/jobs?page=2", "https://f:8000/fabric/jobs?page=2"},
        {"https://f:8000", "https://f:8000/x", "https://f:8000/x"},
        {"https://f:8000", "https://F:8000/x", "https://F:8000/x"},
        {"https://f", "https://f:443/x", "https://f:443/x"},
        {"https://f:8000", "/a/..b/.c/...", "https://f:8000/a/..b/.c/..."},
        {"https://g/apis/fm", "/fabric/x", "https://g/apis/fm/fabric/x"},
        {"https://g/apis/fm", "/apis/fm/fabric/x", "https://g/apis/fm/fabric/x"},
        {"https://g/apis/fm", "/apis/fm?p=2", "https://g/apis/fm?p=2"},
        {"https://g/apis/fm", "/apis/fmx/y", "https://g/apis/fm/apis/fmx/y"},
        {"https://g/apis/fm", "https://g/apis/fm/fabric/x", "https://g/apis/fm/fabric/x"},
        /* away from it */
        {"https://f:8000", "http://f:8000/x", NULL},
        {"https://f:8000", "https://f:8001/x", NULL},
        {"https://f", "https://f:8000/x", NULL},
        {"https://f:8000", "https://evil:8000/x", NULL},
        {"https://f:8000", "https://f:8000@evil/x", NULL},
        {"https://f:8000", "https://u@f:8000/x", NULL},
        {"https://f:8000", "//evil/x", NULL},
        {"https://f:8000", "file:///etc/passwd", NULL},
        {"https://g/apis/fm", "https://g/apis/other/x", NULL},
        {"https://g/apis/fm", "https://g/apis/fmx/x", NULL},
        {"https://g/apis/fm", "https://g/apis/fm/../other", NULL},
        {"https://g/apis/fm", "/../other/x", NULL},
        {"https://g/apis/fm", "/%2e%2E/other/x", NULL},
        {"https://g/apis/fm", "/a/.%2e", NULL},
        {"https://g/apis/fm", "/a/./b", NULL},
        {"https://g/apis/fm", "/a/..?x", NULL},
        /* odd */
        {"https://f:8000", "", NULL},
        {"https://f:8000", "x", NULL},
        {"https://f:8000", "?page=2", NULL},
        {"https://f:8000", "/a b", NULL},
        {"https://f:8000", "/a\r\nX: y", NULL},
        {"https://f:8000", "/a\\b", NULL},
        {"https://f:8000", "/a#b", NULL},
        {"https://f:8000", "/k\xc3\xb6ln", NULL},
        {"https://f:8000", "://", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *url = baseurl_resolve(rows[i][0], rows[i][1]);
        if ((!url) != (!rows[i][2]))
            fail_msg("%s + %s = %s", rows[i][0], rows[i][1], url ? url : "nothing");
        if (url)
            assert_string_equal(url, rows[i][2]);
        free(url);
    }
}

/* F13: others on the network cannot read a login that is sent to these. */
UNIT(private__is_https_or_this_host)
{
    static const char *const good[] = {"https://fmn:8000", "http://127.0.0.1:8000/x",
                                       "http://127.9.9.9", "http://[::1]:80", "http://localhost"};
    static const char *const bad[] = {"http://fmn:8000",
                                      "http://127.evil.example:8000",
                                      "http://localhost.example",
                                      "http://10.0.0.1",
                                      "http://[::2]",
                                      "http://1270.0.0.1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!baseurl_private(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (baseurl_private(bad[i]))
            fail_msg("%s", bad[i]);
}

UNIT_RUN(NULL, NULL)
