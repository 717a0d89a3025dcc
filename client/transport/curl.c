/* SPDX-License-Identifier: Apache-2.0 */
/* Over TCP, with or without TLS: libcurl has the connections. It is opened at run time, by programs
 * whose broker is not on a Unix socket: loading it and the thirty libraries below it takes longer
 * than all that a program asks. Never closed: it may have a thread in a name's look-up that is not
 * waited for. */

#include "base/library.h"
#include "client/text.h"
#include "client/transport/broker.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* ---- the library ---- */

/* The functions that are used, by their names without "curl_". */
/* clang-format off */
#define LIBCURL_FUNCTIONS(X)                                                                       \
    X(global_init) X(version_info) X(slist_append) X(slist_free_all)                               \
    X(easy_init) X(easy_reset) X(easy_cleanup) X(easy_setopt) X(easy_getinfo) X(easy_strerror)     \
    X(multi_init) X(multi_cleanup) X(multi_setopt) X(multi_add_handle) X(multi_remove_handle)      \
    X(multi_socket_action) X(multi_timeout) X(multi_info_read)
/* clang-format on */

/* Of the types that curl's header gives them. */
static struct {
#define MEMBER(name) __typeof__(&curl_##name) name;
    LIBCURL_FUNCTIONS(MEMBER)
#undef MEMBER
} curl;

static const struct library_function functions[] = {
#define FUNCTION(name) {"curl_" #name, &curl.name},
    LIBCURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {0}};

/* One that waits when it looks a name up (built so by hand) is none: nothing here may wait. */
static bool begin_curl(void)
{
    return curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
           (curl.version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS) != 0;
}

static struct library library = {.name = "libcurl.so.4",
                                 .functions = functions,
                                 .begin = begin_curl,
                                 .lock = PTHREAD_MUTEX_INITIALIZER};

static int open_curl(struct mcast_error *error)
{
    const char *fault = library_fault(&library);
    if (!fault)
        return 0;
    return fault_set_word(error, MCAST_UNREACHABLE, "libcurl",
                          "%s cannot be used (%s): it is needed for a broker at https:// or "
                          "http://; install it (Debian: libcurl4), or use the broker's Unix socket",
                          library.name, fault);
}

/* ---- transfers ---- */

/* One request in flight. */
struct transfer {
    struct request *request;
    struct transport *transport;
    CURL *easy;
    struct curl_slist *headers;
    char words[CURL_ERROR_SIZE];
};

struct curl_transport {
    struct transport transport; /* first, so that the two have one address */
    CURLM *multi;
    CURL *spare; /* of the last request: it knows the TLS session, which makes the next one short */
};

/* When curl is due. Asked for, because curl's callback is not called when a
 * time that it has named before was not quite over (whole milliseconds are too coarse for it). */
static void update_due(struct curl_transport *self)
{
    long timeout_ms = -1;
    curl.multi_timeout(self->multi, &timeout_ms);
    self->transport.due_ms = timeout_ms < 0 ? INT64_MAX : later_now_ms() + timeout_ms;
}

/* ---- callbacks and options ---- */

static size_t on_body(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    struct transfer *transfer = data;
    long status = 0;
    curl.easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return request_take_body(transfer->request, (int)status, bytes, length) ? length : 0;
}

/* The answer's type has to be known before the first piece of its body, hence not
 * CURLINFO_CONTENT_TYPE afterwards. */
static size_t on_header(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    const struct transfer *transfer = data;
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)length, bytes);
    char *colon = strchr(line, ':');
    if (!colon)
        return length;
    *colon = '\0';
    request_take_header(transfer->request, line, colon + 1 + strspn(colon + 1, " \t"));
    return length;
}

static int on_reached(void *data, char *peer, char *local, int peer_port, int local_port)
{
    (void)peer, (void)local, (void)peer_port, (void)local_port;
    const struct transfer *transfer = data;
    transport_connected(transfer->transport, transfer->request);
    return CURL_PREREQFUNC_OK;
}

#define SET(option, value) failed |= curl.easy_setopt(easy, CURLOPT_##option, value) != CURLE_OK

