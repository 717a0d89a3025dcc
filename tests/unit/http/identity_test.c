/* SPDX-License-Identifier: Apache-2.0 */
/* Who a peer is, by the lists of the site, and what that lets it do: every identity against every
 * route there is. */

#include <arpa/inet.h>

#include "broker/http/auth/identity.h"
#include "broker/http/routes.h"
#include "broker/http/auth/tokenproof.h"
#include "tests/unit/unit.h"

static char *root[] = {"root", "cert:operator", NULL}, *elcap[] = {"1001", "1002", "root", NULL},
            *tuo[] = {"1002", "4294967294", "cert:tuo-rm", NULL}, *nobody[] = {NULL};

static struct rights *site(void)
{
    static const struct config config = {
        .admins = root,
        .core.cluster_count = 4,
        .clusters = {{.name = "elcap", .users = elcap, .nodes = "elcap[1-100]"},
                     {.name = "tuo", .users = tuo, .nodes = "tuo[01-20],shared[1-2]"},
                     {.name = "empty", .users = nobody, .nodes = "shared[1-2]"},
                     {.name = "none"}}};
    struct error err;
    struct rights *rights = rights_create(&config, &err);
    assert_non_null(rights);
    return rights;
}

static struct proof of_uid(enum proof_kind kind, uint32_t uid)
{
    return (struct proof){.kind = kind, .uid = uid, .origin.s_addr = htonl(0x0a000007)};
}

/* Root over MUNGE whose credential was made on the node of this name. */
static struct proof of_root(const char *const *names)
{
    struct proof proof = of_uid(PROOF_MUNGE, 0);
    proof.names = names;
    return proof;
}

static struct proof of_names(const char *const *names)
{
    return (struct proof){.kind = PROOF_CERTIFICATE, .names = names};
}

#define NAMES(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

UNIT(rights__follow_the_lists)
{
    const struct {
        struct proof proof;
        bool admin, elcap, tuo, empty, unknown;
        const char *only;
    } cases[] = {
        {of_uid(PROOF_SOCKET, 0), true, true, true, true, true, "elcap"},
        {of_uid(PROOF_SOCKET, 1001), false, true, false, false, false, "elcap"},
        {of_uid(PROOF_SOCKET, 1002), false, true, true, false, false, NULL},
        {of_uid(PROOF_SOCKET, 4294967294), false, false, true, false, false, "tuo"},
        {of_uid(PROOF_SOCKET, 1003), false, false, false, false, false, NULL},
        {of_uid(PROOF_MUNGE, 0), false, false, false, false, false, NULL},
        {of_uid(PROOF_MUNGE, 1001), false, true, false, false, false, "elcap"},
        {of_uid(PROOF_MUNGE, 1002), false, true, true, false, false, NULL},
        {of_uid(PROOF_NONE, 0), false, false, false, false, false, NULL},
        {of_uid(PROOF_NONE, 1001), false, false, false, false, false, NULL},
        {of_names(NAMES("operator")), true, true, true, true, true, NULL},
        {of_names(NAMES("x", "operator")), true, true, true, true, true, NULL},
        {of_names(NAMES("tuo-rm")), false, false, true, false, false, "tuo"},
        {of_names(NAMES("root")), false, false, false, false, false, NULL},
        {of_names(NAMES("1001")), false, false, false, false, false, NULL},
        {of_names(NAMES("cert:operator")), false, false, false, false, false, NULL},
        {of_root(NAMES("operator")), false, false, false, false, false, NULL},
        {of_root(NAMES("elcap7")), false, false, false, false, false, NULL},
        {of_names(NAMES("Operator")), false, false, false, false, false, NULL},
        {of_names(NULL), false, false, false, false, false, NULL},
    };
    struct rights *rights = site();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct identity who = rights_judge(rights, &cases[i].proof);
        assert_int_equal(who.admin, cases[i].admin);
        assert_int_equal(rights_manages(rights, &who, "elcap"), cases[i].elcap);
        assert_int_equal(rights_manages(rights, &who, "tuo"), cases[i].tuo);
        assert_int_equal(rights_manages(rights, &who, "empty"), cases[i].empty);
        assert_int_equal(rights_manages(rights, &who, "elcap2"), cases[i].unknown);
        const char *only = rights_only_cluster(rights, &who);
        assert_int_equal(only != NULL, cases[i].only != NULL);
        if (only)
            assert_string_equal(only, cases[i].only);
    }
    rights_destroy(rights);
}

