/* Over TCP, with or without TLS: libcurl has the connections. */

#include "client/fault.h"
#include "client/libcurl.h"
#include "client/reactor.h"
#include "client/way.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What carries one flight. */
struct hop {
    struct flight *flight;
    CURL *easy;
    struct curl_slist *headers;
    const struct libcurl *curl;
    char words[CURL_ERROR_SIZE];
};

struct way_curl {
    struct way way;
    const struct libcurl *curl;
    CURLM *multi;
    CURL *spare; /* of the last flight: it knows the TLS session, which makes the next one short */
    int64_t due_ms; /* when curl wants a turn */
};

static struct way_curl *own(struct way *way)
{
    return (struct way_curl *)way; /* its first member */
}

/* Asked for rather than told by curl's callback, which stays silent when a time that it has named
 * before was not quite over (whole milliseconds are too coarse for it). */
static void look(struct way_curl *own)
{
    long timeout_ms = -1;
    own->curl->multi_timeout(own->multi, &timeout_ms);
    own->due_ms = timeout_ms < 0 ? INT64_MAX : reactor_now_ms() + timeout_ms;
}

/* ---- what curl is told ---- */

static size_t on_body(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    struct hop *hop = data;
    long status = 0;
    hop->curl->easy_getinfo(hop->easy, CURLINFO_RESPONSE_CODE, &status);
    return flight_take_body(hop->flight, (int)status, bytes, length) ? length : 0;
}

/* The answer's type has to be known before the first piece of its body, hence not
 * CURLINFO_CONTENT_TYPE afterwards. */
static size_t on_header(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    struct hop *hop = data;
    const char *colon = memchr(bytes, ':', length);
    if (!colon)
        return length;
    size_t name = (size_t)(colon - bytes), value = name + 1;
    while (value < length && (bytes[value] == ' ' || bytes[value] == '\t'))
        value++;
    flight_take_header(hop->flight, bytes, name, bytes + value, length - value);
    return length;
}

static int on_reached(void *data, char *peer, char *local, int peer_port, int local_port)
{
    (void)peer, (void)local, (void)peer_port, (void)local_port;
    struct hop *hop = data;
    flight_reach(hop->flight);
    return CURL_PREREQFUNC_OK;
}

/* The server is verified whatever happens: there is no way to turn that off. */
static bool prepare_tls(const struct hop *hop)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = hop->curl->easy_setopt;
    const struct credentials *own = &hop->flight->peer->credentials;
    CURL *easy = hop->easy;
    struct stat status;
    bool ok = set(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
              set(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
              set(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK;
    if (ok && own->cacert) {
        bool folder = stat(own->cacert, &status) == 0 && S_ISDIR(status.st_mode);
        const char *none = NULL;
        ok = set(easy, CURLOPT_CAINFO, folder ? none : own->cacert) == CURLE_OK &&
             set(easy, CURLOPT_CAPATH, folder ? own->cacert : none) == CURLE_OK;
    }
    if (ok && own->cert)
        ok = set(easy, CURLOPT_SSLCERT, own->cert) == CURLE_OK &&
             set(easy, CURLOPT_SSLKEY, own->key) == CURLE_OK;
    return ok;
}

static bool prepare_url(const struct hop *hop)
{
    const char *base = hop->flight->peer->endpoint.base, *path = hop->flight->call->path;
    struct text url = {0};
    bool ok = text_add(&url, base, strlen(base)) && text_add(&url, path, strlen(path)) &&
              hop->curl->easy_setopt(hop->easy, CURLOPT_URL, text_string(&url)) == CURLE_OK;
    text_release(&url);
    return ok;
}

/* Where and how: what is the same for all requests to one broker. */
static bool prepare_way(const struct hop *hop)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = hop->curl->easy_setopt;
    const struct endpoint *endpoint = &hop->flight->peer->endpoint;
    CURL *easy = hop->easy;
    bool ok = prepare_url(hop) && set(easy, CURLOPT_PROXY, "") == CURLE_OK &&
              set(easy, CURLOPT_PROTOCOLS_STR, endpoint->tls ? "https" : "http") == CURLE_OK &&
              set(easy, CURLOPT_USERAGENT, "libmcast/" MCAST_VERSION) == CURLE_OK;
    if (ok && endpoint->tls)
        ok = prepare_tls(hop);
    if (!ok)
        return false;
    set(easy, CURLOPT_PATH_AS_IS, 1L); /* ".." is a job id like any other */
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    set(easy, CURLOPT_TCP_KEEPALIVE, 1L); /* a stream may be silent for long */
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CALL_CONNECT_MS);
    /* A look-up of a name that hangs is not waited for when the request is given up. */
    set(easy, CURLOPT_QUICK_EXIT, 1L);
    return true;
}

