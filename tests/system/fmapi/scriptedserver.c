/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/fmapi/scriptedserver.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 2 << 20, DEADLINE_S = 180 }; /* of a head and its body */

struct scriptedserver {
    struct scriptedserver_options options;
    char url[64];
    int listener;
    SSL_CTX *tls;
    pthread_t accepting;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct connection *connections; /* all that ever were; joined at the end */
    unsigned accepted, open, most_open, requests, gathered;
    bool refusing, ending;
};

struct connection {
    struct scriptedserver *scriptedserver;
    int socket;
    SSL *tls;
    unsigned number;
    pthread_t thread;
    struct connection *next;
    size_t length; /* bytes in head */
    char head[HEAD_MAX + 1];
};

static void die(const char *what)
{
    fprintf(stderr, "puppet: %s: %s\n", what, strerror(errno));
    abort();
}

char *scriptedserver_text(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        die("vasprintf");
    va_end(args);
    return text;
}

/* Waits for a change of what the lock guards; a test that waits in vain ends here. */
static void await_change(struct scriptedserver *scriptedserver)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLINE_S;
    if (pthread_cond_timedwait(&scriptedserver->changed, &scriptedserver->lock, &until) ==
        ETIMEDOUT) {
        errno = ETIMEDOUT;
        die("what the test waits for did not happen");
    }
}

static ssize_t take(struct connection *connection, char *bytes, size_t size)
{
    if (connection->tls)
        return SSL_read(connection->tls, bytes, (int)size);
    return recv(connection->socket, bytes, size, 0);
}

static bool give(struct connection *connection, const char *bytes, size_t length)
{
    while (length > 0) {
        int chunk = length > 1 << 20 ? 1 << 20 : (int)length;
        ssize_t gone = connection->tls
                           ? SSL_write(connection->tls, bytes, chunk)
                           : send(connection->socket, bytes, (size_t)chunk, MSG_NOSIGNAL);
        if (gone <= 0)
            return false;
        bytes += gone;
        length -= (size_t)gone;
    }
    return true;
}

/* Reads until the block holds a whole head; its length with the empty line, 0 at the end. */
static size_t read_head(struct connection *connection)
{
    for (;;) {
        connection->head[connection->length] = '\0';
        const char *end = strstr(connection->head, "\r\n\r\n");
        if (end)
            return (size_t)(end - connection->head) + 4;
        if (connection->length > 0 && !isupper((unsigned char)connection->head[0]))
            return 0; /* TLS, for one */
        if (connection->length == HEAD_MAX)
            return 0;
        ssize_t got =
            take(connection, connection->head + connection->length, HEAD_MAX - connection->length);
        if (got <= 0)
            return 0;
        connection->length += (size_t)got;
    }
}

static bool read_body(struct connection *connection, size_t needed)
{
    while (connection->length < needed && needed <= HEAD_MAX) {
        ssize_t got =
            take(connection, connection->head + connection->length, HEAD_MAX - connection->length);
        if (got <= 0)
            return false;
        connection->length += (size_t)got;
    }
    return needed <= HEAD_MAX;
}

static void await_end(struct scriptedserver *scriptedserver)
{
    (void)pthread_mutex_lock(&scriptedserver->lock);
    while (!scriptedserver->ending)
        await_change(scriptedserver);
    (void)pthread_mutex_unlock(&scriptedserver->lock);
}

/* Runs the script; holds the first answers back until enough requests have gathered. */
static void consult(struct connection *connection, struct scriptedserver_request *request,
                    struct scriptedserver_answer *answer)
{
    struct scriptedserver *scriptedserver = connection->scriptedserver;

    (void)pthread_mutex_lock(&scriptedserver->lock);
    request->number = ++scriptedserver->requests;
    scriptedserver->gathered++;
    (void)pthread_cond_broadcast(&scriptedserver->changed);
    while (scriptedserver->gathered < scriptedserver->options.gathering && !scriptedserver->ending)
        await_change(scriptedserver);
    scriptedserver->options.script(scriptedserver->options.arg, request, answer);
    (void)pthread_mutex_unlock(&scriptedserver->lock);
}

static bool reply(struct connection *connection, const struct scriptedserver_answer *answer)
{
    size_t length = answer->body ? strlen(answer->body) : 0;
    char *head = scriptedserver_text("HTTP/1.1 %d Status\r\nContent-Type: application/json\r\n"
                                     "Content-Length: %zu\r\n%s%s\r\n",
                                     answer->status, length, answer->header ? answer->header : "",
                                     answer->header ? "\r\n" : "");
    bool half = answer->fault == SCRIPTEDSERVER_TRUNCATE || answer->fault == SCRIPTEDSERVER_STALL;
    bool sent = give(connection, head, strlen(head)) &&
                (length == 0 || give(connection, answer->body, half ? length / 2 : length));
    free(head);
    if (answer->fault == SCRIPTEDSERVER_STALL)
        await_end(connection->scriptedserver);
    return sent && !half && !answer->close;
}

