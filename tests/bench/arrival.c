/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/arrival.h"

#include "tests/bench/metric.h"
#include "tests/bench/smalljobs.h"
#include "tests/bench/stall.h"
#include "tests/system/http/testcert.h"
#include "tests/system/http/testmunged.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <munge.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TEXT_SIZE = 512,
    CREDENTIAL_SIZE = 512,
    CONFIG_SIZE = 1024,
    READY_MAX = 256,
    LOOK_MS = 5,
    STALLED_MS = 60000,
    QUIET_MS = 1000,      /* in which small jobs start alone */
    CONNECT_MS = 5000,    /* as libmcast: until there is a connection, */
    ANSWER_MS = 30000,    /* and an answer */
    PAUSE_FIRST_MS = 500, /* of a node that was put off; doubled each time, */
    PAUSE_LONGEST_MS = 4000
};

enum step { STEP_AWAY, STEP_HANDSHAKE, STEP_ASK, STEP_LISTEN, STEP_DONE };

struct node {
    X509 *cert;
    EVP_PKEY *key;
    char *credential; /* not used yet; or NULL */
    SSL *session;     /* NULL: no connection */
    int fd;
    bool open; /* the kernel has connected it */
    enum step step;
    int64_t comes_ns; /* when it came; while away: not before */
    int64_t pause_ms;
};

struct crowd {
    struct node *nodes;
    size_t count, at_once, in_flight, done;
    SSL_CTX *tls;
    munge_ctx_t munge;
    bool certificates;
    int epoll, port;
    int64_t looked_ns;
    uint64_t number; /* of the reservation */
    struct arrival *out;
    struct report *report;
    bool failed;
};

/* ---- testcert ---- */

/* Folder/name of the broker's own certificate and of the authority's. */
static int write_papers(const struct authority *authority, const char *folder)
{
    const struct testcert server = {.common = "broker", .purpose = GNUTLS_KP_TLS_WWW_SERVER};
    char *pem = authority_pem(authority);
    const int result = folder_write(folder, "ca.pem", 0600, pem);

    gnutls_free(pem);
    if (result == 0)
        authority_write(authority, &server, folder, "server");
    return result;
}

static int give_papers(struct node *node, const struct authority *authority, size_t index)
{
    char name[32], *key;
    const struct testcert testcert = {.common = name, .purpose = GNUTLS_KP_TLS_WWW_CLIENT};

    snprintf(name, sizeof name, "elcap%zu", index + 1);
    char *pem = authority_issue(authority, &testcert, &key);
    BIO *cert_text = BIO_new_mem_buf(pem, -1), *key_text = BIO_new_mem_buf(key, -1);
    node->cert = PEM_read_bio_X509(cert_text, NULL, NULL, NULL);
    node->key = PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL);
    BIO_free(cert_text);
    BIO_free(key_text);
    gnutls_free(pem);
    gnutls_free(key);
    if (node->cert && node->key)
        return 0;
    fprintf(stderr, "the certificate of %s cannot be read\n", name);
    return -1;
}

/* ---- one node ---- */

static size_t index_of(const struct crowd *crowd, const struct node *node)
{
    return (size_t)(node - crowd->nodes);
}

static void hang_up(struct node *node)
{
    if (!node->session)
        return;
    SSL_free(node->session);
    close(node->fd);
    node->session = NULL;
}

/* Each node has an address, of the many that a machine has for itself. */
static int bind_own(int fd, size_t index)
{
    const struct sockaddr_in own = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(0x7f010001u + (uint32_t)index)};
    return bind(fd, (const struct sockaddr *)&own, sizeof own);
}

static int connect_on(const struct crowd *crowd, struct node *node)
{
    const struct sockaddr_in broker = {.sin_family = AF_INET,
                                       .sin_port = htons((uint16_t)crowd->port),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = node};

    node->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (node->fd < 0)
        return -1;
    if (bind_own(node->fd, index_of(crowd, node)) < 0 ||
        (connect(node->fd, (const struct sockaddr *)&broker, sizeof broker) < 0 &&
         errno != EINPROGRESS) ||
        epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, node->fd, &event) < 0 ||
        !(node->session = SSL_new(crowd->tls))) {
        close(node->fd);
        return -1;
    }
    return 0;
}

static int come(struct crowd *crowd, struct node *node)
{
    if (connect_on(crowd, node) < 0) {
        perror("a node's connection");
        return -1;
    }
    if (crowd->certificates) {
        SSL_use_certificate(node->session, node->cert);
        SSL_use_PrivateKey(node->session, node->key);
    }
    SSL_set_fd(node->session, node->fd);
    node->step = STEP_HANDSHAKE;
    node->open = false;
    node->comes_ns = await_now_ns();
    crowd->in_flight++;
    return 0;
}

