#include "client/flight.h"
#include "client/fault.h"
#include "client/problem.h"
#include "client/trouble.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

enum { PAUSE_MAX_S = 3600 }; /* that is believed to be asked for */

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_ready;

static void start_curl(void)
{
    curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool flight_ready(void)
{
    pthread_once(&curl_once, start_curl);
    return curl_ready == CURLE_OK;
}

static size_t on_body(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    struct flight *flight = data;
    long status = 0;
    curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &status);
    if (flight->each && status == 200 && strcmp(flight->answer->type, flight->call->accept) == 0) {
        flight->ended = flight->each(bytes, length, flight->data);
    } else if (flight->answer->body.length + length > CALL_ANSWER_MAX) {
        flight->rc = MCAST_UNCLEAR;
    } else if (!text_add(&flight->answer->body, bytes, length)) {
        flight->rc = MCAST_NOMEM;
    }
    return flight->rc == 0 && flight->ended == 0 ? length : 0;
}

/* The value of the header's line when it is the one named "name:", in lower case; else NULL. */
static const char *header_value(const char *line, size_t length, const char *name, size_t *rest)
{
    size_t from = strlen(name);
    if (length < from || strncasecmp(line, name, from) != 0)
        return NULL;
    while (from < length && (line[from] == ' ' || line[from] == '\t'))
        from++;
    *rest = length - from;
    return line + from;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The date was written some time between the request and now: half way is the best guess, and its
 * second was half over on average. */
static void take_date(struct flight *flight, const char *value, size_t length)
{
    char date[64];
    snprintf(date, sizeof(date), "%.*s", (int)length, value);
    time_t seconds = curl_getdate(date, NULL);
    if (seconds <= 0)
        return;
    int64_t half_way = flight->sent_ms + (now_ms() - flight->sent_ms) / 2;
    flight->peer->clock_ahead_ms = (int64_t)seconds * 1000 + 500 - half_way;
    flight->peer->clock_known = true;
}

/* Seconds; a date, which a proxy may write as well, is none. */
static void take_pause(struct answer *answer, const char *value, size_t length)
{
    unsigned seconds = 0;
    size_t used = 0;
    for (; used < length && value[used] >= '0' && value[used] <= '9'; used++)
        seconds = seconds < PAUSE_MAX_S ? seconds * 10 + (unsigned)(value[used] - '0') : seconds;
    answer->retry_after = seconds < PAUSE_MAX_S ? seconds : PAUSE_MAX_S;
}

/* The answer's type has to be known before the first piece of its body, hence not
 * CURLINFO_CONTENT_TYPE afterwards. */
static size_t on_header(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    struct flight *flight = data;
    struct answer *answer = flight->answer;
    size_t rest = 0, used = 0;
    const char *value = header_value(bytes, length, "date:", &rest);
    if (value)
        take_date(flight, value, rest);
    value = header_value(bytes, length, "retry-after:", &rest);
    if (value)
        take_pause(answer, value, rest);
    value = header_value(bytes, length, "content-type:", &rest);
    if (!value)
        return length;
    while (rest > used && !strchr("; \t\r\n", value[used]) && used < sizeof(answer->type) - 1) {
        answer->type[used] = (char)tolower((unsigned char)value[used]);
        used++;
    }
    answer->type[used] = '\0';
    return length;
}

/* The server is verified whatever happens: there is no way to turn that off. */
static bool prepare_tls(CURL *easy, const struct credentials *own)
{
    struct stat status;
    bool ok = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK;
    if (ok && own->cacert) {
        bool folder = stat(own->cacert, &status) == 0 && S_ISDIR(status.st_mode);
        ok = curl_easy_setopt(easy, CURLOPT_CAINFO, folder ? NULL : own->cacert) == CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_CAPATH, folder ? own->cacert : NULL) == CURLE_OK;
    }
    if (ok && own->cert)
        ok = curl_easy_setopt(easy, CURLOPT_SSLCERT, own->cert) == CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_SSLKEY, own->key) == CURLE_OK;
    return ok;
}

