/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/tlssite.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

/* P2, P5: a node tells its NICs; what it told is shown to those whom it concerns, outlives a
 * restart, and a change is an event. */

#define NODE "/v1/nodes/elcap7/inventory"
#define NIC(device, serial, link)                                                                  \
    "{\"device\":\"" device "\",\"address\":4608,\"speed\":200000,\"link\":\"" link                \
    "\",\"serial\":\"" serial "\",\"firmware\":\"1.5.41\"}"
#define REPORT(order, nics) "{\"order\":" order ",\"nics\":[" nics "]}"

SITE_FIXTURE(.keep = true)

static void tell(struct site *site, const char *body)
{
    assert_int_equal(site_call(site, "PUT", NODE, body, NULL), 200);
}

static void report__is_shown_and_outlives_a_restart(void **state)
{
    struct site *site = *state;
    struct answer answer;
    site_refused(site, "GET", NODE, NULL, 404, "not-found", NULL);
    assert_int_equal(
        site_call(site, "PUT", NODE,
                  REPORT("7",
                         NIC("cxi1", "B2", "down") ","
                                                   "{\"device\":\"cxi0\",\"address\":0,\"link\":"
                                                   "\"up\"}"),
                  &answer),
        200);
    assert_string_equal(answer_text(&answer, "node"), "elcap7");
    assert_int_equal(answer_number(&answer, "order"), 7);
    answer_release(&answer);
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    assert_int_equal(site_call(site, "GET", NODE, NULL, &answer), 200);
    assert_non_null(strstr(answer.body, "\"nics\":[{\"device\":\"cxi0\",\"address\":0,\"speed\":0,"
                                        "\"link\":\"up\"},{\"device\":\"cxi1\",\"address\":4608,"
                                        "\"speed\":200000,\"link\":\"down\",\"serial\":\"B2\","
                                        "\"firmware\":\"1.5.41\"}]"));
    answer_release(&answer);
}

/* What is seen of the stream since the start. */
static size_t events(struct site *site, const char *words)
{
    struct answer answer;
    size_t count = 0;
    assert_int_equal(site_call(site, "GET", "/v1/events?follow=0", NULL, &answer), 200);
    for (const char *at = answer.body; (at = strstr(at, words)); at++)
        count++;
    answer_release(&answer);
    return count;
}

static void change__is_one_event(void **state)
{
    struct site *site = *state;
    tell(site, REPORT("1", NIC("cxi0", "A1", "up")));
    assert_int_equal(events(site, "event: nic"), 0);
    tell(site, REPORT("2", NIC("cxi0", "B2", "up")));
    tell(site, REPORT("3", NIC("cxi0", "B2", "up")));
    assert_int_equal(events(site, "event: nic-replaced\n"), 1);
    assert_int_equal(events(site, "node elcap7: cxi0 was replaced (serial number B2, before A1)"),
                     1);
    tell(site, REPORT("4", NIC("cxi0", "B2", "down")));
    assert_int_equal(events(site, "event: nic-link\n"), 1);
    tell(site, REPORT("5", ""));
    assert_int_equal(events(site, "event: nics-changed\n"), 1);
    tell(site, REPORT("4", NIC("cxi0", "B2", "down"))); /* late */
    assert_int_equal(events(site, "event: nic"), 3);
}

static void flapping__is_refused_for_a_while(void **state)
{
    struct site *site = *state;
    tell(site, REPORT("1", ""));
    for (int i = 0; i < 8; i++)
        tell(site, i % 2 ? REPORT("2", "") : REPORT("2", NIC("cxi0", "A1", "up")));
    site_refused(site, "PUT", NODE, REPORT("3", NIC("cxi0", "A1", "up")), 429, "changed-too-often",
                 NULL);
    assert_true(site_logged(site, "node elcap7: its NICs change too often"));
}

