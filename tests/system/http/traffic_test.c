/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/tlssite.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <sys/types.h>
#include <unistd.h>

/* P6: what a job's nodes have counted is summed, shown to those whom the job is shown to, and kept
 * after it; no user learns of another's. */

#define JOB "/v1/clusters/elcap/jobs/f1"
#define TWO_NODES "{\"uid\":7,\"nodes\":\"elcap[7-8]\",\"vni_count\":1}"
#define COUNTED(octets, paused)                                                                    \
    ",\"traffic\":{\"seconds\":60,\"tx_octets\":" octets ",\"rx_octets\":1,\"tx_packets\":2,"      \
    "\"rx_packets\":3,\"paused\":" paused ",\"unclear\":0,\"shared\":false,"                       \
    "\"slowest\":{\"device\":\"cxi0\",\"octets\":" octets "},"                                     \
    "\"congested\":{\"device\":\"cxi1\",\"paused\":" paused "}}"

SITE_FIXTURE(.keep = true)

static const char *body_of(const char *state, json_int_t number, const char *more)
{
    static char body[1024];
    snprintf(body, sizeof body, "{\"state\":\"%s\",\"number\":%lld%s}", state, (long long)number,
             more);
    return body;
}

static void expect(struct site *site, const char *words)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", JOB "/traffic", NULL, &answer), 200);
    if (!strstr(answer.body, words))
        fail_msg("%s is not in %s", words, answer.body);
    answer_release(&answer);
}

static void traffic__is_summed_and_outlives_its_job(void **state)
{
    struct site *site = *state;
    assert_int_equal(site_call(site, "PUT", JOB, TWO_NODES, NULL), 201);
    const json_int_t number = site_number(site, JOB, "number");
    expect(site, "\"state\":\"active\",\"node_count\":2,\"nodes\":0,");
    assert_int_equal(site_call(site, "PUT", JOB "/nodes/elcap7",
                               body_of("destroyed", number, COUNTED("100", "9")), NULL),
                     200);
    expect(site, "\"nodes\":1,\"shared\":0,\"unclear\":0,\"seconds\":60,\"tx_octets\":100,");
    assert_int_equal(site_call(site, "DELETE", JOB, NULL, NULL), 202);
    assert_int_equal(site_call(site, "PUT", JOB "/nodes/elcap8",
                               body_of("destroyed", number, COUNTED("50", "8")), NULL),
                     200);
    assert_int_equal(site_call(site, "GET", JOB, NULL, NULL), 404);
    expect(site, "\"state\":\"over\",\"ended\":");
    assert_int_equal(site_metric(site, "mcastd_traffic_octets_total{direction=\"sent\"}"), 150);
    assert_int_equal(site_metric(site, "mcastd_traffic_reports_total"), 2);
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    expect(site, "\"nodes\":2,\"shared\":0,\"unclear\":0,\"seconds\":60,\"tx_octets\":150,"
                 "\"rx_octets\":2,\"tx_packets\":4,\"rx_packets\":6,\"paused\":17,\"lacking\":[],"
                 "\"slowest\":{\"node\":\"elcap8\",\"device\":\"cxi0\",\"octets\":50},"
                 "\"congested\":{\"node\":\"elcap7\",\"device\":\"cxi1\",\"paused\":9}");
    site_restart(site, &(struct site_options){
                           .mcastd = MCASTD, .keep = true, .state = "[traffic]\nkeep = 0"});
    assert_int_equal(site_call(site, "GET", JOB "/traffic", NULL, NULL), 404);
}

static void nodes__that_cannot_count_or_share_are_told(void **state)
{
    struct site *site = *state;
    assert_int_equal(site_call(site, "PUT", JOB, TWO_NODES, NULL), 201);
    const json_int_t number = site_number(site, JOB, "number");
    assert_int_equal(
        site_call(site, "PUT", JOB "/nodes/elcap7",
                  body_of("destroyed", number,
                          ",\"traffic\":{\"tx_octets\":7,\"unclear\":2,\"shared\":true}"),
                  NULL),
        200);
    expect(site, "\"nodes\":1,\"shared\":1,\"unclear\":2,\"seconds\":0,\"tx_octets\":7,"
                 "\"rx_octets\":0,\"tx_packets\":0,\"rx_packets\":0,\"paused\":0,\"lacking\":["
                 "\"rx_octets\",\"tx_packets\",\"rx_packets\",\"paused\"]}");
}