/* An extension of a chunk may be as long as it likes, and is no part of the body. */
static bool reply_padded(struct connection *connection, const struct scriptedserver_answer *answer)
{
    char *padding = malloc(SCRIPTEDSERVER_PADDING);
    char *head = scriptedserver_text("HTTP/1.1 %d Status\r\nTransfer-Encoding: chunked\r\n\r\n",
                                     answer->status);
    bool sent = give(connection, head, strlen(head));

    if (!padding)
        die("malloc");
    memset(padding, 'e', SCRIPTEDSERVER_PADDING);
    for (const char *byte = answer->body; sent && *byte != '\0'; byte++) {
        const char end[] = {'\r', '\n', *byte, '\r', '\n'};
        sent = give(connection, "1;", 2) && give(connection, padding, SCRIPTEDSERVER_PADDING) &&
               give(connection, end, sizeof end);
    }
    free(padding);
    free(head);
    return sent && give(connection, "0\r\n\r\n", 5);
}

/* Carries the answer out; whether the connection lives on. */
static bool act(struct connection *connection, const struct scriptedserver_answer *answer)
{
    static const char garbage[] = "\x16\x03\x01 220 mail.example ESMTP\r\n\r\n";

    switch (answer->fault) {
    case SCRIPTEDSERVER_DROP:
        return false;
    case SCRIPTEDSERVER_RESET: {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(connection->socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    }
    case SCRIPTEDSERVER_SILENT:
        await_end(connection->scriptedserver);
        return false;
    case SCRIPTEDSERVER_GARBAGE:
        (void)give(connection, garbage, sizeof garbage - 1);
        return false;
    case SCRIPTEDSERVER_PADDED:
        return reply_padded(connection, answer);
    case SCRIPTEDSERVER_NONE:
    case SCRIPTEDSERVER_TRUNCATE:
    case SCRIPTEDSERVER_STALL:
        break;
    }
    return reply(connection, answer);
}

/* One request and its answer; whether the connection lives on. */
static bool serve(struct connection *connection)
{
    size_t head = read_head(connection);
    if (head == 0)
        return false;

    const char *announced = strcasestr(connection->head, "\r\nContent-Length:");
    size_t length = announced ? strtoul(announced + 17, NULL, 10) : 0;
    if (!read_body(connection, head + length))
        return false;

    char *text = scriptedserver_text("%.*s", (int)head, connection->head);
    char *body = scriptedserver_text("%.*s", (int)length, connection->head + head);
    char method[16] = "";
    char path[1024] = "";
    (void)sscanf(connection->head, "%15s %1023s", method, path);
    connection->length -= head + length;
    memmove(connection->head, connection->head + head + length, connection->length);

    struct scriptedserver_answer answer = {.status = 200};
    struct scriptedserver_request request = {.method = method,
                                             .path = path,
                                             .head = text,
                                             .body = body,
                                             .connection = connection->number};
    consult(connection, &request, &answer);
    bool lives = act(connection, &answer);
    free(answer.body);
    free(body);
    free(text);
    return lives;
}

/* Reads on until the other side has closed: closing with bytes unread would reset the connection,
 * and the alert that says why could be lost. */
static void drain(int socket)
{
    char bytes[4096];

    (void)shutdown(socket, SHUT_WR);
    while (recv(socket, bytes, sizeof bytes, 0) > 0)
        ;
}

static void *run_connection(void *arg)
{
    struct connection *connection = arg;
    struct scriptedserver *scriptedserver = connection->scriptedserver;
    bool usable = true;

    if (scriptedserver->options.mute) {
        await_end(scriptedserver);
        usable = false;
    } else if (scriptedserver->tls) {
        (void)pthread_mutex_lock(&scriptedserver->lock);
        connection->tls = SSL_new(scriptedserver->tls);
        (void)pthread_mutex_unlock(&scriptedserver->lock);
        (void)SSL_set_fd(connection->tls, connection->socket);
        usable = SSL_accept(connection->tls) == 1;
        if (!usable)
            drain(connection->socket);
    }
    while (usable && serve(connection))
        ;
    SSL_free(connection->tls);
    ERR_clear_error();
    (void)pthread_mutex_lock(&scriptedserver->lock);
    (void)close(connection->socket);
    connection->socket = -1;
    scriptedserver->open--;
    (void)pthread_cond_broadcast(&scriptedserver->changed);
    (void)pthread_mutex_unlock(&scriptedserver->lock);
    return NULL;
}

static void *run_accepting(void *arg)
{
    struct scriptedserver *scriptedserver = arg;
    int socket;

    while ((socket = accept4(scriptedserver->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection)
            die("calloc");
        int at_once = 1; /* head and body are two writes: Nagle would hold the second back */
        (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        connection->scriptedserver = scriptedserver;
        connection->socket = socket;
        (void)pthread_mutex_lock(&scriptedserver->lock);
        connection->number = ++scriptedserver->accepted;
        connection->next = scriptedserver->connections;
        scriptedserver->connections = connection;
        if (++scriptedserver->open > scriptedserver->most_open)
            scriptedserver->most_open = scriptedserver->open;
        if (pthread_create(&connection->thread, NULL, run_connection, connection) != 0)
            die("pthread_create");
        (void)pthread_mutex_unlock(&scriptedserver->lock);
    }
    return NULL;
}

static SSL_CTX *tls_create(const struct scriptedserver_options *options)
{
    if (!options->tls_cert)
        return NULL;
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    if (!tls || SSL_CTX_use_certificate_chain_file(tls, options->tls_cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, options->tls_key, SSL_FILETYPE_PEM) != 1)
        die("certificate or key");
    if (options->client_ca) {
        SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        if (SSL_CTX_load_verify_locations(tls, options->client_ca, NULL) != 1)
            die("authority of clients");
        (void)SSL_CTX_set_session_id_context(tls, (const unsigned char *)"puppet", 6);
    }
    return tls;
}

struct scriptedserver *scriptedserver_create(const struct scriptedserver_options *options)
{
    struct scriptedserver *scriptedserver = calloc(1, sizeof *scriptedserver);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    if (!scriptedserver)
        die("calloc");
    scriptedserver->options = *options;
    scriptedserver->tls = tls_create(options);
    (void)pthread_mutex_init(&scriptedserver->lock, NULL);
    (void)pthread_cond_init(&scriptedserver->changed, NULL);
    scriptedserver->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (scriptedserver->listener < 0 ||
        bind(scriptedserver->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(scriptedserver->listener, 512) != 0 ||
        getsockname(scriptedserver->listener, (struct sockaddr *)&address, &size) != 0)
        die("listen");
    (void)snprintf(scriptedserver->url, sizeof scriptedserver->url, "%s://127.0.0.1:%u",
                   options->tls_cert ? "https" : "http", ntohs(address.sin_port));
    if (pthread_create(&scriptedserver->accepting, NULL, run_accepting, scriptedserver) != 0)
        die("pthread_create");
    return scriptedserver;
}

void scriptedserver_show(struct scriptedserver *scriptedserver, const char *tls_cert,
                         const char *tls_key)
{
    struct scriptedserver_options options = scriptedserver->options;
    options.tls_cert = tls_cert;
    options.tls_key = tls_key;
    SSL_CTX *tls = tls_create(&options);
    (void)pthread_mutex_lock(&scriptedserver->lock);
    SSL_CTX_free(scriptedserver->tls); /* connections that stand hold theirs */
    scriptedserver->tls = tls;
    (void)pthread_mutex_unlock(&scriptedserver->lock);
}

void scriptedserver_gather(struct scriptedserver *scriptedserver, unsigned gathering)
{
    (void)pthread_mutex_lock(&scriptedserver->lock);
    scriptedserver->gathered = 0;
    scriptedserver->options.gathering = gathering;
    (void)pthread_mutex_unlock(&scriptedserver->lock);
}

void scriptedserver_refuse(struct scriptedserver *scriptedserver)
{
    if (scriptedserver->refusing)
        return;
    scriptedserver->refusing = true;
    (void)shutdown(scriptedserver->listener, SHUT_RDWR); /* wakes accept */
    (void)pthread_join(scriptedserver->accepting, NULL);
    (void)close(scriptedserver->listener);
}

void scriptedserver_destroy(struct scriptedserver *scriptedserver)
{
    if (!scriptedserver)
        return;
    scriptedserver_refuse(scriptedserver);
    (void)pthread_mutex_lock(&scriptedserver->lock);
    scriptedserver->ending = true;
    for (struct connection *each = scriptedserver->connections; each; each = each->next)
        if (each->socket >= 0)
            (void)shutdown(each->socket, SHUT_RDWR); /* wakes recv */
    (void)pthread_cond_broadcast(&scriptedserver->changed);
    (void)pthread_mutex_unlock(&scriptedserver->lock);

    while (scriptedserver->connections) {
        struct connection *connection = scriptedserver->connections;
        scriptedserver->connections = connection->next;
        (void)pthread_join(connection->thread, NULL);
        free(connection);
    }
    SSL_CTX_free(scriptedserver->tls);
    (void)pthread_cond_destroy(&scriptedserver->changed);
    (void)pthread_mutex_destroy(&scriptedserver->lock);
    free(scriptedserver);
}

const char *scriptedserver_url(const struct scriptedserver *scriptedserver)
{
    return scriptedserver->url;
}

void scriptedserver_await_closed(struct scriptedserver *scriptedserver)
{
    (void)pthread_mutex_lock(&scriptedserver->lock);
    while (scriptedserver->open > 0)
        await_change(scriptedserver);
    (void)pthread_mutex_unlock(&scriptedserver->lock);
}

static unsigned look(struct scriptedserver *scriptedserver, const unsigned *number)
{
    (void)pthread_mutex_lock(&scriptedserver->lock);
    unsigned value = *number;
    (void)pthread_mutex_unlock(&scriptedserver->lock);
    return value;
}

unsigned scriptedserver_connections(struct scriptedserver *scriptedserver)
{
    return look(scriptedserver, &scriptedserver->accepted);
}

unsigned scriptedserver_requests(struct scriptedserver *scriptedserver)
{
    return look(scriptedserver, &scriptedserver->requests);
}

unsigned scriptedserver_most_open(struct scriptedserver *scriptedserver)
{
    return look(scriptedserver, &scriptedserver->most_open);
}
