/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-node and a broker that it reaches over TLS: each proves to the other who it is (S5). */

#include "tests/system/http/tlssite.h"
#include "tests/system/node/fixture.h"
#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct site_options cluster = {.mcastd = MCASTD, .nodes = "n[1-100]"};

#define JOB "/v1/clusters/elcap/jobs/f17"
#define TWO_NODES "{\"uid\":5588,\"nodes\":\"n[1-2]\",\"cores_per_node\":8}"

static struct tlssite *open_broker(struct fixture *fixture)
{
    struct tlssite *tls = tlssite_open(&cluster);
    char url[64];
    snprintf(url, sizeof url, "https://127.0.0.1:%d", site_port(tls->site));
    setenv("MCAST_URL", url, 1);
    assert_int_equal(site_call(tls->site, "PUT", JOB, TWO_NODES, NULL), 201);
    fixture_set_config(fixture, "");
    return tls;
}

/* From now on the node shows the certificate of this name, and believes that authority. */
static void configure(struct fixture *fixture, const struct tlssite *tls, const char *name,
                      const char *authority)
{
    char text[512];
    snprintf(text, sizeof text, "cacert = %s/%s\ncert = %s/%s.pem\nkey = %s/%s.key\n",
             tls->certificates, authority, tls->certificates, name, tls->certificates, name);
    tlssite_issue((struct tlssite *)tls, name);
    fixture_set_config(fixture, text);
}

static json_int_t held(struct tlssite *tls)
{
    struct answer answer;
    assert_int_equal(site_call(tls->site, "GET", "/v1/status", NULL, &answer), 200);
    const json_t *vnis = json_object_get(answer.json, "vnis");
    json_int_t count = json_integer_value(json_object_get(vnis, "held"));
    answer_release(&answer);
    return count;
}

/* All hooks of a job on a node that knows its broker by TLS alone. */
static void node__proves_itself_by_its_certificate(void **state)
{
    struct fixture *fixture = *state;
    struct tlssite *tls = open_broker(fixture);
    configure(fixture, tls, "n1", "ca.pem");
    EXPECT_RUN(0, "prolog --job f17");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4);
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "export SLINGSHOT_VNIS='1024'\n");
    fixture_expect_out(fixture, "export SLINGSHOT_SVC_IDS='2,2,2,2'\n");
    assert_int_equal(site_call(tls->site, "DELETE", JOB, NULL, NULL), 202);
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
    /* The other node's word is still out. */
    assert_int_equal(held(tls), 1);
    assert_int_equal(site_call(tls->site, "PUT", JOB "/nodes/n2",
                               "{\"state\":\"destroyed\",\"number\":1}", NULL),
                     200);
    assert_int_equal(held(tls), 0);
    tlssite_close(tls);
}

/* Another node's certificate says nothing of this one (S5): whose it is, and whose it should be, is
 * told. The job's services are there all the same, and its VNIs wait. */
static void node__with_anothers_certificate_is_told_so(void **state)
{
    struct fixture *fixture = *state;
    struct tlssite *tls = open_broker(fixture);
    configure(fixture, tls, "n2", "ca.pem");
    EXPECT_RUN(0, "prolog --job f17");
    fixture_expect_err(fixture, "certificate \"n2\" may not report for node n1: only an admin");
    fixture_expect_err(fixture, "or the node may, by a certificate with its name");
    EXPECT_SERVICES(4);
    assert_int_equal(site_call(tls->site, "DELETE", JOB, NULL, NULL), 202);
    EXPECT_RUN(0, "epilog --job f17");
    fixture_expect_err(fixture, "certificate \"n2\" may not report for node n1: only an admin");
    EXPECT_SERVICES(0);
    assert_int_equal(held(tls), 1);
    tlssite_close(tls);
}

/* Nor does it read another node's jobs: the message says as whom it was seen. */
static void node__of_another_job_is_told_who_it_is(void **state)
{
    struct fixture *fixture = *state;
    struct tlssite *tls = open_broker(fixture);
    configure(fixture, tls, "n7", "ca.pem");
    EXPECT_RUN(3, "prolog --job f17");
    fixture_expect_err(fixture,
                       "no job f17 of cluster elcap runs on node n7, which is who you are");
    configure(fixture, tls, "visitor", "ca.pem");
    EXPECT_RUN(1, "prolog --job f17");
    fixture_expect_err(fixture,
                       "certificate \"visitor\" may not do this: none of its names is listed");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
    tlssite_close(tls);
}

static void broker__of_another_authority_is_not_believed(void **state)
{
    struct fixture *fixture = *state;
    struct tlssite *tls = open_broker(fixture);
    struct authority other;
    authority_init(&other, "another authority");
    char *pem = authority_pem(&other);
    assert_int_equal(folder_write(tls->certificates, "other.pem", 0600, pem), 0);
    gnutls_free(pem);
    authority_release(&other);
    configure(fixture, tls, "n1", "other.pem");
    EXPECT_RUN(4, "prolog --job f17");
    fixture_expect_err(fixture, "is not signed by the CA in");
    fixture_expect_err(fixture, "; set cacert (or MCAST_CACERT) to the CA that signed it\n");
    EXPECT_SERVICES(0);
    tlssite_close(tls);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(node__proves_itself_by_its_certificate),
          TEST(node__with_anothers_certificate_is_told_so),
          TEST(node__of_another_job_is_told_who_it_is),
          TEST(broker__of_another_authority_is_not_believed))