static void report__that_cannot_be_is_refused(void **state)
{
    struct site *site = *state;
    static const struct {
        const char *body, *code, *field;
    } cases[] = {
        {"{\"nics\":[]}", "missing-field", "order"},
        {"{\"order\":0,\"nics\":[]}", "invalid", "order"},
        {"{\"order\":1}", "invalid", "nics"},
        {"{\"order\":1,\"nics\":{}}", "invalid", "nics"},
        {REPORT("1", "7"), "invalid", "nics[0]"},
        {REPORT("1", "{}"), "invalid", "nics[0].device"},
        {REPORT("1", "{\"device\":\"cxi0\",\"link\":\"up\"}"), "invalid", "nics[0].address"},
        {REPORT("1", "{\"device\":\"cxi0\",\"address\":-1,\"link\":\"up\"}"), "invalid",
         "nics[0].address"},
        {REPORT("1", "{\"device\":\"cxi0\",\"address\":4294967296,\"link\":\"up\"}"), "invalid",
         "nics[0].address"},
        {REPORT("1", "{\"device\":\"cxi0\",\"address\":1}"), "invalid", "nics[0].link"},
        {REPORT("1", "{\"device\":\"cxi0\",\"address\":1,\"link\":\"on\"}"), "invalid",
         "nics[0].link"},
        {REPORT("1", "{\"device\":\"0123456789abcdef\",\"address\":1,\"link\":\"up\"}"), "invalid",
         "nics[0].device"},
        {REPORT("1", NIC("a b", "A1", "up")), "invalid", "nics"},
        {REPORT("1", NIC("cxi0", "A1", "up") "," NIC("cxi0", "B2", "up")), "invalid", "nics"},
        {REPORT("1", NIC("cxi0", "A 1", "up")), "invalid", "nics[0].serial"},
        {REPORT("1", NIC("cxi0", "A,1", "up")), "invalid", "nics[0].serial"},
        {REPORT("1", NIC("cxi0", "\\u00e9", "up")), "invalid", "nics[0].serial"},
        {REPORT("1",
                NIC("cxi0", "12345678901234567890123456789012345678901234567890123456789012345",
                    "up")),
         "invalid", "nics[0].serial"},
        {"{\"order\":1,\"nics\":[],\"more\":1}", "unknown-field", "more"},
        {REPORT("1", "{\"device\":\"cxi0\",\"colour\":1}"), "unknown-field", "colour"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        site_refused(site, "PUT", NODE, cases[i].body, 422, cases[i].code, cases[i].field);
    char body[2048] = "{\"order\":1,\"nics\":[";
    for (int i = 0; i < 17; i++)
        sprintf(body + strlen(body), "%s{\"device\":\"c%d\",\"address\":1,\"link\":\"up\"}",
                i ? "," : "", i);
    strcat(body, "]}");
    site_refused(site, "PUT", NODE, body, 422, "invalid", "nics");
    site_refused(site, "PUT", "/v1/nodes/a,b/inventory", REPORT("1", ""), 422, "invalid", "node");
    site_refused(site, "GET", NODE, NULL, 404, "not-found", NULL);
}

/* S5: a node speaks for itself; what it has is shown to itself, to the resource managers of
 * clusters that have it, and to admins. */
static void each_name__sees_its_own(void **state)
{
    static const struct site_options lists = {.mcastd = MCASTD,
                                              .admins = "root cert:boss",
                                              .users = "cert:elcap-rm",
                                              .users_tuo = "cert:tuo-rm",
                                              .nodes = "elcap[1-100]"};
    static const char *const names[] = {"boss",   "elcap-rm", "tuo-rm", "elcap7",
                                        "elcap8", "visitor",  NULL};
    static const int put[] = {200, 403, 403, 200, 403, 403, 401};
    static const int get[] = {200, 200, 403, 200, 403, 403, 401};
    (void)state;
    struct tlssite *tls = tlssite_open(&lists);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i])
            tlssite_issue(tls, names[i]);
        assert_int_equal(
            tlssite_call(tls, names[i], "PUT", NODE, REPORT("1", NIC("cxi0", "A1", "up")), NULL),
            put[i]);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(tlssite_call(tls, names[i], "GET", NODE, NULL, NULL), get[i]);
    /* Whether a node that is not told of has told anything is not shown either. */
    assert_int_equal(tlssite_call(tls, "tuo-rm", "GET", "/v1/nodes/elcap9/inventory", NULL, NULL),
                     403);
    tlssite_close(tls);
}

UNIT_MAIN(ON_SITE(report__is_shown_and_outlives_a_restart), ON_SITE(change__is_one_event),
          ON_SITE(flapping__is_refused_for_a_while), ON_SITE(report__that_cannot_be_is_refused),
          cmocka_unit_test(each_name__sees_its_own))