static int on_reached(void *data, char *peer, char *local, int peer_port, int local_port)
{
    (void)peer, (void)local, (void)peer_port, (void)local_port;
    unsigned *reached = data;
    ++*reached;
    return CURL_PREREQFUNC_OK;
}

/* Where and how: what is the same for all requests to one broker. */
static bool prepare_way(const struct flight *flight, const char *url)
{
    CURL *easy = flight->easy;
    const struct endpoint *endpoint = &flight->peer->endpoint;
    bool ok = curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, endpoint->tls ? "https" : "http") ==
                  CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_USERAGENT, "libmcast/" MCAST_VERSION) == CURLE_OK;
    if (ok && endpoint->socket[0])
        ok = curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, endpoint->socket) == CURLE_OK;
    if (ok && endpoint->tls)
        ok = prepare_tls(easy, &flight->peer->credentials);
    if (!ok)
        return false;
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* ".." is a job id like any other */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L); /* a stream may be silent for long */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CALL_CONNECT_MS);
    return true;
}

static bool prepare(struct flight *flight, const char *url)
{
    CURL *easy = flight->easy;
    const struct call *call = flight->call;
    curl_easy_reset(easy);
    if (!prepare_way(flight, url) ||
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method) != CURLE_OK)
        return false;
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, flight->limit_ms);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, flight->fresh ? 1L : 0L);
    /* A look-up of a name that hangs is not waited for when the request is given up. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, flight->reached ? on_reached : NULL);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, flight->reached);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, flight->headers);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, flight->words);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, flight);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, flight);
    if (call->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
    }
    return true;
}

bool flight_url(struct text *url, const struct flight_peer *peer, const struct call *call)
{
    const char *base = peer->endpoint.base;
    return text_add(url, base, strlen(base)) && text_add(url, call->path, strlen(call->path));
}

int flight_prepare(struct flight *flight, const char *url, struct mcast_error *error)
{
    struct flight_peer *peer = flight->peer;
    int rc = 0;
    flight->words[0] = '\0';
    flight->ended = flight->rc = 0;
    text_clear(&flight->answer->body);
    flight->answer->status = 0;
    flight->answer->type[0] = '\0';
    flight->answer->retry_after = 0;
    if (peer->endpoint.tls)
        rc = credentials_check(&peer->credentials, error);
    if (rc == 0)
        rc = headers_make(&flight->headers, flight->call,
                          peer->endpoint.socket[0] ? NULL : &peer->credentials, &peer->unproved,
                          error);
    if (rc == 0 && !prepare(flight, url))
        rc = fault_nomem(error);
    flight->sent_ms = now_ms();
    return rc;
}

int flight_conclude(struct flight *flight, CURLcode result, struct mcast_error *error)
{
    const struct flight_peer *peer = flight->peer;
    if (flight->ended != 0)
        return flight->ended;
    if (flight->rc == MCAST_NOMEM)
        return fault_nomem(error);
    if (flight->rc != 0)
        return fault_set(error, MCAST_UNCLEAR,
                         "what answers at %s sends more than %d bytes; is it mcastd?",
                         endpoint_name(&peer->endpoint), CALL_ANSWER_MAX);
    if (result != CURLE_OK) {
        struct trouble trouble = {&peer->endpoint, &peer->credentials, flight->easy,
                                  result,          flight->words,      (unsigned)flight->limit_ms};
        return trouble_explain(&trouble, error);
    }
    long status = 0;
    curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &status);
    flight->answer->status = (int)status;
    return 0;
}

void flight_release(struct flight *flight)
{
    headers_free(flight->headers);
    flight->headers = NULL;
}

bool flight_stale(const struct answer *answer)
{
    return answer->status == 401 &&
           (problem_is(answer, "munge-replayed") || problem_is(answer, "munge-expired"));
}
