/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/site.h"
#include "tests/system/http/tlssite.h"
#include "tests/unit/unit.h"

/* What an administrator decides when an alarm is on (F22, B4, B11): who may, and how it is asked.
 */

#define ACCEPT "/v1/accept-loss"
#define CLAIM "/v1/clusters/elcap/claim"

SITE_FIXTURE()

/* Nothing is missing and nothing is unknown: of nothing it is decided, and the log names who. */
static void decision__is_counted_and_logged(void **state)
{
    struct site *site = *state;
    static const char *const paths[] = {ACCEPT, CLAIM}, *const bodies[] = {NULL, "{}", " { } "};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        for (size_t j = 0; j < sizeof bodies / sizeof bodies[0]; j++) {
            struct answer answer;
            assert_int_equal(site_call(site, "POST", paths[i], bodies[j], &answer), 200);
            assert_string_equal(answer.body, "{\"reservations\":0}");
            answer_release(&answer);
        }
    assert_true(site_logged(site, "loss of missing reservations accepted by uid "));
    assert_true(site_logged(site, "name of cluster elcap claimed by uid "));
}

static void decision__that_is_asked_wrongly_is_refused(void **state)
{
    struct site *site = *state;
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *code, *field;
    } cases[] = {
        {"POST", "/v1/clusters/nowhere/claim", NULL, 404, "no-such-cluster", NULL},
        {"POST", "/v1/clusters/El-Cap/claim", NULL, 404, "no-such-cluster", "cluster"},
        {"POST", CLAIM, "{\"force\":true}", 422, "unknown-field", "force"},
        {"POST", ACCEPT, "{\"cluster\":\"elcap\"}", 422, "unknown-field", "cluster"},
        {"POST", ACCEPT, "[]", 400, "bad-json", NULL},
        {"POST", ACCEPT, "{", 400, "bad-json", NULL},
        {"POST", ACCEPT "?force=1", NULL, 422, "unknown-parameter", "force"},
        {"POST", "/v1/step-down", NULL, 409, "alone", NULL}, /* B7: it has no other broker */
        {"POST", "/v1/step-down", "{\"force\":true}", 409, "alone", NULL},
        {"POST", "/v1/step-down", "{\"force\":1}", 422, "invalid", "force"},
        {"POST", "/v1/step-down", "{\"now\":true}", 422, "unknown-field", "now"},
        {"GET", ACCEPT, NULL, 405, "method-not-allowed", NULL},
        {"PUT", CLAIM, "{}", 405, "method-not-allowed", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        site_refused(site, cases[i].method, cases[i].path, cases[i].body, cases[i].status,
                     cases[i].code, cases[i].field);
    }
}

/* S5: neither resource managers, though the cluster is theirs, nor nodes. Owners: rights_test.c. */
static void decision__is_the_admins(void **state)
{
    static const struct site_options lists = {.mcastd = MCASTD,
                                              .admins = "root cert:boss",
                                              .users = "cert:elcap-rm",
                                              .users_tuo = "cert:tuo-rm",
                                              .nodes = "elcap[1-100]"};
    static const struct {
        const char *name; /* of the certificate; NULL: none */
        int status;
    } cases[] = {{"boss", 200},   {"elcap-rm", 403}, {"tuo-rm", 403},
                 {"elcap7", 403}, {"visitor", 403},  {NULL, 401}};
    static const char *const paths[] = {ACCEPT, CLAIM};
    struct tlssite *tls = tlssite_open(&lists);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].name)
            tlssite_issue(tls, cases[i].name);
        for (size_t j = 0; j < sizeof paths / sizeof paths[0]; j++) {
            int status = tlssite_call(tls, cases[i].name, "POST", paths[j], NULL, NULL);
            if (status != cases[i].status)
                fail_msg("%s as %s: %d", paths[j], cases[i].name ? cases[i].name : "nobody",
                         status);
        }
    }
    tlssite_close(tls);
}

/* B11: programs can rely on the list, also when no alarm is on. */
static void alarms__are_a_list_in_the_status(void **state)
{
    struct site *site = *state;
    struct answer answer;
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, &answer), 200);
    const json_t *alarms = json_object_get(answer.json, "alarms");
    assert_true(json_is_array(alarms));
    assert_int_equal(json_array_size(alarms), 0);
    answer_release(&answer);
}

UNIT_MAIN(ON_SITE(decision__is_counted_and_logged),
          ON_SITE(decision__that_is_asked_wrongly_is_refused),
          cmocka_unit_test(decision__is_the_admins), ON_SITE(alarms__are_a_list_in_the_status))
