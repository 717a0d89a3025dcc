/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/testmunged.h"
#include "tests/system/http/tlssite.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/stat.h>
#include <unistd.h>

/* Root over MUNGE may do for its own node what the holder of its certificate may (F3, S5). Each
 * host has a real munged, all with one key. The nodes' names are addresses, to which each of them
 * resolves on any machine. */

#define JOBS "/v1/clusters/elcap/jobs/"
#define NODES "192.0.2.[7-8],localhost"
#define BOTH_NODES "{\"uid\":7,\"nodes\":\"192.0.2.[7-8]\",\"vni_count\":1}"
#define FIRST_NODE "{\"uid\":7,\"nodes\":\"192.0.2.7\",\"vni_count\":1}"

enum { HEADER_SIZE = 2048, REALM_PATH_SIZE = 128, MANAGER = 4002 };

struct realm {
    struct tlssite *tls;
    struct testmunged *broker, *node7, *node8, *astray, *loopback, *own;
    char folder[FOLDER_PATH_SIZE], lines[256], host[256], nodes[512];
    struct site_options options;
};

static int open_realm(void **state)
{
    struct realm *realm = calloc(1, sizeof *realm);
    assert_non_null(realm);
    assert_int_equal(folder_create(realm->folder), 0);
    assert_int_equal(chmod(realm->folder, 0711), 0); /* others reach the sockets */
    realm->broker = testmunged_start_at(realm->folder, "broker", 'a', "192.0.2.1");
    realm->node7 = testmunged_start_at(realm->folder, "node7", 'a', "192.0.2.7");
    realm->node8 = testmunged_start_at(realm->folder, "node8", 'a', "192.0.2.8");
    realm->astray = testmunged_start_at(realm->folder, "astray", 'a', "198.51.100.7");
    realm->loopback = testmunged_start_at(realm->folder, "loopback", 'a', "127.0.0.1");
    realm->own = testmunged_start(realm->folder, "own", 'a');
    gethostname(realm->host, sizeof realm->host - 1);
    snprintf(realm->nodes, sizeof realm->nodes, NODES ",%s", realm->host);
    snprintf(realm->lines, sizeof realm->lines, "munge_socket = %s\n",
             testmunged_socket(realm->broker));
    realm->options = (struct site_options){.mcastd = MCASTD,
                                           .admins = "root",
                                           .users = "root 4002",
                                           .nodes = realm->nodes,
                                           .broker = realm->lines};
    realm->tls = tlssite_open(&realm->options);
    *state = realm;
    return 0;
}

static int close_realm(void **state)
{
    struct realm *realm = *state;
    struct testmunged *all[] = {realm->broker, realm->node7,    realm->node8,
                                realm->astray, realm->loopback, realm->own};
    tlssite_close(realm->tls);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        testmunged_stop(all[i]);
    folder_destroy(realm->folder);
    free(realm);
    return 0;
}

/* ---- a broker's host with names of its own ---- */

static void write_hosts(struct realm *realm, const char *more)
{
    char text[512];
    snprintf(text, sizeof text,
             "127.0.0.1 localhost\n192.0.2.7 n7\n192.0.2.8 n8\n198.51.100.7 n8\n%s", more);
    assert_int_equal(folder_write(realm->folder, "hosts", 0644, text), 0);
}

/* mcastd where these are the files of /etc, for it alone; its name server is no server. */
static const char *write_program(struct realm *realm)
{
    static char path[REALM_PATH_SIZE];
    char text[1024];
    const char *f = realm->folder;
    write_hosts(realm, "127.0.1.1 n9\n");
    assert_int_equal(folder_write(f, "resolv.conf", 0644,
                                  "nameserver 192.0.2.53\noptions timeout:1 attempts:1\n"),
                     0);
    assert_int_equal(folder_write(f, "nsswitch.conf", 0644, "passwd: files\nhosts: files dns\n"),
                     0);
    snprintf(text, sizeof text,
             "#!/bin/sh\nexec unshare -m sh -c 'for f in hosts resolv.conf nsswitch.conf; do "
             "mount --bind %s/$f /etc/$f || exit; done; exec %s \"$@\"' sh \"$@\"\n",
             f, MCASTD);
    assert_int_equal(folder_write(f, "mcastd", 0755, text), 0);
    return folder_path(path, sizeof path, f, "mcastd");
}

/* The names' realm is entered again by a broker that sees them. */
static void enter_names(struct realm *realm)
{
    if (geteuid() != 0 || system("unshare -m mount --bind /etc/hosts /etc/hosts 2>/dev/null") != 0)
        skip(); /* a container that may not have a view of its own */
    tlssite_close(realm->tls);
    realm->options.mcastd = write_program(realm);
    realm->options.nodes = "n[7-10]";
    realm->tls = tlssite_open(&realm->options);
}