static void traffic__that_cannot_be_is_refused(void **state)
{
    struct site *site = *state;
    static const struct {
        const char *traffic, *code, *field;
    } cases[] = {
        {"7", "invalid", "traffic"},
        {"[]", "invalid", "traffic"},
        {"{\"tx_octets\":-1}", "invalid", "traffic.tx_octets"},
        {"{\"tx_octets\":1.5}", "invalid", "traffic.tx_octets"},
        {"{\"paused\":\"1\"}", "invalid", "traffic.paused"},
        {"{\"seconds\":4294967296}", "invalid", "traffic.seconds"},
        {"{\"unclear\":17}", "invalid", "traffic.unclear"},
        {"{\"shared\":1}", "invalid", "traffic.shared"},
        {"{\"slowest\":7}", "invalid", "traffic.slowest"},
        {"{\"slowest\":{}}", "invalid", "traffic.slowest.device"},
        {"{\"slowest\":{\"device\":\"a/b\"}}", "invalid", "traffic.slowest.device"},
        {"{\"slowest\":{\"device\":\"0123456789abcdef\"}}", "invalid", "traffic.slowest.device"},
        {"{\"congested\":{\"device\":\"c\",\"paused\":-1}}", "invalid", "traffic.congested.paused"},
        {"{\"congested\":{\"device\":\"c\",\"octets\":1}}", "unknown-field", "octets"},
        {"{\"rx_bytes\":1}", "unknown-field", "rx_bytes"},
    };
    assert_int_equal(site_call(site, "PUT", JOB, TWO_NODES, NULL), 201);
    const json_int_t number = site_number(site, JOB, "number");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char more[160];
        snprintf(more, sizeof more, ",\"traffic\":%s", cases[i].traffic);
        site_refused(site, "PUT", JOB "/nodes/elcap7", body_of("destroyed", number, more), 422,
                     cases[i].code, cases[i].field);
    }
    expect(site, "\"nodes\":0,");
}

/* S5: as the job itself, and no less when it is over. */
static void each_name__sees_its_own(void **state)
{
    static const struct site_options lists = {.mcastd = MCASTD,
                                              .admins = "root cert:boss",
                                              .users = "cert:elcap-rm",
                                              .users_tuo = "cert:tuo-rm",
                                              .nodes = "elcap[1-100]"};
    static const char *const names[] = {"boss",   "elcap-rm", "tuo-rm", "elcap7",
                                        "elcap9", "visitor",  NULL};
    static const int lives[] = {200, 200, 404, 403, 404, 403, 401};
    static const int over[] = {200, 200, 404, 404, 404, 403, 401};
    (void)state;
    struct tlssite *tls = tlssite_open(&lists);
    struct answer answer;
    for (size_t i = 0; names[i]; i++)
        tlssite_issue(tls, names[i]);
    assert_int_equal(tlssite_call(tls, "boss", "PUT", JOB, TWO_NODES, &answer), 201);
    const json_int_t number = answer_number(&answer, "number");
    answer_release(&answer);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(tlssite_call(tls, names[i], "GET", JOB "/traffic", NULL, NULL), lives[i]);
    for (int node = 7; node <= 8; node++) {
        char path[96];
        snprintf(path, sizeof path, JOB "/nodes/elcap%d", node);
        assert_int_equal(tlssite_call(tls, "boss", "PUT", path,
                                      body_of("destroyed", number, COUNTED("5", "5")), NULL),
                         200);
    }
    assert_int_equal(tlssite_call(tls, "boss", "DELETE", JOB, NULL, NULL), 202);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(tlssite_call(tls, names[i], "GET", JOB "/traffic", NULL, NULL), over[i]);
    tlssite_close(tls);
}

/* The user of the socket is the job's owner, or is not. */
static void owner__sees_it_and_other_users_do_not(void **state)
{
    struct site *site = *state;
    static const char *const jobs[] = {"mine", "theirs"};
    for (int i = 0; i < 2; i++) {
        char path[96], body[96];
        snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", jobs[i]);
        snprintf(body, sizeof body, "{\"uid\":%u,\"nodes\":\"elcap7\",\"vni_count\":1}",
                 (unsigned)getuid() + (unsigned)i);
        assert_int_equal(site_call(site, "PUT", path, body, NULL), 201);
        const json_int_t number = site_number(site, path, "number");
        assert_int_equal(site_call(site, "DELETE", path, NULL, NULL), 202);
        strcat(path, "/nodes/elcap7");
        assert_int_equal(
            site_call(site, "PUT", path, body_of("destroyed", number, COUNTED("5", "5")), NULL),
            200);
    }
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true, .admins = "12345"});
    assert_int_equal(site_call(site, "GET", "/v1/clusters/elcap/jobs/mine/traffic", NULL, NULL),
                     200);
    site_refused(site, "GET", "/v1/clusters/elcap/jobs/theirs/traffic", NULL, 404, "not-found",
                 NULL);
    site_refused(site, "GET", "/v1/clusters/elcap/jobs/never/traffic", NULL, 404, "not-found",
                 NULL);
}

UNIT_MAIN(ON_SITE(traffic__is_summed_and_outlives_its_job),
          ON_SITE(nodes__that_cannot_count_or_share_are_told),
          ON_SITE(traffic__that_cannot_be_is_refused), cmocka_unit_test(each_name__sees_its_own),
          ON_SITE(owner__sees_it_and_other_users_do_not))