static void go_away(struct crowd *crowd, struct node *node)
{
    hang_up(node);
    node->step = STEP_AWAY;
    crowd->in_flight--;
    /* Not all that were put off together come again together. */
    node->comes_ns = await_now_ns() + (node->pause_ms + rand() % node->pause_ms) * 500000;
    node->pause_ms = node->pause_ms * 2 < PAUSE_LONGEST_MS ? node->pause_ms * 2 : PAUSE_LONGEST_MS;
}

static void take_status(struct crowd *crowd, struct node *node, const char *answer)
{
    const int status = (int)strtol(answer + 9, NULL, 10);

    if (status == 200) {
        hang_up(node);
        node->step = STEP_DONE;
        crowd->in_flight--;
        crowd->done++;
    } else if (status == 503) {
        if (crowd->out->refused++ == 0)
            printf("  node %zu was sent away: %s\n", index_of(crowd, node) + 1,
                   strstr(answer, "\r\n\r\n") ? strstr(answer, "\r\n\r\n") + 4 : answer);
        go_away(crowd, node);
    } else {
        fprintf(stderr, "node %zu was answered: %s\n", index_of(crowd, node) + 1, answer);
        crowd->failed = true;
    }
}

static void write_path(char path[TEXT_SIZE], size_t index)
{
    snprintf(path, TEXT_SIZE, "/v1/clusters/elcap/jobs/whole/nodes/elcap%zu", index + 1);
}

/* For one report of the node. */
static int make_credential(const struct crowd *crowd, struct node *node)
{
    char path[TEXT_SIZE], payload[2 * TEXT_SIZE];

    write_path(path, index_of(crowd, node));
    const int length = snprintf(payload, sizeof payload, "mcastd1 PUT %s", path);
    const munge_err_t code = munge_encode(&node->credential, crowd->munge, payload, length);
    if (code == EMUNGE_SUCCESS)
        return 0;
    fprintf(stderr, "no MUNGE credential: %s\n", munge_strerror(code));
    return -1;
}

/* What a node says after a job. */
static int ask(struct crowd *crowd, struct node *node)
{
    char path[TEXT_SIZE], body[TEXT_SIZE], proof[CREDENTIAL_SIZE] = "", text[4 * TEXT_SIZE];

    if (crowd->munge) {
        if (!node->credential && make_credential(crowd, node) < 0)
            crowd->failed = true;
        snprintf(proof, sizeof proof, "Authorization: Munge %s\r\n", node->credential);
    }
    write_path(path, index_of(crowd, node));
    const int length =
        snprintf(body, sizeof body, "{\"state\":\"destroyed\",\"number\":%" PRIu64 ",\"order\":1}",
                 crowd->number);
    const int size = snprintf(text, sizeof text,
                              "PUT %s HTTP/1.1\r\nHost: mcastd\r\n%sContent-Type: "
                              "application/json\r\nContent-Length: %d\r\n\r\n%s",
                              path, proof, length, body);
    const int result = SSL_write(node->session, text, size);
    if (result > 0) {
        free(node->credential); /* a second time it would be refused */
        node->credential = NULL;
    }
    return result;
}

