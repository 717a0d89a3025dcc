/* SPDX-License-Identifier: Apache-2.0 */
/* What a reservation entitles to, and documents that do not say enough (S5). */

#include "client/calls/call.h"
#include "core/reservation/record.h"
#include "node/services/claim.h"
#include "tests/unit/unit.h"

static int read_claim(const char *document, const char *cluster, const char *job,
                      struct claim *claim, struct error *err)
{
    struct mcast_reservation *reservation = NULL;
    struct mcast_error error;
    assert_int_equal(reservation_parse(document, strlen(document), &reservation, &error), 0);
    int rc = claim_from_reservation(claim, reservation, cluster, job, "n1", err);
    mcast_reservation_free(reservation);
    return rc;
}

UNIT(claim__is_the_document_s)
{
    struct claim claim;
    struct error err;
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    assert_int_equal(
        read_claim("{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":\"active\","
                   "\"uid\":5588,\"node_count\":2,\"cores_per_node\":96,\"vnis\":[1024,1025],"
                   "\"traffic_classes\":[\"dedicated_access\",\"best_effort\",\"later_one\"]}",
                   "elcap", "f17", &claim, &err),
        0);
    assert_int_equal(claim.number, 4711);
    assert_int_equal(claim.uid, 5588);
    assert_int_equal(claim.node_count, 2);
    assert_int_equal(claim.cores_per_node, 96);
    assert_int_equal(claim.traffic_classes, TC_DEDICATED_ACCESS | TC_BEST_EFFORT);
    assert_true(claim.active);
    assert_string_equal(claim.name, "elcap/f17");
    assert_string_equal(claim_vnis(claim.vnis, claim.vni_count, vnis), "1024,1025");
    const uint16_t longest[] = {65535, 65534, 65533, 65532};
    assert_string_equal(claim_vnis(longest, 4, vnis), "65535,65534,65533,65532");
}

UNIT(claim__a_released_job_s_is_not_active)
{
    struct claim claim;
    struct error err;
    assert_int_equal(read_claim("{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":"
                                "\"releasing\",\"uid\":5588,\"vnis\":[1024]}",
                                NULL, "f17", &claim, &err),
                     0);
    assert_false(claim.active);
}

UNIT(claim__refuses_what_is_not_enough)
{
    static const struct {
        const char *document, *why;
    } wrong[] = {
        {"{\"cluster\":\"elcap\",\"job\":\"f18\",\"number\":1,\"state\":\"active\",\"uid\":1}",
         "is of job f18, not of f17"},
        {"{\"cluster\":\"tuolumne\",\"job\":\"f17\",\"number\":1,\"state\":\"active\",\"uid\":1}",
         "is of cluster tuolumne, not of elcap"},
        {"{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":0,\"state\":\"active\",\"uid\":1}",
         "has no number"},
        {"{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":1,\"state\":\"active\",\"vnis\":[7]}",
         "has no owner"},
        {"{\"cluster\":\"El Cap\",\"job\":\"f17\",\"number\":1,\"state\":\"active\",\"uid\":1}",
         "no valid cluster and job name"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct claim claim;
        struct error err = {0};
        assert_int_equal(read_claim(wrong[i].document, "elcap", "f17", &claim, &err),
                         ERROR_INVALID);
        assert_non_null(strstr(err.text, wrong[i].why));
    }
}

/* Names are compared whole, as the broker does: "n1" is neither "n10" nor "n1.site". */
UNIT(claim__knows_whether_the_job_runs_here)
{
    static const struct {
        const char *nodes;
        bool elsewhere;
    } lists[] = {
        {"\"n1\"", false},      {"\"elcap[1-128],n[1-2]\"", false},
        {"null", false},        {"\"\"", false},
        {"\"n[2-9]\"", true},   {"\"n10\"", true},
        {"\"n1.site\"", true},  {"\"N1\"", true},
        {"\"n[01-10]\"", true}, {"\"n[1-\"", true},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char document[256];
        struct claim claim;
        struct error err = {0};
        snprintf(document, sizeof document,
                 "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":1,\"state\":\"active\","
                 "\"uid\":1,\"nodes\":%s}",
                 lists[i].nodes);
        assert_int_equal(read_claim(document, "elcap", "f17", &claim, &err), 0);
        assert_int_equal(claim.elsewhere, lists[i].elsewhere);
    }
}

UNIT(claim__cuts_a_long_node_list_for_people_only)
{
    char document[512], longest[200] = "";
    struct claim claim;
    struct error err;
    for (int i = 0; i < 40; i++)
        strcat(longest, "n9,");
    snprintf(document, sizeof document,
             "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":1,\"state\":\"active\",\"uid\":1,"
             "\"nodes\":\"%sn1\"}",
             longest);
    assert_int_equal(read_claim(document, "elcap", "f17", &claim, &err), 0);
    assert_false(claim.elsewhere);
    assert_int_equal(strlen(claim.nodes), CLAIM_NODES_SIZE - 1);
    assert_string_equal(claim.nodes + CLAIM_NODES_SIZE - 4, "...");
}

UNIT_RUN(NULL, NULL)