/* Others' credentials can be had by root only, and root's by root. */
static void skip_unless_root(void)
{
    if (geteuid() != 0)
        skip();
}

/* Asks over TLS with a credential of this host and uid. node: which it says it is; NULL: says
 * nothing. */
static int ask(struct realm *realm, const struct testmunged *host, uid_t uid, const char *node,
               const char *method, const char *path, const char *body, struct answer *answer)
{
    char header[HEADER_SIZE];
    testmunged_header(host, uid, 0, method, path, header, sizeof header);
    if (node)
        snprintf(header + strlen(header), sizeof header - strlen(header), "Mcast-Node: %s\r\n",
                 node);
    struct line *line = tlssite_line(realm->tls, NULL);
    int status = site_ask(realm->tls->site, line, method, path, header, body, answer);
    line_close(line);
    return status;
}

/* By the broker's socket; returns the reservation's number. */
static json_int_t reserve(struct realm *realm, const char *job, const char *body)
{
    struct answer answer;
    char path[REALM_PATH_SIZE];
    snprintf(path, sizeof path, JOBS "%s", job);
    assert_int_equal(site_call(realm->tls->site, "PUT", path, body, &answer), 201);
    json_int_t number = answer_number(&answer, "number");
    answer_release(&answer);
    return number;
}

/* Reports a job's services on a node; the answer may be NULL. */
static int report(struct realm *realm, const struct testmunged *host, uid_t uid, const char *where,
                  json_int_t number, struct answer *answer)
{
    char path[4 * REALM_PATH_SIZE], body[96];
    snprintf(path, sizeof path, JOBS "%s", where);
    snprintf(body, sizeof body, "{\"state\":\"created\",\"number\":%lld}", (long long)number);
    return ask(realm, host, uid, NULL, "PUT", path, body, answer);
}

static void expect_forbidden(struct answer *answer, const char *cause, const char *step)
{
    if (!strstr(answer->body, cause) || !strstr(answer->body, step))
        fail_msg("no '%s', '%s' in %s", cause, step, answer->body);
    assert_non_null(strstr(answer->body, "MUNGE credential of uid 0 from "));
    site_expect_problem(answer, 403, "forbidden", NULL);
}

static void root__reports_for_its_own_node(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    skip_unless_root();
    json_int_t number = reserve(realm, "f1", BOTH_NODES);
    assert_int_equal(report(realm, realm->node7, 0, "f1/nodes/192.0.2.7", number, &answer), 200);
    assert_string_equal(answer_text(&answer, "node"), "192.0.2.7");
    answer_release(&answer);
    assert_int_equal(report(realm, realm->node8, 0, "f1/nodes/192.0.2.8", number, NULL), 200);
}

/* A node can only speak for itself. */
static void root__does_not_report_for_another(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    skip_unless_root();
    json_int_t number = reserve(realm, "f1", BOTH_NODES);
    report(realm, realm->node7, 0, "f1/nodes/192.0.2.8", number, &answer);
    expect_forbidden(&answer,
                     "\\\"192.0.2.8\\\" resolves to 192.0.2.8 on the broker's host, not "
                     "to 192.0.2.7",
                     "--origin");
    report(realm, realm->astray, 0, "f1/nodes/192.0.2.7", number, &answer);
    expect_forbidden(&answer, "not to 198.51.100.7", "--origin");
    /* What the header says does not count where the path says it. */
    assert_int_equal(ask(realm, realm->node7, 0, "192.0.2.7", "PUT", JOBS "f1/nodes/192.0.2.8",
                         "{\"state\":\"destroyed\",\"number\":1}", NULL),
                     403);
    /* Nor is a node another cluster's. */
    report(realm, realm->astray, 0, "f1/nodes/198.51.100.7", number, &answer);
    expect_forbidden(&answer, "\\\"198.51.100.7\\\", which is not listed in 'nodes'", "node.conf");
    ask(realm, realm->node7, 0, NULL, "PUT", "/v1/clusters/tuo/jobs/f1/nodes/192.0.2.7",
        "{\"state\":\"created\",\"number\":1}", &answer);
    expect_forbidden(&answer, "is not listed in 'nodes'", "node.conf");
}