static bool add_header(struct hop *hop, const char *line)
{
    struct curl_slist *longer = hop->curl->slist_append(hop->headers, line);
    if (longer)
        hop->headers = longer;
    return longer;
}

static bool prepare(struct hop *hop)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = hop->curl->easy_setopt;
    const struct flight *flight = hop->flight;
    const struct call *call = flight->call;
    CURL *easy = hop->easy;
    hop->curl->easy_reset(easy);
    for (size_t i = 0; i < flight->headers.count; i++)
        if (!add_header(hop, flight->headers.line[i]))
            return false;
    /* Keeps curl from asking for leave before it sends a large body. */
    if (!add_header(hop, "Expect:") || !prepare_way(hop) ||
        set(easy, CURLOPT_CUSTOMREQUEST, call->method) != CURLE_OK)
        return false;
    set(easy, CURLOPT_PRIVATE, hop);
    set(easy, CURLOPT_TIMEOUT_MS, (long)flight->limit_ms);
    set(easy, CURLOPT_FRESH_CONNECT, flight->fresh ? 1L : 0L);
    set(easy, CURLOPT_PREREQFUNCTION, on_reached);
    set(easy, CURLOPT_PREREQDATA, hop);
    set(easy, CURLOPT_HTTPHEADER, hop->headers);
    set(easy, CURLOPT_ERRORBUFFER, hop->words);
    set(easy, CURLOPT_WRITEFUNCTION, on_body);
    set(easy, CURLOPT_WRITEDATA, hop);
    set(easy, CURLOPT_HEADERFUNCTION, on_header);
    set(easy, CURLOPT_HEADERDATA, hop);
    if (call->body) {
        set(easy, CURLOPT_POSTFIELDS, call->body);
        set(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
    }
    return true;
}

/* ---- flights ---- */