/* As far as it goes now: above 0, or as SSL_get_error wants it. */
static int go_on(struct crowd *crowd, struct node *node)
{
    char answer[2 * TEXT_SIZE];
    const int on = 1;
    int result = 1;

    if (!node->open)
        setsockopt(node->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    node->open = true;
    if (node->step == STEP_HANDSHAKE && (result = SSL_connect(node->session)) > 0)
        node->step = STEP_ASK;
    if (node->step == STEP_ASK && (result = ask(crowd, node)) > 0)
        node->step = STEP_LISTEN;
    if (node->step != STEP_LISTEN)
        return result;
    result = SSL_read(node->session, answer, sizeof answer - 1);
    if (result > 0) {
        answer[result] = '\0';
        take_status(crowd, node, answer);
    }
    return result;
}

static void turn(struct crowd *crowd, struct node *node)
{
    ERR_clear_error();
    const int result = go_on(crowd, node);
    const int wants = node->session ? SSL_get_error(node->session, result) : SSL_ERROR_NONE;
    struct epoll_event event = {.events = wants == SSL_ERROR_WANT_WRITE ? EPOLLOUT : EPOLLIN,
                                .data.ptr = node};

    if (!node->session)
        return; /* it has its answer */
    if (wants == SSL_ERROR_WANT_READ || wants == SSL_ERROR_WANT_WRITE) {
        epoll_ctl(crowd->epoll, EPOLL_CTL_MOD, node->fd, &event);
        return;
    }
    crowd->out->closed++;
    go_away(crowd, node);
}

/* ---- all of them ---- */

static bool is_in_flight(const struct node *node)
{
    return node->step != STEP_AWAY && node->step != STEP_DONE;
}

/* Who comes, and who gives up as libmcast does. */
static int look_around(struct crowd *crowd)
{
    const int64_t now_ns = await_now_ns();

    crowd->looked_ns = now_ns;
    for (size_t i = 0; i < crowd->count; i++) {
        struct node *node = &crowd->nodes[i];
        const int64_t limit_ms = node->open ? ANSWER_MS : CONNECT_MS;

        if (is_in_flight(node) && node->comes_ns < now_ns - limit_ms * 1000000) {
            crowd->out->given_up++;
            go_away(crowd, node);
        } else if (node->step == STEP_AWAY && node->comes_ns <= now_ns &&
                   crowd->in_flight < crowd->at_once && come(crowd, node) < 0) {
            return -1;
        }
    }
    return 0;
}

static int drive(struct crowd *crowd)
{
    struct epoll_event ready[READY_MAX];
    int64_t heard_ns = await_now_ns();

    while (crowd->done < crowd->count && !crowd->failed) {
        if (await_now_ns() - crowd->looked_ns >= LOOK_MS * 1000000 && look_around(crowd) < 0)
            return -1;
        const int count = epoll_wait(crowd->epoll, ready, READY_MAX, LOOK_MS);
        if (count > 0)
            heard_ns = await_now_ns();
        if (await_now_ns() - heard_ns > STALLED_MS * 1000000LL) {
            fprintf(stderr, "no answer for %d s\n", STALLED_MS / 1000);
            return -1;
        }
        for (int i = 0; i < count; i++)
            turn(crowd, ready[i].data.ptr);
    }
    return crowd->failed ? -1 : 0;
}

static void disperse(struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->count; i++) {
        hang_up(&crowd->nodes[i]);
        X509_free(crowd->nodes[i].cert);
        EVP_PKEY_free(crowd->nodes[i].key);
        free(crowd->nodes[i].credential);
    }
    free(crowd->nodes);
    SSL_CTX_free(crowd->tls);
    if (crowd->munge)
        munge_ctx_destroy(crowd->munge);
    if (crowd->epoll >= 0)
        close(crowd->epoll);
}

static int assemble(struct crowd *crowd, const struct arrival_options *options,
                    const struct authority *authority)
{
    struct rlimit files;

    signal(SIGPIPE, SIG_IGN); /* the broker may hang up first */
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    crowd->epoll = epoll_create1(EPOLL_CLOEXEC);
    crowd->nodes = calloc(options->nodes, sizeof *crowd->nodes);
    crowd->tls = SSL_CTX_new(TLS_client_method());
    if (crowd->epoll < 0 || !crowd->nodes || !crowd->tls) {
        perror("a crowd of nodes");
        return -1;
    }
    crowd->count = options->nodes;
    crowd->at_once = options->at_once;
    crowd->certificates = !options->names;
    for (size_t i = 0; i < crowd->count; i++) {
        crowd->nodes[i].pause_ms = PAUSE_FIRST_MS;
        if (crowd->certificates && give_papers(&crowd->nodes[i], authority, i) < 0)
            return -1;
    }
    return 0;
}

/* They make their credentials themselves, elsewhere, before they come. */
static int make_credentials(struct crowd *crowd, const struct testmunged *munged)
{
    if (!munged)
        return 0;
    crowd->munge = munge_ctx_create();
    if (!crowd->munge ||
        munge_ctx_set(crowd->munge, MUNGE_OPT_SOCKET, testmunged_socket(munged)) != EMUNGE_SUCCESS)
        return -1;
    for (size_t i = 0; i < crowd->count; i++)
        if (make_credential(crowd, &crowd->nodes[i]) < 0)
            return -1;
    return 0;
}

/* The load steadily, or all within a time. */
static void set_times(struct crowd *crowd, const struct arrival_options *options)
{
    const int64_t now_ns = await_now_ns();

    for (size_t i = 0; i < crowd->count; i++)
        crowd->nodes[i].comes_ns =
            now_ns + (int64_t)(options->spread_ms * 1000000.0 * (double)i / (double)crowd->count);
}

/* ---- where they come to ---- */

static int start_job(struct testbed *testbed, struct crowd *crowd)
{
    char body[TEXT_SIZE];
    struct plainhttp_reply reply;

    snprintf(body, sizeof body, "{\"uid\":5588,\"nodes\":\"elcap[1-%zu]\"}", crowd->count);
    const int status =
        plainhttp_call(testbed_http(testbed), "PUT", "/v1/clusters/elcap/jobs/whole", body, &reply);
    crowd->number = (uint64_t)json_integer_value(json_object_get(reply.json, "number"));
    plainhttp_reply_release(&reply);
    crowd->port = testbed_port(testbed, " listen=127.0.0.1:");
    if (status == 201 && crowd->port > 0)
        return 0;
    fprintf(stderr, "the job of all nodes does not start (%d)\n", status);
    return -1;
}

