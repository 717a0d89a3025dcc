/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Shared VNIs by the interface (B1): two clusters have one, it outlives a restart, and its VNI is
 * free when the nodes of all its jobs are clean. */

#define ELCAP "/v1/clusters/elcap/jobs/"
#define TUO "/v1/clusters/tuo/jobs/"
#define DAOS "/v1/vnis/daos"
#define JOINS "{\"uid\":5588,\"nodes\":\"n1\",\"shared_vnis\":[\"daos\"]}"

SITE_FIXTURE(.keep = true)

static json_int_t vni_at(const struct answer *answer, size_t at)
{
    return json_integer_value(json_array_get(json_object_get(answer->json, "vnis"), at));
}

static json_int_t number_of(struct site *site, const char *path, const char *member)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", path, NULL, &answer), 200);
    const json_t *value = json_object_get(answer.json, member);
    json_int_t number = json_integer_value(value);
    answer_release(&answer);
    return number;
}

static json_int_t held(struct site *site)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, &answer), 200);
    const json_t *vnis = json_object_get(answer.json, "vnis");
    json_int_t number = json_integer_value(json_object_get(vnis, "held"));
    answer_release(&answer);
    return number;
}

static json_int_t make_daos(struct site *site)
{
    struct answer answer;
    assert_int_equal(site_call(site, "PUT", DAOS,
                               "{\"uid\":1000,\"users\":[5588,5588],\"clusters\":[\"elcap\","
                               "\"tuo\"],\"expires\":\"30d\"}",
                               &answer),
                     201);
    assert_string_equal(answer_text(&answer, "state"), "open");
    assert_int_equal(json_array_size(json_object_get(answer.json, "users")), 1);
    json_int_t vni = answer_number(&answer, "vni");
    answer_release(&answer);
    return vni;
}

static uint64_t join(struct site *site, const char *path, json_int_t vni)
{
    struct answer answer;
    assert_int_equal(site_call(site, "PUT", path, JOINS, &answer), 201);
    assert_int_equal(json_array_size(json_object_get(answer.json, "vnis")), 2);
    assert_int_equal(vni_at(&answer, 1), vni);
    assert_int_not_equal(vni_at(&answer, 0), vni);
    assert_int_equal(json_array_size(json_object_get(answer.json, "shared_vnis")), 1);
    assert_int_equal(answer_number(&answer, "vnis_shared"), 1);
    uint64_t number = (uint64_t)answer_number(&answer, "number");
    answer_release(&answer);
    return number;
}

static void report(struct site *site, const char *path, uint64_t number, const char *node_state)
{
    char nodes[96], body[96];
    snprintf(nodes, sizeof nodes, "%s/nodes/n1", path);
    snprintf(body, sizeof body, "{\"state\":\"%s\",\"number\":%ju}", node_state, (uintmax_t)number);
    assert_int_equal(site_call(site, "PUT", nodes, body, NULL), 200);
}

static void share__of_two_clusters_outlives_a_restart(void **state)
{
    struct site *site = *state;
    struct site_options options = {.mcastd = MCASTD, .keep = true};
    const json_int_t vni = make_daos(site);
    const uint64_t a = join(site, ELCAP "a", vni), b = join(site, TUO "b", vni);
    report(site, ELCAP "a", a, "created");
    report(site, TUO "b", b, "created");
    assert_int_equal(number_of(site, DAOS, "jobs"), 2);
    site_restart(site, &options);
    assert_int_equal(number_of(site, DAOS, "jobs"), 2);
    site_refused(site, "DELETE", DAOS, NULL, 409, "in-use", NULL);
    assert_int_equal(site_call(site, "DELETE", DAOS "?when=unused", NULL, NULL), 202);
    site_refused(site, "PUT", ELCAP "c", JOINS, 403, "shared-vni-refused", "shared_vnis");
    assert_int_equal(site_call(site, "DELETE", ELCAP "a", NULL, NULL), 202);
    assert_int_equal(site_call(site, "DELETE", TUO "b", NULL, NULL), 202);
    site_restart(site, &options);
    assert_int_equal(held(site), 3);
    struct answer answer;
    assert_int_equal(site_call(site, "GET", DAOS, NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "state"), "quarantined");
    answer_release(&answer);
    site_refused(site, "DELETE", DAOS, NULL, 404, "not-found", NULL);
    report(site, ELCAP "a", a, "destroyed");
    assert_int_equal(held(site), 2);
    assert_int_not_equal(make_daos(site), vni);
    assert_int_equal(site_call(site, "GET", DAOS, NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "state"), "open"); /* the one of this name now */
    answer_release(&answer);
    report(site, TUO "b", b, "destroyed");
    assert_int_equal(held(site), 0);
    assert_int_equal(site_call(site, "DELETE", DAOS, NULL, NULL), 200);
    site_refused(site, "GET", DAOS, NULL, 404, "not-found", NULL);
}