/* Whether the peer may see a job because it is a node of it; nodes NULL: it may run on any. */
static bool sees_job_on(const struct rights *rights, const struct identity *who,
                        const char *cluster, const char *nodes)
{
    const struct reservation job = {.cluster = (char *)cluster, .nodes = (char *)nodes, .uid = 7};
    return permit_job(rights, who, &job) == JOB_OPEN;
}

UNIT(node__is_who_its_certificate_or_origin_names)
{
    const struct {
        struct proof proof;
        const char *cluster, *node;
        bool is;
    } cases[] = {
        {of_names(NAMES("elcap7")), "elcap", "elcap7", true},
        {of_names(NAMES("elcap7")), "elcap", "elcap8", false},
        {of_names(NAMES("elcap7")), "tuo", "elcap7", false},
        {of_names(NAMES("elcap7")), "none", "elcap7", false},
        {of_names(NAMES("elcap7")), "elcap2", "elcap7", false},
        {of_names(NAMES("elcap101")), "elcap", "elcap101", false},
        {of_names(NAMES("elcap07")), "elcap", "elcap7", false},
        {of_names(NAMES("elcap[1-100]")), "elcap", "elcap7", false},
        {of_names(NAMES("x", "elcap7.site", "elcap7")), "elcap", "elcap7", true},
        {of_names(NAMES("elcap7", "elcap8")), "elcap", "elcap8", true},
        {of_names(NAMES("elcap7", "tuo07")), "tuo", "tuo07", true},
        {of_names(NAMES("elcap7", "tuo07")), "tuo", "elcap7", false},
        {of_names(NAMES("shared1")), "tuo", "shared1", true},
        {of_names(NAMES("shared1")), "empty", "shared1", true},
        {of_names(NAMES("operator")), "elcap", "elcap7", false}, /* an admin is no node */
        {of_uid(PROOF_MUNGE, 0), "elcap", "elcap7", false},
        {of_root(NAMES("elcap7")), "elcap", "elcap7", true},
        {of_root(NAMES("elcap7")), "elcap", "elcap8", false},
        {of_root(NAMES("elcap7")), "tuo", "elcap7", false},
        {of_root(NAMES("elcap101")), "elcap", "elcap101", false},
        {of_root(NAMES("shared1")), "empty", "shared1", true},
        {of_uid(PROOF_SOCKET, 0), "elcap", "elcap7", false},
        {of_uid(PROOF_NONE, 0), "elcap", "elcap7", false},
    };
    struct rights *rights = site();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct identity who = rights_judge(rights, &cases[i].proof);
        if (rights_is_node(rights, &who, cases[i].cluster, cases[i].node) != cases[i].is)
            fail_msg("row %zu", i);
    }
    const struct proof proof = of_names(NAMES("x", "elcap7", "tuo07"));
    struct identity who = rights_judge(rights, &proof);
    assert_string_equal(who.node, "elcap7");
    assert_true(sees_job_on(rights, &who, "elcap", "elcap[5-9]"));
    assert_false(sees_job_on(rights, &who, "elcap", "elcap[8-9],tuo[01-20]"));
    assert_true(sees_job_on(rights, &who, "tuo", "elcap[8-9],tuo[01-20]"));
    assert_false(sees_job_on(rights, &who, "none", "elcap7"));
    assert_true(sees_job_on(rights, &who, "elcap", NULL));
    assert_false(sees_job_on(rights, &who, "none", NULL));
    const struct proof root_of = of_root(NAMES("elcap7"));
    who = rights_judge(rights, &root_of);
    assert_string_equal(who.node, "elcap7");
    assert_true(sees_job_on(rights, &who, "elcap", "elcap[5-9]"));
    assert_false(sees_job_on(rights, &who, "elcap", "elcap[8-9]"));
    /* A user's names would be nobody's word. */
    struct proof user = root_of;
    user.uid = 5588;
    who = rights_judge(rights, &user);
    assert_false(rights_is_node(rights, &who, "elcap", "elcap7"));
    assert_true(rights_list_node(rights, "elcap", "elcap7"));
    assert_true(rights_list_node(rights, NULL, "shared2"));
    assert_false(rights_list_node(rights, "elcap", "shared2"));
    assert_false(rights_list_node(rights, NULL, "elcap101"));
    assert_false(rights_list_node(rights, "elcap2", "elcap7"));
    rights_destroy(rights);
}

