/* SPDX-License-Identifier: Apache-2.0 */
/* Who may make which call: every identity against every route there is. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/http.h"
#include "broker/http/auth/identity.h"
#include "broker/http/routes.h"
#include "broker/http/auth/tokenproof.h"

static const char *const admins[] = {"0", "100", "cert:boss", NULL};
static const char *const managers[] = {"0", "200", "cert:rm", NULL};
static const char *const readers[] = {"300", "cert:prometheus", NULL};
static const char *const boss[] = {"boss", NULL}, *const rm[] = {"rm", NULL},
                         *const node[] = {"elcap7", NULL}, *const visitor[] = {"visitor", NULL},
                         *const prometheus[] = {"prometheus", NULL};

static const struct tokenproof token = {.session = true};

/* How a refusal begins. */
#define UNLISTED "none of its names is listed"
#define ROLES "only admins, resource managers, nodes and"
#define MANAGERS "only an admin or the resource manager of a cluster"
#define CLUSTER "only an admin or this cluster's"
#define ADMINS "only an admin may"
#define NODE "only an admin, this cluster's resource manager, or the node"
#define NOBODY "authentication required"
#define HOST "only an admin or the node"

/* What each identity is told: by a route that needs a peer, a manager, the manager of elcap,
 * the one of tuo, and an admin; and by the metrics. */
static const struct {
    struct proof proof;
    const char *peer, *manager, *elcap, *tuo, *admin, *metrics;
} identities[] = {
    {{.kind = PROOF_NONE}, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY},
    {{.kind = PROOF_BEARER, .token = &token}, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY},
    {{.kind = PROOF_SOCKET, .uid = 0}, NULL, NULL, NULL, NULL, NULL, NULL},
    {{.kind = PROOF_SOCKET, .uid = 100}, NULL, NULL, NULL, NULL, NULL, NULL},
    {{.kind = PROOF_SOCKET, .uid = 200}, NULL, NULL, NULL, CLUSTER, ADMINS, NULL},
    {{.kind = PROOF_SOCKET, .uid = 5588}, NULL, MANAGERS, CLUSTER, CLUSTER, ADMINS, ROLES},
    {{.kind = PROOF_MUNGE, .uid = 0}, NULL, MANAGERS, CLUSTER, CLUSTER, ADMINS, ROLES},
    {{.kind = PROOF_MUNGE, .uid = 0, .names = node},
     NULL,
     MANAGERS,
     CLUSTER,
     CLUSTER,
     ADMINS,
     NULL},
    {{.kind = PROOF_MUNGE, .uid = 100}, NULL, NULL, NULL, NULL, NULL, NULL},
    {{.kind = PROOF_MUNGE, .uid = 200}, NULL, NULL, NULL, CLUSTER, ADMINS, NULL},
    {{.kind = PROOF_MUNGE, .uid = 5588}, NULL, MANAGERS, CLUSTER, CLUSTER, ADMINS, ROLES},
    {{.kind = PROOF_CERTIFICATE, .names = boss}, NULL, NULL, NULL, NULL, NULL, NULL},
    {{.kind = PROOF_CERTIFICATE, .names = rm}, NULL, NULL, NULL, CLUSTER, ADMINS, NULL},
    {{.kind = PROOF_CERTIFICATE, .names = node}, NULL, MANAGERS, CLUSTER, CLUSTER, ADMINS, NULL},
    {{.kind = PROOF_CERTIFICATE, .names = visitor},
     UNLISTED,
     UNLISTED,
     UNLISTED,
     UNLISTED,
     UNLISTED,
     UNLISTED},
    {{.kind = PROOF_SOCKET, .uid = 300}, NULL, MANAGERS, CLUSTER, CLUSTER, ADMINS, NULL},
    {{.kind = PROOF_CERTIFICATE, .names = prometheus},
     UNLISTED,
     UNLISTED,
     UNLISTED,
     UNLISTED,
     UNLISTED,
     NULL},
};

/* What each route needs, said once more: a route that is added or eased shows here. */
static const struct {
    enum method method;
    const char *pattern;
    enum need need;
} needs[] = {
    {METHOD_PUT, "/v1/clusters/{}/jobs/{}", NEED_CLUSTER},
    {METHOD_DELETE, "/v1/clusters/{}/jobs/{}", NEED_CLUSTER},
    {METHOD_GET, "/v1/clusters/{}/jobs/{}", NEED_PEER},
    {METHOD_GET, "/v1/clusters/{}/jobs/{}/env", NEED_PEER},
    {METHOD_PUT, "/v1/clusters/{}/jobs/{}/nodes/{}", NEED_NODE},
    {METHOD_GET, "/v1/clusters/{}/jobs/{}/steps", NEED_PEER},
    {METHOD_GET, "/v1/reservation", NEED_BEARER},
    {METHOD_DELETE, "/v1/reservation/steps/{}", NEED_BEARER},
    {METHOD_POST, "/v1/reservation/tokens", NEED_BEARER},
    {METHOD_POST, "/v1/tokens/rotate", NEED_ADMIN},
    {METHOD_GET, "/v1/jobs", NEED_PEER},
    {METHOD_POST, "/v1/clusters/{}/sync", NEED_CLUSTER},
    {METHOD_PUT, "/v1/nodes/{}/fence", NEED_ADMIN},
    {METHOD_PUT, "/v1/nodes/{}/boot", NEED_HOST},
    {METHOD_POST, "/v1/accept-loss", NEED_ADMIN},
    {METHOD_POST, "/v1/clusters/{}/claim", NEED_ADMIN},
    {METHOD_GET, "/v1/events", NEED_MANAGER},
    {METHOD_GET, "/v1/status", NEED_PEER},
    {METHOD_GET, "/v1/doctor", NEED_ADMIN},
    {METHOD_GET, "/v1/whoami", NEED_LOOK},
    {METHOD_GET, "/metrics", NEED_METRICS},
    {METHOD_GET, "/healthz", NEED_NOTHING},
    {METHOD_GET, "/readyz", NEED_NOTHING},
    {METHOD_GET, "/openapi.json", NEED_NOTHING},
};