/* A host whose own name is a loopback address says nothing by that. */
static void loopback__is_every_hosts(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    skip_unless_root();
    json_int_t number = reserve(realm, "f1", "{\"uid\":7,\"nodes\":\"localhost\"}");
    report(realm, realm->loopback, 0, "f1/nodes/localhost", number, &answer);
    expect_forbidden(&answer, "every host has the address 127.0.0.1", "--origin=ADDRESS");
    report(realm, realm->node7, 0, "f1/nodes/localhost", number, &answer);
    expect_forbidden(&answer, "\\\"localhost\\\" resolves to 127.0.0.1 on", "192.0.2.7");
}

/* What munged stamps where nobody tells it what: the address of the host's name. */
static void own_host__is_known_by_its_name(void **state)
{
    struct realm *realm = *state;
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char body[400], where[REALM_PATH_SIZE + sizeof realm->host];
    skip_unless_root();
    bool known = getaddrinfo(realm->host, NULL, &hints, &found) == 0;
    struct sockaddr_in address = {.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (known)
        memcpy(&address, found->ai_addr, sizeof address);
    if (known)
        freeaddrinfo(found);
    snprintf(body, sizeof body, "{\"uid\":7,\"nodes\":\"%s\"}", realm->host);
    json_int_t number = reserve(realm, "f1", body);
    snprintf(where, sizeof where, "f1/nodes/%s", realm->host);
    bool tells = ntohl(address.sin_addr.s_addr) >> IN_CLASSA_NSHIFT != IN_LOOPBACKNET;
    assert_int_equal(report(realm, realm->own, 0, where, number, NULL), tells ? 200 : 403);
}

static void user__is_no_node(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    skip_unless_root();
    json_int_t number = reserve(realm, "f1", BOTH_NODES);
    report(realm, realm->node7, 5588, "f1/nodes/192.0.2.7", number, &answer);
    assert_non_null(strstr(answer.body, "MUNGE credential of uid 5588 from 192.0.2.7"));
    assert_non_null(strstr(answer.body, "or as root by MUNGE"));
    site_expect_problem(&answer, 403, "forbidden", NULL);
    assert_int_equal(ask(realm, realm->node7, 5588, "192.0.2.7", "GET", JOBS "f1", NULL, NULL),
                     404);
    assert_int_equal(report(realm, realm->node8, MANAGER, "f1/nodes/192.0.2.7", number, NULL), 200);
}

/* It sees what its certificate would show it, and no more (S5). */
static void root__sees_its_nodes_jobs(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    skip_unless_root();
    reserve(realm, "f1", FIRST_NODE);
    assert_int_equal(ask(realm, realm->node7, 0, "192.0.2.7", "GET", JOBS "f1", NULL, &answer),
                     200);
    assert_null(json_object_get(answer.json, "env"));
    answer_release(&answer);
    ask(realm, realm->node7, 0, "192.0.2.7", "GET", JOBS "f1/env", NULL, &answer);
    assert_non_null(strstr(answer.body, "not their environment"));
    site_expect_problem(&answer, 403, "forbidden", NULL);
    assert_int_equal(ask(realm, realm->node8, 0, "192.0.2.8", "GET", JOBS "f1", NULL, NULL), 404);
    assert_int_equal(ask(realm, realm->node7, 0, NULL, "GET", JOBS "f1", NULL, NULL), 404);
    assert_int_equal(ask(realm, realm->node7, 0, "192.0.2.7", "GET", "/v1/whoami", NULL, &answer),
                     200);
    assert_string_equal(answer_text(&answer, "node"), "192.0.2.7");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(answer.json, "node_of"), 0)), "elcap");
    assert_true(json_is_false(json_object_get(answer.json, "admin")));
    answer_release(&answer);
}

/* It must not take "not found" for the end of a job that is its own. */
static void root__that_is_not_believed_is_told(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    skip_unless_root();
    reserve(realm, "f1", BOTH_NODES);
    ask(realm, realm->node7, 0, "192.0.2.8", "GET", JOBS "f1", NULL, &answer);
    expect_forbidden(&answer, "not to 192.0.2.7", "--origin");
    ask(realm, realm->loopback, 0, "192.0.2.8", "GET", JOBS "f1", NULL, &answer);
    expect_forbidden(&answer, "every host has the address", "/etc/hosts");
    ask(realm, realm->node7, 0, "elcap7", "GET", JOBS "f1", NULL, &answer);
    expect_forbidden(&answer, "\\\"elcap7\\\", which is not listed in", "'nodes'");
    ask(realm, realm->node7, 0, "192.0.2.8", "GET", "/v1/jobs", NULL, &answer);
    expect_forbidden(&answer, "not to 192.0.2.7", "--origin");
    assert_int_equal(ask(realm, realm->node7, 0, "192.0.2.8", "GET", "/v1/whoami", NULL, &answer),
                     200);
    assert_null(json_object_get(answer.json, "node"));
    answer_release(&answer);
}