/* A certificate is no user, and root over MUNGE is the root of any host with the key. */
UNIT(user__is_a_proved_uid)
{
    const struct {
        struct proof proof;
        uint32_t uid;
        bool is;
    } cases[] = {
        {of_uid(PROOF_SOCKET, 1001), 1001, true}, {of_uid(PROOF_SOCKET, 1001), 1002, false},
        {of_uid(PROOF_SOCKET, 0), 0, true},       {of_uid(PROOF_MUNGE, 1001), 1001, true},
        {of_uid(PROOF_MUNGE, 0), 0, false},       {of_uid(PROOF_NONE, 0), 0, false},
        {of_uid(PROOF_NONE, 1001), 1001, false},  {of_names(NAMES("root")), 0, false},
    };
    struct rights *rights = site();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct identity who = rights_judge(rights, &cases[i].proof);
        assert_int_equal(proof_is_user(&who.proof, cases[i].uid), cases[i].is);
    }
    rights_destroy(rights);
}

UNIT(identity__says_who_was_seen_and_how)
{
    const struct {
        struct proof proof;
        const char *text;
    } cases[] = {
        {of_uid(PROOF_SOCKET, 5588), "uid 5588 through the Unix socket"},
        {of_uid(PROOF_MUNGE, 5588), "MUNGE credential of uid 5588 from 10.0.0.7"},
        {of_names(NAMES("node17", "node17.site")), "certificate \"node17\""},
        {of_uid(PROOF_NONE, 0), "nobody"},
    };
    char text[IDENTITY_TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(identity_format(&cases[i].proof, text, sizeof text), cases[i].text);
}

UNIT(rights__name_what_is_wrong_with_a_list)
{
    static char *unknown[] = {"no-such-user-here", NULL};
    static char *too_large[] = {"4294967295", NULL}; /* (uid_t)-1 is nobody */
    static struct config config = {.admins = unknown,
                                   .clusters = {{.name = "elcap", .users = unknown}}};
    struct error err;
    assert_null(rights_create(&config, &err));
    assert_int_equal(err.code, ERROR_INVALID);
    assert_non_null(strstr(err.text, "admins: "));
    assert_non_null(strstr(err.text, "no-such-user-here"));
    config.admins = root;
    config.core.cluster_count = 1;
    assert_null(rights_create(&config, &err));
    assert_non_null(strstr(err.text, "users of cluster 'elcap': "));
    config.admins = too_large;
    assert_null(rights_create(&config, &err));
}

static char *admins[] = {"0", "100", "cert:boss", NULL};
static char *managers[] = {"0", "200", "cert:rm", NULL};
static char *readers[] = {"300", "cert:prometheus", NULL};
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
#define UNPROVED "authentication required"
#define HOST "only an admin or the node"

/* What each identity is told: by a route that needs a peer, a manager, the manager of elcap,
 * the one of tuo, and an admin; and by the metrics. */
static const struct {
    struct proof proof;
    const char *peer, *manager, *elcap, *tuo, *admin, *metrics;
} identities[] = {
    {{.kind = PROOF_NONE}, UNPROVED, UNPROVED, UNPROVED, UNPROVED, UNPROVED, UNPROVED},
    {{.kind = PROOF_BEARER, .token = &token},
     UNPROVED,
     UNPROVED,
     UNPROVED,
     UNPROVED,
     UNPROVED,
     UNPROVED},
    {{.kind = PROOF_PLUGIN, .cluster = "elcap"},
     UNPROVED,
     UNPROVED,
     UNPROVED,
     UNPROVED,
     UNPROVED,
     UNPROVED},
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
    {METHOD_POST, "/v1/clusters/{}/jobs/{}/launch", NEED_CLUSTER},
    {METHOD_PUT, "/v1/clusters/{}/jobs/{}/nodes/{}", NEED_NODE},
    {METHOD_PUT, "/v1/clusters/{}/jobs/{}/nodes", NEED_CLUSTER},
    {METHOD_GET, "/v1/clusters/{}/jobs/{}/steps", NEED_PEER},
    {METHOD_GET, "/v1/clusters/{}/jobs/{}/traffic", NEED_PEER},
    {METHOD_GET, "/v1/reservation/traffic", NEED_BEARER},
    {METHOD_GET, "/v1/clusters/{}/jobs/{}/topology", NEED_PEER},
    {METHOD_GET, "/v1/fabric", NEED_MANAGER},
    {METHOD_GET, "/v1/nodes", NEED_MANAGER},
    {METHOD_GET, "/v1/nodes/{}", NEED_MANAGER},
    {METHOD_GET, "/v1/reservation", NEED_BEARER},
    {METHOD_GET, "/v1/reservation/trees", NEED_BEARER},
    {METHOD_GET, "/v1/reservation/options", NEED_BEARER},
    {METHOD_GET, "/v1/reservation/topology", NEED_BEARER},
    {METHOD_GET, "/v1/reservation/events", NEED_BEARER},
    {METHOD_DELETE, "/v1/reservation/steps/{}", NEED_BEARER},
    {METHOD_POST, "/v1/reservation/tokens", NEED_BEARER},
    {METHOD_POST, "/v1/tokens/rotate", NEED_ADMIN},
    {METHOD_GET, "/v1/jobs", NEED_PEER},
    {METHOD_GET, "/v1/vnis", NEED_PEER},
    {METHOD_PUT, "/v1/vnis/{}", NEED_PEER},
    {METHOD_GET, "/v1/vnis/{}", NEED_PEER},
    {METHOD_DELETE, "/v1/vnis/{}", NEED_PEER},
    {METHOD_POST, "/v1/clusters/{}/sync", NEED_CLUSTER},
    {METHOD_PUT, "/v1/nodes/{}/fence", NEED_ADMIN},
    {METHOD_DELETE, "/v1/nodes/{}", NEED_ADMIN},
    {METHOD_PUT, "/v1/nodes/{}/boot", NEED_HOST},
    {METHOD_PUT, "/v1/nodes/{}/inventory", NEED_HOST},
    {METHOD_GET, "/v1/nodes/{}/inventory", NEED_PEER},
    {METHOD_POST, "/v1/accept-loss", NEED_ADMIN},
    {METHOD_POST, "/v1/clusters/{}/claim", NEED_ADMIN},
    {METHOD_POST, "/v1/step-down", NEED_ADMIN},
    {METHOD_GET, "/v1/events", NEED_PEER},
    {METHOD_GET, "/v1/options", NEED_PEER},
    {METHOD_GET, "/v1/status", NEED_PEER},
    {METHOD_GET, "/v1/doctor", NEED_ADMIN},
    {METHOD_GET, "/v1/whoami", NEED_LOOK},
    {METHOD_GET, "/v1/history", NEED_PEER},
    {METHOD_GET, "/metrics", NEED_METRICS},
    {METHOD_GET, "/healthz", NEED_NOTHING},
    {METHOD_GET, "/readyz", NEED_NOTHING},
    {METHOD_GET, "/openapi.json", NEED_NOTHING},
    {METHOD_POST, "/fabric/collectives/multicasts", NEED_BEARER},
    {METHOD_DELETE, "/fabric/collectives/multicasts/{}", NEED_BEARER},
    {METHOD_POST, "/oauth2/token", NEED_NOTHING},
    {METHOD_GET, "/fabric/collectives/jobs/", NEED_PLUGIN},
    {METHOD_POST, "/fabric/collectives/jobs", NEED_PLUGIN},
    {METHOD_GET, "/fabric/collectives/jobs/{}", NEED_PLUGIN},
    {METHOD_PATCH, "/fabric/collectives/jobs/{}", NEED_PLUGIN},
    {METHOD_DELETE, "/fabric/collectives/jobs/{}", NEED_PLUGIN},
};

UNIT(each_route__needs_what_it_should)
{
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
 * what the bearer of a job's token wants for that job, and Slurm's own plugin, which is a manager;
 * who asks for an access token proves himself by what he sends. */
UNIT(each_change__is_the_managers)
{
    for (size_t i = 0; i < ROUTES; i++)
        if (routes[i].changes || routes[i].method != METHOD_GET)
            assert_true(routes[i].need == NEED_CLUSTER || routes[i].need == NEED_ADMIN ||
                        routes[i].need == NEED_NODE || routes[i].need == NEED_HOST ||
                        routes[i].need == NEED_BEARER || routes[i].need == NEED_PLUGIN ||
                        routes[i].handle == plugin_token_handle ||
                        routes[i].handle == share_handle || routes[i].handle == unshare_handle);
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

/* The resource manager of elcap and of nothing else, and its Slurm by its login. */
static const char *nor_plugin(const struct proof *proof)
{
    const bool is_user = proof->kind == PROOF_SOCKET || proof->kind == PROOF_MUNGE;
    if (proof->kind == PROOF_NONE)
        return PERMIT_NO_LOGIN;
    if (proof->kind == PROOF_PLUGIN || proof->names == rm || (is_user && proof->uid == 200) ||
        (proof->kind == PROOF_SOCKET && proof->uid == 0))
        return NULL;
    return "only the Slurm of one cluster may";
}

UNIT(each_identity__is_told_the_same_everywhere)
{
    static const struct config config = {
        .admins = admins,
        .metrics_users = readers,
        .core.cluster_count = 2,
        .clusters = {{.name = "elcap", .users = managers, .nodes = "elcap[1-100]"},
                     {.name = "tuo"}}};
    struct error err;
    struct rights *rights = rights_create(&config, &err);
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
            {NEED_PLUGIN, "", "", false, nor_plugin(&identities[i].proof)},
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

static struct identity socket_user(const struct rights *rights, uint32_t uid)
{
    const struct proof proof = of_uid(PROOF_SOCKET, uid);
    return rights_judge(rights, &proof);
}

/* As /v1/nodes shows the node (P5): no resource manager learns the names of another's nodes. */
UNIT(event_of_a_node__is_for_who_may_see_it)
{
    static char *others[] = {"400", NULL};
    static const struct config config = {
        .admins = admins,
        .core.cluster_count = 2,
        .clusters = {{.name = "elcap", .users = managers, .nodes = "elcap[1-100]"},
                     {.name = "tuo", .users = others, .nodes = "tuo[1-9]"}}};
    static const struct {
        struct event_record event;
        bool admin, elcap, tuo;
    } cases[] = {
        {{.kind = EVENT_NIC_LINK, .node = "elcap7"}, true, true, false},
        {{.kind = EVENT_NIC_REPLACED, .node = "tuo7"}, true, false, true},
        {{.kind = EVENT_NICS_CHANGED, .node = "spare1"}, true, false, false},
        {{.kind = EVENT_FENCED, .node = "tuo9"}, true, false, true},
        {{.kind = EVENT_FENCED}, true, false, false}, /* of an earlier schema */
        {{.kind = EVENT_SWITCH_DOWN}, true, true, true},
        {{.kind = EVENT_ALARM, .cluster = "elcap"}, true, true, false}, /* it may name a job */
        {{.kind = EVENT_ALARM}, true, true, true},
        {{.kind = EVENT_VNI_SHARED, .clusters = "tuo,rzadams"}, true, false, true},
        {{.kind = EVENT_VNI_SHARED, .clusters = ""}, true, false, false},
    };
    struct error err;
    struct rights *rights = rights_create(&config, &err);
    assert_non_null(rights);
    const struct identity admin = socket_user(rights, 100), rm_elcap = socket_user(rights, 200),
                          rm_tuo = socket_user(rights, 400), user = socket_user(rights, 5588);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(permit_event(rights, &admin, &cases[i].event), cases[i].admin);
        assert_int_equal(permit_event(rights, &rm_elcap, &cases[i].event), cases[i].elcap);
        assert_int_equal(permit_event(rights, &rm_tuo, &cases[i].event), cases[i].tuo);
        assert_false(permit_event(rights, &user, &cases[i].event));
    }
    rights_destroy(rights);
}

UNIT_RUN(NULL, NULL)
