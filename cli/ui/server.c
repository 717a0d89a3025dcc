/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ui/server.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/ui/gate.h"
#include "cli/ui/pass.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 64,
    CONNECTION_BYTES = 32768,
    IDLE_S = 30, /* the broker's event streams say that they live each 15 s */
};

/* libmicrohttpd is opened here and not linked: with GnuTLS below it, it takes longer to load than
 * the commands do that each job calls. */
/* clang-format off */
#define MICROHTTPD_FUNCTIONS(X)                                                                    \
    X(start_daemon) X(get_daemon_info) X(lookup_connection_value) X(create_response_from_buffer)   \
    X(create_response_from_pipe) X(add_response_header) X(queue_response) X(destroy_response)
/* clang-format on */

static struct {
#define MEMBER(name) __typeof__(&MHD_##name) name;
    MICROHTTPD_FUNCTIONS(MEMBER)
#undef MEMBER
} mhd;

static const struct library_function functions[] = {
#define FUNCTION(name) {"MHD_" #name, &mhd.name},
    MICROHTTPD_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {0}};

static struct library library = {
    .name = "libmicrohttpd.so.12", .functions = functions, .lock = PTHREAD_MUTEX_INITIALIZER};

struct server {
    const struct call *call;
    uint16_t port;
    bool write;
    pthread_mutex_t lock; /* of the address' key, which changes */
    char address_key[GATE_KEY_SIZE], session_key[GATE_KEY_SIZE];
};

/* ---- keys ---- */

static void make_key(char out[GATE_KEY_SIZE])
{
    unsigned char bytes[GATE_KEY_SIZE / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        abort();
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* A browser does not send what follows '#'. */
static void print_address(const struct server *server, const char *what)
{
    printf("%s: http://127.0.0.1:%u/#%s\n", what, server->port, server->address_key);
    fflush(stdout);
}

/* ---- answers ---- */

static enum MHD_Result queue(struct MHD_Connection *connection, int status, const char *type,
                             struct MHD_Response *response)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
         "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"}};
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        mhd.add_response_header(response, headers[i][0], headers[i][1]);
    mhd.add_response_header(response, "Content-Type", type);
    const enum MHD_Result rc = mhd.queue_response(connection, (unsigned)status, response);
    mhd.destroy_response(response);
    return rc;
}