/* The server is verified whatever happens: there is no way to turn that off. */
static bool prepare_tls(CURL *easy, const struct credentials *credentials)
{
    const char *ca = credentials->is[CACERT], *none = NULL;
    struct stat status;
    bool failed = false;
    SET(SSL_VERIFYPEER, 1L);
    SET(SSL_VERIFYHOST, 2L);
    SET(SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (ca) {
        bool folder = stat(ca, &status) == 0 && S_ISDIR(status.st_mode);
        SET(CAINFO, folder ? none : ca);
        SET(CAPATH, folder ? ca : none);
    }
    if (credentials->is[CERT]) {
        SET(SSLCERT, credentials->is[CERT]);
        SET(SSLKEY, credentials->is[KEY]);
    }
    return !failed;
}

/* Where and how. */
static bool prepare_connection(CURL *easy, const struct request *request)
{
    const struct endpoint *endpoint = request->endpoint;
    bool failed = false;
    char *url = NULL;
    if (asprintf(&url, "%s%s", endpoint->base, request->call.path) < 0)
        return false;
    SET(URL, url);
    free(url);
    SET(PROXY, "");
    SET(PROTOCOLS_STR, endpoint->tls ? "https" : "http");
    SET(USERAGENT, "libmcast/" MCAST_VERSION);
    SET(PATH_AS_IS, 1L);
    SET(NOSIGNAL, 1L);
    SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(TCP_KEEPALIVE, 1L); /* a stream may be silent for long */
    SET(CONNECTTIMEOUT_MS, (long)request->connect_ms);
    /* A look-up of a name that hangs is not waited for when the request is given up. Older ones
     * than libcurl 7.87 do not know it. */
    (void)curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    return !failed && (!endpoint->tls || prepare_tls(easy, &request->peer->credentials));
}

static bool add_header(struct transfer *transfer, const char *line)
{
    struct curl_slist *longer = curl.slist_append(transfer->headers, line);
    if (longer)
        transfer->headers = longer;
    return longer;
}

/* Cuts the head into its lines. */
static bool prepare_headers(struct transfer *transfer, char *head)
{
    char *rest = NULL;
    bool ok = add_header(transfer, "Expect:"); /* no asking for leave before a large body */
    for (char *line = strtok_r(head, "\r\n", &rest); ok && line;
         line = strtok_r(NULL, "\r\n", &rest))
        ok = add_header(transfer, line);
    return ok;
}

static bool prepare_transfer(struct transfer *transfer)
{
    const struct request *request = transfer->request;
    const struct call *call = &request->call;
    CURL *easy = transfer->easy;
    bool failed = false;
    curl.easy_reset(easy);
    if (!prepare_headers(transfer, request->head) || !prepare_connection(easy, request))
        return false;
    SET(CUSTOMREQUEST, call->method);
    SET(PRIVATE, transfer);
    SET(FRESH_CONNECT, request->fresh ? 1L : 0L);
    SET(PREREQFUNCTION, on_reached);
    SET(PREREQDATA, transfer);
    SET(HTTPHEADER, transfer->headers);
    SET(ERRORBUFFER, transfer->words);
    SET(WRITEFUNCTION, on_body);
    SET(WRITEDATA, transfer);
    SET(HEADERFUNCTION, on_header);
    SET(HEADERDATA, transfer);
    if (call->body) {
        SET(POSTFIELDS, call->body);
        SET(POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
    }
    return !failed;
}

static void destroy_transfer(struct curl_transport *self, struct transfer *transfer)
{
    /* a token may be among them */
    for (struct curl_slist *line = transfer->headers; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl.slist_free_all(transfer->headers);
    if (self->spare)
        curl.easy_cleanup(transfer->easy);
    else
        self->spare = transfer->easy;
    transfer->request->connection = NULL;
    free(transfer);
}

static enum transport_start curl_start(struct transport *transport, struct request *request)
{
    struct curl_transport *self = (struct curl_transport *)transport;
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        return TRANSPORT_NO_MEMORY;
    transfer->request = request;
    transfer->transport = transport;
    transfer->easy = self->spare ? self->spare : curl.easy_init();
    self->spare = NULL;
    if (!transfer->easy || !prepare_transfer(transfer) ||
        curl.multi_add_handle(self->multi, transfer->easy) != CURLM_OK) {
        destroy_transfer(self, transfer);
        return TRANSPORT_NO_MEMORY;
    }
    request->connection = transfer;
    update_due(self);
    return TRANSPORT_STARTED;
}

static void curl_abandon(struct transport *transport, struct request *request)
{
    struct curl_transport *self = (struct curl_transport *)transport;
    struct transfer *transfer = request->connection;
    curl.multi_remove_handle(self->multi, transfer->easy);
    destroy_transfer(self, transfer);
    update_due(self);
}

static enum trouble_kind trouble_of(CURLcode code)
{
    static const struct {
        CURLcode code;
        enum trouble_kind kind;
    } kinds[] = {
        {CURLE_OK, TROUBLE_NONE},
        {CURLE_OUT_OF_MEMORY, TROUBLE_NOMEM},
        {CURLE_OPERATION_TIMEDOUT, TROUBLE_ABSENT}, /* the time for a connection; else broker.c's */
        {CURLE_COULDNT_CONNECT, TROUBLE_ABSENT},
        {CURLE_COULDNT_RESOLVE_HOST, TROUBLE_NO_HOST},
        {CURLE_GOT_NOTHING, TROUBLE_SILENT},
        {CURLE_SEND_ERROR, TROUBLE_BROKEN},
        {CURLE_RECV_ERROR, TROUBLE_BROKEN},
        {CURLE_PARTIAL_FILE, TROUBLE_BROKEN},
        {CURLE_PEER_FAILED_VERIFICATION, TROUBLE_DISTRUST},
        {CURLE_SSL_CONNECT_ERROR, TROUBLE_HANDSHAKE},
        {CURLE_SSL_CACERT_BADFILE, TROUBLE_CA_FILE},
        {CURLE_SSL_CERTPROBLEM, TROUBLE_OWN_FILES},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].code == code)
            return kinds[i].kind;
    return TROUBLE_GARBLED;
}

static void end_transfer(struct curl_transport *self, struct transfer *transfer, CURLcode code)
{
    struct request *request = transfer->request;
    long status = 0, os_error = 0;
    const bool late = code == CURLE_OPERATION_TIMEDOUT && request->connected;
    request_set_trouble(request, late ? TROUBLE_LATE : trouble_of(code),
                        transfer->words[0] ? transfer->words : curl.easy_strerror(code));
    curl.easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &os_error);
    curl.easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    request->trouble.os_error = (int)os_error;
    request->answer.status = code == CURLE_OK ? (int)status : 0;
    curl.multi_remove_handle(self->multi, transfer->easy);
    destroy_transfer(self, transfer);
    transport_end(&self->transport, request);
}

/* ---- driven by the broker ---- */

/* Whether it is connected to a broker, rather than one by which curl learns of a name. */
static bool is_open(curl_socket_t fd)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer, size = sizeof(int);
    int type = 0;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
           getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.ss_family != AF_UNIX;
}