static void each_route__needs_what_it_should(void **state)
{
    (void)state;
    assert_int_equal(sizeof needs / sizeof needs[0], ROUTES);
    for (size_t i = 0; i < ROUTES; i++) {
        bool found = false;
        for (size_t j = 0; j < ROUTES; j++)
            if (routes[i].method == needs[j].method &&
                !strcmp(routes[i].pattern, needs[j].pattern)) {
                found = true;
                if (routes[i].need != needs[j].need)
                    fail_msg("%s needs something else", routes[i].pattern);
            }
        if (!found)
            fail_msg("%s is new", routes[i].pattern);
    }
}

/* Whatever changes something is a manager's or an admin's, but for what nodes say of themselves
 * and what the bearer of a job's token wants for that job. */
static void each_change__is_the_managers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUTES; i++)
        if (routes[i].changes || routes[i].method != METHOD_GET)
            assert_true(routes[i].need == NEED_CLUSTER || routes[i].need == NEED_ADMIN ||
                        routes[i].need == NEED_NODE || routes[i].need == NEED_HOST ||
                        routes[i].need == NEED_BEARER);
}

/* What who may not act for the cluster is told about a node that it is not either (S5). */
static const char *nor_node(const char *cluster)
{
    return cluster && !strcmp(cluster, CLUSTER) ? NODE : cluster;
}

static const char *nor_host(const char *admin)
{
    return admin && !strcmp(admin, ADMINS) ? HOST : admin;
}

static void each_identity__is_told_the_same_everywhere(void **state)
{
    (void)state;
    static const struct http_cluster clusters[] = {{"elcap", managers, "elcap[1-100]"},
                                                   {"tuo", NULL, NULL}};
    struct error err;
    struct rights *rights = rights_create(admins, readers, clusters, 2, &err);
    assert_non_null(rights);
    for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++) {
        const struct identity who = rights_judge(rights, &identities[i].proof);
        const bool is_bearer = identities[i].proof.kind == PROOF_BEARER;
        const bool is_elcap7 = identities[i].proof.names == node;
        const struct {
            enum need need;
            const char *cluster, *node;
            bool anonymous;
            const char *lacks;
        } asked[] = {
            {NEED_NOTHING, "", "", false, NULL},
            {NEED_LOOK, "", "", false, NULL},
            {NEED_METRICS, "", "", true, NULL},
            {NEED_METRICS, "", "", false, identities[i].metrics},
            {NEED_PEER, "", "", true, identities[i].peer},
            {NEED_MANAGER, "", "", true, identities[i].manager},
            {NEED_CLUSTER, "elcap", "", false, identities[i].elcap},
            {NEED_CLUSTER, "tuo", "", false, identities[i].tuo},
            {NEED_ADMIN, "", "", false, identities[i].admin},
            {NEED_BEARER, "", "", true, is_bearer ? NULL : PERMIT_NO_TOKEN},
            {NEED_NODE, "elcap", "elcap7", false, is_elcap7 ? NULL : nor_node(identities[i].elcap)},
            {NEED_NODE, "elcap", "elcap8", false, nor_node(identities[i].elcap)},
            {NEED_NODE, "elcap", "", false, nor_node(identities[i].elcap)},
            {NEED_NODE, "tuo", "elcap7", false, nor_node(identities[i].tuo)},
            {NEED_HOST, "", "elcap7", false, is_elcap7 ? NULL : nor_host(identities[i].admin)},
            {NEED_HOST, "", "elcap8", false, nor_host(identities[i].admin)},
            {NEED_HOST, "", "", false, nor_host(identities[i].admin)},
        };
        for (size_t j = 0; j < sizeof asked / sizeof asked[0]; j++) {
            const char *lacks = permit_lacks(rights, &who, asked[j].need, asked[j].cluster,
                                             asked[j].node, asked[j].anonymous);
            if (!lacks != !asked[j].lacks ||
                (lacks && strncmp(lacks, asked[j].lacks, strlen(asked[j].lacks)) != 0))
                fail_msg("identity %zu, need %zu: %s", i, j, lacks ? lacks : "may");
        }
    }
    rights_destroy(rights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route__needs_what_it_should),
        cmocka_unit_test(each_change__is_the_managers),
        cmocka_unit_test(each_identity__is_told_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
