/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/doctor as openapi.json has it: for admins, and for nobody else. */

#include "tests/system/http/site.h"
#include "tests/unit/unit.h"

static void call__answers_an_admin(void **state)
{
    static const char *const said[] = {"storage", "link", "vnis", "events", "loop", "descriptors"};
    struct answer answer;
    struct site *site = site_open(&(struct site_options){.mcastd = MCASTD});
    assert_int_equal(site_call(site, "GET", "/v1/doctor", NULL, &answer), 200);
    const json_t *findings = json_object_get(answer.json, "findings");
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        size_t index, found = 0;
        const json_t *one;
        json_array_foreach(findings, index, one) found +=
            strcmp(json_string_value(json_object_get(one, "check")), said[i]) == 0;
        assert_int_equal(found, 1);
    }
    answer_release(&answer);
    site_close(site);
}

static void call__takes_only_what_it_knows(void **state)
{
    struct answer answer;
    struct site *site = site_open(&(struct site_options){.mcastd = MCASTD});
    assert_int_equal(site_call(site, "GET", "/v1/doctor?ask=yes", NULL, &answer), 200);
    answer_release(&answer);
    site_call(site, "GET", "/v1/doctor?ask=now", NULL, &answer);
    site_expect_problem(&answer, 422, "invalid", "ask");
    answer_release(&answer);
    site_close(site);
}

/* It shows the site's insides: its names, its disk, what is tight. */
static void call__refuses_everybody_else(void **state)
{
    struct answer answer;
    struct site *site =
        site_open(&(struct site_options){.mcastd = MCASTD, .admins = "daemon", .users = "root"});
    site_call(site, "GET", "/v1/doctor", NULL, &answer);
    site_expect_problem(&answer, 403, "forbidden", NULL);
    assert_int_equal(site_call(site, "POST", "/v1/doctor", NULL, &answer), 405);
    answer_release(&answer);
    site_close(site);
}

UNIT_MAIN(cmocka_unit_test(call__answers_an_admin),
          cmocka_unit_test(call__takes_only_what_it_knows),
          cmocka_unit_test(call__refuses_everybody_else))