static void share__refusals(void **state)
{
    struct site *site = *state;
    site_refused(site, "PUT", "/v1/vnis/Daos", "{}", 422, "invalid", "name");
    site_refused(site, "PUT", DAOS, "{\"users\":[\"joe\"]}", 422, "invalid", "users");
    site_refused(site, "PUT", DAOS, "{\"users\":[1],\"any_user\":true}", 422, "invalid",
                 "any_user");
    site_refused(site, "PUT", DAOS, "{\"clusters\":[\"nowhere\"]}", 422, "invalid", "clusters");
    site_refused(site, "PUT", DAOS, "{\"expires\":\"soon\"}", 422, "invalid", "expires");
    site_refused(site, "PUT", DAOS, "{\"owner\":1}", 422, "unknown-field", "owner");
    site_refused(site, "PUT", ELCAP "a", JOINS, 422, "no-shared-vni", "shared_vnis");
    site_refused(site, "PUT", ELCAP "a", "{\"uid\":1,\"node_count\":1,\"shared_vnis\":\"daos\"}",
                 422, "invalid", "shared_vnis");
    site_refused(site, "DELETE", DAOS "?when=later", NULL, 422, "invalid", "when");
    (void)make_daos(site);
    site_refused(site, "PUT", ELCAP "a",
                 "{\"uid\":5588,\"node_count\":1,\"vni_count\":4,\"shared_vnis\":[\"daos\"]}", 422,
                 "invalid", "shared_vnis");
    site_refused(site, "PUT", ELCAP "a", "{\"uid\":1,\"node_count\":1,\"shared_vnis\":[\"daos\"]}",
                 422, "no-shared-vni", "shared_vnis");
}

static void share__as_many_as_the_site_allows(void **state)
{
    struct site *site = *state;
    struct site_options options = {.mcastd = MCASTD, .keep = true, .vni = "shared_max = 1"};
    site_restart(site, &options);
    (void)make_daos(site);
    site_refused(site, "PUT", "/v1/vnis/mochi", "{\"uid\":1}", 429, "too-many-shared-vnis", "name");
}

/* F1: those that a running job had before the broker knew it, as at a change of brokers. */
static void vnis__that_a_job_has_already_are_kept_for_it(void **state)
{
    struct site *site = *state;
    struct answer answer;
    static const char has[] = "{\"uid\":5588,\"nodes\":\"n1\",\"vnis\":[1025,1024]}";
    assert_int_equal(site_call(site, "PUT", ELCAP "a", has, &answer), 201);
    assert_int_equal(vni_at(&answer, 0), 1025);
    assert_int_equal(vni_at(&answer, 1), 1024);
    answer_release(&answer);
    assert_int_equal(site_call(site, "PUT", ELCAP "a", has, &answer), 200);
    answer_release(&answer);
    site_refused(site, "PUT", ELCAP "b", has, 409, "conflict", "vnis");
    site_refused(site, "PUT", ELCAP "b", "{\"uid\":5588,\"nodes\":\"n1\",\"vnis\":[99]}", 422,
                 "invalid", "vnis");
    assert_int_equal(site_call(site, "PUT", ELCAP "b", "{\"uid\":5588,\"nodes\":\"n1\"}", &answer),
                     201);
    assert_int_equal(vni_at(&answer, 0), 1026);
    answer_release(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SITE(share__of_two_clusters_outlives_a_restart),
        ON_SITE(share__refusals),
        ON_SITE(share__as_many_as_the_site_allows),
        ON_SITE(vnis__that_a_job_has_already_are_kept_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