/* Frees the object. */
static enum MHD_Result answer_json(struct MHD_Connection *connection, int status, json_t *object)
{
    char *text = memory_must(json_dumps(memory_must(object), 0));
    json_decref(object);
    return queue(connection, status,
                 status == MHD_HTTP_OK ? "application/json" : "application/problem+json",
                 mhd.create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result answer_problem(struct MHD_Connection *connection, int status,
                                      const char *code, const char *detail)
{
    json_t *problem = json_pack("{s:i,s:s,s:s}", "status", status, "code", code, "detail", detail);
    if (!problem) /* it repeats bytes of the request, which are no UTF-8 */
        problem = json_pack("{s:i,s:s,s:s}", "status", status, "code", "invalid", "detail",
                            "the request has bytes that are no UTF-8");
    return answer_json(connection, status, problem);
}

static enum MHD_Result answer_file(struct MHD_Connection *connection, const char *target,
                                   const char *type)
{
    const char *text = text_find(target[1] ? target + 1 : "ui.html", "");
    return queue(connection, MHD_HTTP_OK, type,
                 mhd.create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                 MHD_RESPMEM_PERSISTENT));
}

/* What the broker, or libmcast, says is wrong. */
static enum MHD_Result answer_error(struct MHD_Connection *connection,
                                    const struct mcast_error *error)
{
    if (error->code == MCAST_USAGE)
        return answer_problem(connection, MHD_HTTP_BAD_REQUEST, "invalid", error->text);
    return answer_problem(connection, error->status ? error->status : MHD_HTTP_BAD_GATEWAY,
                          error->word, error->text);
}

static enum MHD_Result answer_broker(const struct server *server, const char *target,
                                     const char *type, struct MHD_Connection *connection)
{
    struct mcast_error error;
    const int from = pass_begin(server->call, target, type, &error);
    if (from < 0)
        return answer_error(connection, &error);
    return queue(connection, MHD_HTTP_OK, type, mhd.create_response_from_pipe(from));
}

/* path: decoded, "/v1/clusters/CLUSTER/jobs/JOB"; target ends with "?number=N". On the connection's
 * own thread. */
static enum MHD_Result answer_release(const struct server *server, const char *path,
                                      const char *target, struct MHD_Connection *connection)
{
    struct mcast_reservation *seen = NULL;
    struct call call = *server->call;
    char cluster[64];
    int job = 0;
    call.handle = NULL;
    if (sscanf(path, "/v1/clusters/%63[^/]/jobs/%n", cluster, &job) != 1 || job == 0)
        return answer_problem(connection, MHD_HTTP_NOT_FOUND, "not-found",
                              "the path names no cluster and no job");
    const uint64_t number = strtoull(strrchr(target, '=') + 1, NULL, 10);
    int rc = command_open(&call);
    if (rc == 0)
        rc = mcast_release_number(call.handle, cluster, path + job, number, &seen, &call.error);
    mcast_close(call.handle);
    if (rc != 0)
        return answer_error(connection, &call.error);
    json_t *answer = json_pack("{s:s?,s:s?,s:s?}", "cluster", seen->cluster, "job", seen->job,
                               "state", seen->state);
    mcast_reservation_free(seen);
    return answer_json(connection, MHD_HTTP_OK, answer);
}

/* ---- requests ---- */

/* Judges, and replaces the address' key when it was used: it is good once. */
static struct gate_verdict judge(struct server *server, const struct gate_request *request)
{
    pthread_mutex_lock(&server->lock);
    const struct gate_keys keys = {secret_of(server->address_key), secret_of(server->session_key)};
    const struct gate_verdict verdict = gate_judge(request, &keys, server->write);
    if (verdict.kind == GATE_SESSION) {
        make_key(server->address_key);
        print_address(server, "In use. For another tab, or after a reload");
    }
    pthread_mutex_unlock(&server->lock);
    return verdict;
}

/* Called before a body is read, and never again for a request: each is answered at once. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **target)
{
    struct server *server = arg;
    const struct {
        const char *name;
        size_t place;
    } headers[] = {{"Host", offsetof(struct gate_request, host)},
                   {"Origin", offsetof(struct gate_request, origin)},
                   {"Sec-Fetch-Site", offsetof(struct gate_request, site)},
                   {"Mcast-Key", offsetof(struct gate_request, key)}};
    struct gate_request request = {.method = method, .target = *target};
    (void)version, (void)upload, (void)upload_size;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        const char *value =
            mhd.lookup_connection_value(connection, MHD_HEADER_KIND, headers[i].name);
        memcpy((char *)&request + headers[i].place, &value, sizeof value);
    }
    const char *length = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    request.body =
        (length && strcmp(length, "0") != 0) ||
        mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") != NULL;
    const struct gate_verdict verdict = judge(server, &request);
    switch (verdict.kind) {
    case GATE_PAGE:
        return answer_file(connection, request.target, verdict.type);
    case GATE_SESSION:
        return answer_json(
            connection, MHD_HTTP_OK,
            json_pack("{s:s,s:b}", "key", server->session_key, "write", server->write));
    case GATE_BROKER:
        return answer_broker(server, request.target, verdict.type, connection);
    case GATE_RELEASE:
        return answer_release(server, path, request.target, connection);
    default:
        return answer_problem(connection, verdict.status, verdict.code, verdict.detail);
    }
}

/* The target as it came: what libmicrohttpd calls the URL is decoded, and has no query. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
    (void)arg, (void)connection;
    return memory_text(target);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **target,
                         enum MHD_RequestTerminationCode how)
{
    (void)arg, (void)connection, (void)how;
    free(*target);
    *target = NULL;
}

/* ---- the program ---- */

static int fail(struct call *call, const char *text)
{
    call->error = (struct mcast_error){.code = MCAST_USAGE};
    snprintf(call->error.text, sizeof call->error.text, "%s", text);
    return MCAST_USAGE;
}

static int fail_to_listen(struct call *call, uint16_t port)
{
    char text[128] = "cannot listen on 127.0.0.1: see ulimit -n, or name a --port";
    if (port != 0)
        snprintf(text, sizeof text,
                 "cannot listen on 127.0.0.1:%u; is the port in use? Leave --port out, or name "
                 "another one",
                 port);
    return fail(call, text);
}

static struct MHD_Daemon *start(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(server->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return mhd.start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, on_request,
        server, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
}

int server_run(struct call *call, uint16_t port, bool write)
{
    static struct server server = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* its threads end last */
    sigset_t ends;
    int which;
    if (library_fault(&library))
        return fail(call, "mcastctl ui needs libmicrohttpd, which cannot be loaded; install it "
                          "(Debian: libmicrohttpd12)");
    server.call = call;
    server.port = port;
    server.write = write;
    make_key(server.address_key);
    make_key(server.session_key);
    struct MHD_Daemon *daemon = start(&server);
    if (!daemon)
        return fail_to_listen(call, port);
    server.port = mhd.get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    print_address(&server, "Open this, once");
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigwait(&ends, &which);
    _exit(MCAST_EXIT_OK); /* threads may be in the midst of requests */
}