static int start_broker(struct testbed *testbed, const char *names)
{
    if (names)
        setenv("LD_PRELOAD", names, 1);
    const int result = testbed_start_broker(testbed);
    unsetenv("LD_PRELOAD");
    return result;
}

/* How long the broker's loop, its first thread, has been runnable while others had the processors.
 */
static long long loop_waited_ns(const struct testbed *testbed)
{
    char path[TEXT_SIZE];
    long long waited_ns = 0;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process_pid(testbed_broker(testbed)));
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%*d %lld", &waited_ns) != 1)
        fprintf(stderr, "%s cannot be read\n", path);
    if (file)
        fclose(file);
    return waited_ns;
}

static int drive_timed(struct testbed *testbed, struct crowd *crowd,
                       const struct arrival_options *options)
{
    const long long cpu = process_cpu_ns(testbed_broker(testbed));
    const long long waited = loop_waited_ns(testbed);
    const int64_t began = await_now_ns();

    set_times(crowd, options);
    if (drive(crowd) < 0)
        return -1;
    crowd->out->seconds = (double)(await_now_ns() - began) / 1e9;
    crowd->out->cpu_us =
        (double)(process_cpu_ns(testbed_broker(testbed)) - cpu) / 1e3 / (double)crowd->count;
    report_figure(options->report, "of a crowd's time, the loop waited for a processor", "%",
                  (double)(loop_waited_ns(testbed) - waited) / 1e7 / crowd->out->seconds);
    crowd->out->turn_cpu_ms = metric_value(testbed, "mcastd_loop_cpu_max_seconds") * 1e3;
    return absence_note(options->report, testbed, options->away);
}

static int measure(struct testbed *testbed, struct crowd *crowd,
                   const struct arrival_options *options)
{
    struct smalljobs *small = NULL;

    if (start_broker(testbed, options->names) < 0 || start_job(testbed, crowd) < 0)
        return -1;
    if (options->reserves && !(small = smalljobs_start(testbed_socket(testbed), QUIET_MS)))
        return -1;
    int result = drive_timed(testbed, crowd, options);
    if (small && smalljobs_end(small, &crowd->out->quiet_us, &crowd->out->median_us,
                               &crowd->out->p99_us) < 0)
        result = -1;
    return result == 0 ? testbed_stop_broker(testbed) : -1;
}

static void write_config(const struct arrival_options *options, const char *folder,
                         const struct testmunged *munged, char out[CONFIG_SIZE])
{
    int used = snprintf(out, CONFIG_SIZE,
                        "listen = 127.0.0.1:0\ntls_cert = %s/server.pem\ntls_key = %s/server.key\n",
                        folder, folder);
    if (options->connections_max > 0)
        used += snprintf(out + used, CONFIG_SIZE - (size_t)used, "connections_max = %u\n",
                         options->connections_max);
    if (munged)
        snprintf(out + used, CONFIG_SIZE - (size_t)used, "munge_socket = %s\n",
                 testmunged_socket(munged));
    else
        snprintf(out + used, CONFIG_SIZE - (size_t)used, "tls_client_ca = %s/ca.pem\n", folder);
}

int arrival_measure(const struct arrival_options *options, struct arrival *out)
{
    char folder[FOLDER_PATH_SIZE], lines[CONFIG_SIZE], nodes[64];
    const struct testbed_options testbed_options = {
        .mcastd = options->mcastd, .broker = lines, .clusters = nodes};
    struct crowd crowd = {.epoll = -1, .out = out};
    struct authority authority;

    *out = (struct arrival){0};
    if (folder_create(folder) < 0)
        return -1;
    struct testmunged *munged =
        options->names ? testmunged_start_at(folder, "munged", 'a', ARRIVAL_ORIGIN) : NULL;
    write_config(options, folder, munged, lines);
    snprintf(nodes, sizeof nodes, "nodes = elcap[1-%zu]\n", options->nodes); /* still of elcap */
    authority_init(&authority, "authority");
    struct testbed *testbed = testbed_create(&testbed_options);
    const int result = testbed && write_papers(&authority, folder) == 0 &&
                               assemble(&crowd, options, &authority) == 0 &&
                               make_credentials(&crowd, munged) == 0
                           ? measure(testbed, &crowd, options)
                           : -1;
    testbed_destroy(testbed);
    disperse(&crowd);
    testmunged_stop(munged);
    authority_release(&authority);
    folder_destroy(folder);
    return result;
}
