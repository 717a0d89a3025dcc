#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fmapi/request.h"

static void request_call__speaks_as_the_table_says(void **state)
{
    (void)state;
    struct request request;

    assert_int_equal(request_call(&request, "https://f", FMCALL_RESERVE, "elcap-f2Rs", 23), 0);
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs");
    assert_string_equal(request.body, "{\"jobID\":\"elcap-f2Rs\",\"mcastLimit\":23}");
    request_release(&request);

    assert_int_equal(request_call(&request, "https://f", FMCALL_CHECK, "elcap-f2Rs", 0), 0);
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs/elcap-f2Rs");
    assert_null(request.body);
    request_release(&request);

    assert_int_equal(request_call(&request, "https://f", FMCALL_RELEASE, "elcap-f2Rs", 0), 0);
    assert_string_equal(request.method, "DELETE");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs/elcap-f2Rs");
    assert_null(request.body);
    request_release(&request);
}

/* Whatever a name holds, it stays one path segment and one JSON string. */
static void request_call__escapes_names(void **state)
{
    (void)state;
    struct request request;

    assert_int_equal(request_call(&request, "http://f", FMCALL_RELEASE, "c-a:b@c+1/../x?y#z%", 0),
                     0);
    assert_string_equal(request.url, "http://f/fabric/collectives/jobs/"
                                     "c-a%3Ab%40c%2B1%2F..%2Fx%3Fy%23z%25");
    request_release(&request);

    assert_int_equal(request_call(&request, "http://f", FMCALL_RESERVE, "c-\"\\", UINT32_MAX), 0);
    assert_string_equal(request.body, "{\"jobID\":\"c-\\\"\\\\\",\"mcastLimit\":4294967295}");
    request_release(&request);
}

static void request_page__starts_at_the_list(void **state)
{
    (void)state;
    struct request request;

    assert_int_equal(request_page(&request, "http://f/b", NULL), 0);
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.url, "http://f/b/fabric/collectives/jobs/");
    assert_int_equal(request.answer_max, 8 << 20);
    request_release(&request);

    assert_int_equal(request_page(&request, "http://f/b", strdup("http://f/b/next")), 0);
    assert_string_equal(request.url, "http://f/b/next");
    request_release(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_call__speaks_as_the_table_says),
        cmocka_unit_test(request_call__escapes_names),
        cmocka_unit_test(request_page__starts_at_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