static void destroy_hop(struct way_curl *own, struct hop *hop)
{
    /* a token may be among them */
    for (struct curl_slist *line = hop->headers; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    own->curl->slist_free_all(hop->headers);
    if (own->spare)
        own->curl->easy_cleanup(hop->easy);
    else
        own->spare = hop->easy;
    hop->flight->carried = NULL;
    free(hop);
}

static bool add(struct way *way, struct flight *flight)
{
    struct way_curl *self = own(way);
    struct hop *hop = calloc(1, sizeof(*hop));
    if (!hop)
        return false;
    hop->flight = flight;
    hop->curl = self->curl;
    hop->easy = self->spare ? self->spare : self->curl->easy_init();
    self->spare = NULL;
    if (!hop->easy || !prepare(hop) ||
        self->curl->multi_add_handle(self->multi, hop->easy) != CURLM_OK) {
        destroy_hop(self, hop);
        return false;
    }
    flight->carried = hop;
    look(self);
    return true;
}

static void remove_flight(struct way *way, struct flight *flight)
{
    struct way_curl *self = own(way);
    struct hop *hop = flight->carried;
    self->curl->multi_remove_handle(self->multi, hop->easy);
    destroy_hop(self, hop);
    look(self);
}

static enum trouble_kind kind_of(const struct hop *hop, CURLcode code)
{
    curl_off_t connected = 0;
    switch (code) {
    case CURLE_OK:
        return TROUBLE_NONE;
    case CURLE_OUT_OF_MEMORY:
        return TROUBLE_NOMEM;
    case CURLE_OPERATION_TIMEDOUT:
        hop->curl->easy_getinfo(hop->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
        return connected > 0 ? TROUBLE_LATE : TROUBLE_ABSENT;
    case CURLE_COULDNT_CONNECT:
        return TROUBLE_ABSENT;
    case CURLE_COULDNT_RESOLVE_HOST:
        return TROUBLE_NO_HOST;
    case CURLE_GOT_NOTHING:
        return TROUBLE_SILENT;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
        return TROUBLE_BROKEN;
    case CURLE_PEER_FAILED_VERIFICATION:
        return TROUBLE_DISTRUST;
    case CURLE_SSL_CONNECT_ERROR:
        return TROUBLE_HANDSHAKE;
    case CURLE_SSL_CACERT_BADFILE:
        return TROUBLE_CA_FILE;
    case CURLE_SSL_CERTPROBLEM:
        return TROUBLE_OWN_FILES;
    default:
        return TROUBLE_GARBLED;
    }
}

static void conclude(const struct hop *hop, CURLcode code)
{
    struct flight *flight = hop->flight;
    const char *words = hop->words[0] ? hop->words : hop->curl->easy_strerror(code);
    long status = 0, os_error = 0;
    flight_set_trouble(flight, kind_of(hop, code), words);
    hop->curl->easy_getinfo(hop->easy, CURLINFO_OS_ERRNO, &os_error);
    hop->curl->easy_getinfo(hop->easy, CURLINFO_RESPONSE_CODE, &status);
    flight->trouble.os_error = (int)os_error;
    flight->answer->status = code == CURLE_OK ? (int)status : 0;
}

/* Those that have come to their ends; and when it has something to do again. */
static void land_all(struct way_curl *self)
{
    const CURLMsg *message;
    int left;
    while ((message = self->curl->multi_info_read(self->multi, &left))) {
        struct hop *hop = NULL;
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        if (message->msg != CURLMSG_DONE)
            continue;
        self->curl->easy_getinfo(easy, CURLINFO_PRIVATE, &hop);
        struct flight *flight = hop->flight;
        conclude(hop, code);
        self->curl->multi_remove_handle(self->multi, easy);
        destroy_hop(self, hop);
        way_land(&self->way, flight);
    }
    look(self);
}

/* ---- driven by the reactor ---- */

/* A descriptor as a tag, none of which is 0. */
static uint64_t tag_of(int fd)
{
    return (uint64_t)fd + 1;
}

/* One that finds no room in the set is a request that ends with its time limit. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *known)
{
    (void)easy, (void)known;
    const struct way *way = data;
    uint32_t events = 0;
    if (what & CURL_POLL_IN)
        events |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE)
        way_unwatch(way, fd);
    else
        (void)way_watch(way, fd, tag_of(fd), events);
    return 0;
}

static void serve(struct way *way, uint64_t tag, uint32_t events)
{
    struct way_curl *self = own(way);
    int mask = 0, running;
    if (events & (EPOLLIN | EPOLLHUP))
        mask |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        mask |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        mask |= CURL_CSELECT_ERR;
    self->curl->multi_socket_action(self->multi, (curl_socket_t)(tag - 1), mask, &running);
    land_all(self);
}

static int64_t due_ms(const struct way *way)
{
    return ((const struct way_curl *)way)->due_ms;
}

static void expire(struct way *way)
{
    struct way_curl *self = own(way);
    int running;
    self->curl->multi_socket_action(self->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    land_all(self);
}

static void destroy(struct way *way)
{
    struct way_curl *self = own(way);
    self->curl->easy_cleanup(self->spare);
    self->curl->multi_cleanup(self->multi);
    free(self);
}

static const struct way_kind kind = {
    .destroy = destroy,
    .add = add,
    .remove = remove_flight,
    .serve = serve,
    .due_ms = due_ms,
    .expire = expire,
};

int way_curl_create(struct way **out, int epoll, struct mcast_error *error)
{
    const struct libcurl *curl = libcurl_open(error);
    if (!curl)
        return MCAST_UNREACHABLE;
    struct way_curl *self = calloc(1, sizeof(*self));
    if (!self)
        return fault_nomem(error);
    self->way = (struct way){.kind = &kind, .epoll = epoll};
    self->curl = curl;
    self->due_ms = INT64_MAX;
    self->multi = curl->multi_init();
    if (!self->multi ||
        curl->multi_setopt(self->multi, CURLMOPT_SOCKETFUNCTION, on_socket) != CURLM_OK ||
        curl->multi_setopt(self->multi, CURLMOPT_SOCKETDATA, &self->way) != CURLM_OK) {
        destroy(&self->way);
        return fault_nomem(error);
    }
    *out = &self->way;
    return 0;
}