/* Nothing else follows: the broker's own lists name root here. */
static void root__of_a_node_manages_nothing(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } cases[] = {
        {"PUT", JOBS "f2", FIRST_NODE},
        {"DELETE", JOBS "f1", NULL},
        {"POST", "/v1/clusters/elcap/sync", "{\"active\":[]}"},
        {"PUT", "/v1/nodes/192.0.2.7/fence", "{\"reason\":\"x\"}"},
    };
    struct realm *realm = *state;
    struct answer answer;
    skip_unless_root();
    reserve(realm, "f1", BOTH_NODES);
    ask(realm, realm->node7, 0, "192.0.2.7", "GET", "/v1/events", NULL, &answer);
    expect_forbidden(&answer, "only an admin or the resource manager", "the owner of a job");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ask(realm, realm->node7, 0, "192.0.2.7", cases[i].method, cases[i].path, cases[i].body,
            &answer);
        expect_forbidden(&answer, "root by MUNGE is the root of any host", "certificate");
    }
}

/* A node that leaves the list is none from that moment on, and the list is heeded anew. */
static void reload__changes_who_is_a_node(void **state)
{
    struct realm *realm = *state;
    skip_unless_root();
    json_int_t number = reserve(realm, "f1", BOTH_NODES);
    assert_int_equal(report(realm, realm->node7, 0, "f1/nodes/192.0.2.7", number, NULL), 200);
    realm->options.nodes = "192.0.2.8";
    assert_true(tlssite_reload(realm->tls, &realm->options));
    assert_int_equal(report(realm, realm->node7, 0, "f1/nodes/192.0.2.7", number, NULL), 403);
    assert_int_equal(report(realm, realm->node8, 0, "f1/nodes/192.0.2.8", number, NULL), 200);
}

static void names__are_those_of_the_brokers_host(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    enter_names(realm);
    json_int_t number = reserve(realm, "f1", "{\"uid\":7,\"nodes\":\"n[7-10]\"}");
    assert_int_equal(report(realm, realm->node7, 0, "f1/nodes/n7", number, NULL), 200);
    assert_int_equal(report(realm, realm->node8, 0, "f1/nodes/n8", number, NULL), 200);
    assert_int_equal(report(realm, realm->astray, 0, "f1/nodes/n8", number, NULL), 200);
    assert_int_equal(report(realm, realm->node8, 0, "f1/nodes/n7", number, NULL), 403);
    report(realm, realm->node7, 0, "f1/nodes/n8", number, &answer);
    expect_forbidden(&answer, "\\\"n8\\\" resolves to 192.0.2.8, 198.51.100.7 on", "--origin");
    report(realm, realm->node7, 0, "f1/nodes/n9", number, &answer);
    expect_forbidden(&answer, "\\\"n9\\\" resolves to 127.0.1.1 on", "--origin");
    /* Mended: a reload makes it known at once. */
    write_hosts(realm, "192.0.2.7 n9\n");
    assert_true(tlssite_reload(realm->tls, &realm->options));
    assert_int_equal(report(realm, realm->node7, 0, "f1/nodes/n9", number, NULL), 200);
}

/* It is the broker's trouble: the node shall try again, and others are served. */
static void name_server__that_is_away_is_503(void **state)
{
    struct realm *realm = *state;
    struct answer answer;
    enter_names(realm);
    json_int_t number = reserve(realm, "f1", "{\"uid\":7,\"nodes\":\"n[7-10]\"}");
    report(realm, realm->node7, 0, "f1/nodes/n10", number, &answer);
    assert_non_null(strstr(answer.body, "\\\"n10\\\" cannot be looked up on the broker's host"));
    site_expect_problem(&answer, 503, "names-unavailable", NULL);
    assert_int_equal(report(realm, realm->node7, 0, "f1/nodes/n7", number, NULL), 200);
    write_hosts(realm, "192.0.2.7 n10\n"); /* a failure is not remembered */
    assert_int_equal(report(realm, realm->node7, 0, "f1/nodes/n10", number, NULL), 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_realm, close_realm)

UNIT_MAIN(TEST(root__reports_for_its_own_node), TEST(root__does_not_report_for_another),
          TEST(loopback__is_every_hosts), TEST(own_host__is_known_by_its_name),
          TEST(user__is_no_node), TEST(root__sees_its_nodes_jobs),
          TEST(root__that_is_not_believed_is_told), TEST(root__of_a_node_manages_nothing),
          TEST(reload__changes_who_is_a_node), TEST(names__are_those_of_the_brokers_host),
          TEST(name_server__that_is_away_is_503))