/* A broker with thousands of clients accepts them all at once and serves them one after the other.
 * So a connection that is open is waited for as long as for an answer; connect_ms is for one that
 * does not open. curl compares with this time again whenever it has something to do. */
static void note_open(CURL *easy)
{
    struct transfer *transfer = NULL;
    curl.easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    if (!transfer || transfer->request->connected)
        return;
    const int64_t limit_ms = transfer->request->limit_ms;
    transfer->request->connected = true;
    (void)curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)(limit_ms > 0 ? limit_ms : REQUEST_TIMEOUT_MS));
}

/* Its tag is the descriptor, and odd (TRANSPORT_REMOTE). One that does not fit into the set is a
 * request that ends with its time limit. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *known)
{
    (void)known;
    const struct transport *transport = data;
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (what == CURL_POLL_REMOVE)
        transport_unwatch(transport, fd);
    else
        (void)transport_watch(transport, fd, (uint64_t)fd << 1 | TRANSPORT_REMOTE, events);
    if ((events & EPOLLIN) && is_open(fd)) /* as long as it connects, curl waits for EPOLLOUT */
        note_open(easy);
    return 0;
}

/* Then those that have come to their ends. */
static void curl_serve(struct transport *transport, uint64_t tag, uint32_t events)
{
    struct curl_transport *self = (struct curl_transport *)transport;
    const CURLMsg *message;
    int count, mask = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
                      (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                      (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    curl.multi_socket_action(
        self->multi, tag == TRANSPORT_TIME ? CURL_SOCKET_TIMEOUT : (curl_socket_t)(tag >> 1), mask,
        &count);
    while ((message = curl.multi_info_read(self->multi, &count))) {
        struct transfer *transfer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        end_transfer(self, transfer, message->data.result);
    }
    update_due(self);
}

static void curl_destroy(struct transport *transport)
{
    struct curl_transport *self = (struct curl_transport *)transport;
    curl.easy_cleanup(self->spare);
    curl.multi_cleanup(self->multi);
    free(self);
}

static const struct transport_kind kind = {curl_destroy, curl_start, curl_abandon, curl_serve};

int curl_create(struct transport **out, struct transports *all, struct mcast_error *error)
{
    int rc = open_curl(error);
    if (rc < 0)
        return rc;
    struct curl_transport *self = calloc(1, sizeof *self);
    if (!self)
        return fault_nomem(error);
    transport_init(&self->transport, &kind, all);
    self->multi = curl.multi_init();
    if (!self->multi ||
        curl.multi_setopt(self->multi, CURLMOPT_SOCKETFUNCTION, on_socket) != CURLM_OK ||
        curl.multi_setopt(self->multi, CURLMOPT_SOCKETDATA, &self->transport) != CURLM_OK) {
        curl_destroy(&self->transport);
        return fault_nomem(error);
    }
    *out = &self->transport;
    return 0;
}
