/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/fmapi/puppet.h"

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

enum { HEAD_MAX = 2 << 20, DEADLINE_S = 60 }; /* of a head and its body */

struct puppet {
    struct puppet_options options;
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
    struct puppet *puppet;
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

char *puppet_text(const char *format, ...)
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
static void await_change(struct puppet *puppet)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLINE_S;
    if (pthread_cond_timedwait(&puppet->changed, &puppet->lock, &until) == ETIMEDOUT) {
        errno = ETIMEDOUT;
        die("what the test waits for did not happen");
    }
}

static ssize_t take(struct connection *connection, char *bytes, size_t size)
{
    if (connection->tls != NULL)
        return SSL_read(connection->tls, bytes, (int)size);
    return recv(connection->socket, bytes, size, 0);
}

static bool give(struct connection *connection, const char *bytes, size_t length)
{
    while (length > 0) {
        int chunk = length > 1 << 20 ? 1 << 20 : (int)length;
        ssize_t gone = connection->tls != NULL
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
        if (end != NULL)
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

static void await_end(struct puppet *puppet)
{
    (void)pthread_mutex_lock(&puppet->lock);
    while (!puppet->ending)
        await_change(puppet);
    (void)pthread_mutex_unlock(&puppet->lock);
}

/* Runs the script; holds the first answers back until enough requests have gathered. */
static void consult(struct connection *connection, struct puppet_request *request,
                    struct puppet_answer *answer)
{
    struct puppet *puppet = connection->puppet;

    (void)pthread_mutex_lock(&puppet->lock);
    request->number = ++puppet->requests;
    puppet->gathered++;
    (void)pthread_cond_broadcast(&puppet->changed);
    while (puppet->gathered < puppet->options.gathering && !puppet->ending)
        await_change(puppet);
    puppet->options.script(puppet->options.arg, request, answer);
    (void)pthread_mutex_unlock(&puppet->lock);
}

static bool reply(struct connection *connection, const struct puppet_answer *answer)
{
    size_t length = answer->body != NULL ? strlen(answer->body) : 0;
    char *head = puppet_text("HTTP/1.1 %d Whatever\r\nContent-Type: application/json\r\n"
                             "Content-Length: %zu\r\n%s%s\r\n",
                             answer->status, length, answer->header != NULL ? answer->header : "",
                             answer->header != NULL ? "\r\n" : "");
    bool half = answer->fault == PUPPET_TRUNCATE || answer->fault == PUPPET_STALL;
    bool sent = give(connection, head, strlen(head)) &&
                (length == 0 || give(connection, answer->body, half ? length / 2 : length));
    free(head);
    if (answer->fault == PUPPET_STALL)
        await_end(connection->puppet);
    return sent && !half && !answer->close;
}

/* An extension of a chunk may be as long as it likes, and is no part of the body. */
static bool reply_padded(struct connection *connection, const struct puppet_answer *answer)
{
    char *padding = malloc(PUPPET_PADDING);
    char *head =
        puppet_text("HTTP/1.1 %d Whatever\r\nTransfer-Encoding: chunked\r\n\r\n", answer->status);
    bool sent = give(connection, head, strlen(head));

    if (padding == NULL)
        die("malloc");
    memset(padding, 'e', PUPPET_PADDING);
    for (const char *byte = answer->body; sent && *byte != '\0'; byte++) {
        const char end[] = {'\r', '\n', *byte, '\r', '\n'};
        sent = give(connection, "1;", 2) && give(connection, padding, PUPPET_PADDING) &&
               give(connection, end, sizeof end);
    }
    free(padding);
    free(head);
    return sent && give(connection, "0\r\n\r\n", 5);
}

/* Carries the answer out; whether the connection lives on. */
static bool act(struct connection *connection, const struct puppet_answer *answer)
{
    static const char garbage[] = "\x16\x03\x01 220 mail.example ESMTP\r\n\r\n";

    switch (answer->fault) {
    case PUPPET_DROP:
        return false;
    case PUPPET_RESET: {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(connection->socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    }
    case PUPPET_SILENT:
        await_end(connection->puppet);
        return false;
    case PUPPET_GARBAGE:
        (void)give(connection, garbage, sizeof garbage - 1);
        return false;
    case PUPPET_PADDED:
        return reply_padded(connection, answer);
    case PUPPET_NONE:
    case PUPPET_TRUNCATE:
    case PUPPET_STALL:
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
    size_t length = announced != NULL ? strtoul(announced + 17, NULL, 10) : 0;
    if (!read_body(connection, head + length))
        return false;

    char *text = puppet_text("%.*s", (int)head, connection->head);
    char *body = puppet_text("%.*s", (int)length, connection->head + head);
    char method[16] = "";
    char path[1024] = "";
    (void)sscanf(connection->head, "%15s %1023s", method, path);
    connection->length -= head + length;
    memmove(connection->head, connection->head + head + length, connection->length);

    struct puppet_answer answer = {.status = 200};
    struct puppet_request request = {.method = method,
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
    struct puppet *puppet = connection->puppet;
    bool usable = true;

    if (puppet->options.mute) {
        await_end(puppet);
        usable = false;
    } else if (puppet->tls != NULL) {
        (void)pthread_mutex_lock(&puppet->lock);
        connection->tls = SSL_new(puppet->tls);
        (void)pthread_mutex_unlock(&puppet->lock);
        (void)SSL_set_fd(connection->tls, connection->socket);
        usable = SSL_accept(connection->tls) == 1;
        if (!usable)
            drain(connection->socket);
    }
    while (usable && serve(connection))
        ;
    SSL_free(connection->tls);
    ERR_clear_error();
    (void)pthread_mutex_lock(&puppet->lock);
    (void)close(connection->socket);
    connection->socket = -1;
    puppet->open--;
    (void)pthread_cond_broadcast(&puppet->changed);
    (void)pthread_mutex_unlock(&puppet->lock);
    return NULL;
}

static void *run_accepting(void *arg)
{
    struct puppet *puppet = arg;
    int socket;

    while ((socket = accept4(puppet->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct connection *connection = calloc(1, sizeof *connection);
        if (connection == NULL)
            die("calloc");
        int at_once = 1; /* head and body are two writes: Nagle would hold the second back */
        (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        connection->puppet = puppet;
        connection->socket = socket;
        (void)pthread_mutex_lock(&puppet->lock);
        connection->number = ++puppet->accepted;
        connection->next = puppet->connections;
        puppet->connections = connection;
        if (++puppet->open > puppet->most_open)
            puppet->most_open = puppet->open;
        if (pthread_create(&connection->thread, NULL, run_connection, connection) != 0)
            die("pthread_create");
        (void)pthread_mutex_unlock(&puppet->lock);
    }
    return NULL;
}

static SSL_CTX *tls_create(const struct puppet_options *options)
{
    if (options->tls_cert == NULL)
        return NULL;
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    if (tls == NULL || SSL_CTX_use_certificate_chain_file(tls, options->tls_cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, options->tls_key, SSL_FILETYPE_PEM) != 1)
        die("certificate or key");
    if (options->client_ca != NULL) {
        SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        if (SSL_CTX_load_verify_locations(tls, options->client_ca, NULL) != 1)
            die("authority of clients");
        (void)SSL_CTX_set_session_id_context(tls, (const unsigned char *)"puppet", 6);
    }
    return tls;
}

struct puppet *puppet_create(const struct puppet_options *options)
{
    struct puppet *puppet = calloc(1, sizeof *puppet);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    if (puppet == NULL)
        die("calloc");
    puppet->options = *options;
    puppet->tls = tls_create(options);
    (void)pthread_mutex_init(&puppet->lock, NULL);
    (void)pthread_cond_init(&puppet->changed, NULL);
    puppet->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (puppet->listener < 0 ||
        bind(puppet->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(puppet->listener, 512) != 0 ||
        getsockname(puppet->listener, (struct sockaddr *)&address, &size) != 0)
        die("listen");
    (void)snprintf(puppet->url, sizeof puppet->url, "%s://127.0.0.1:%u",
                   options->tls_cert != NULL ? "https" : "http", ntohs(address.sin_port));
    if (pthread_create(&puppet->accepting, NULL, run_accepting, puppet) != 0)
        die("pthread_create");
    return puppet;
}

void puppet_show(struct puppet *puppet, const char *tls_cert, const char *tls_key)
{
    struct puppet_options options = puppet->options;
    options.tls_cert = tls_cert;
    options.tls_key = tls_key;
    SSL_CTX *tls = tls_create(&options);
    (void)pthread_mutex_lock(&puppet->lock);
    SSL_CTX_free(puppet->tls); /* connections that stand hold theirs */
    puppet->tls = tls;
    (void)pthread_mutex_unlock(&puppet->lock);
}

void puppet_gather(struct puppet *puppet, unsigned gathering)
{
    (void)pthread_mutex_lock(&puppet->lock);
    puppet->gathered = 0;
    puppet->options.gathering = gathering;
    (void)pthread_mutex_unlock(&puppet->lock);
}

void puppet_refuse(struct puppet *puppet)
{
    if (puppet->refusing)
        return;
    puppet->refusing = true;
    (void)shutdown(puppet->listener, SHUT_RDWR); /* wakes accept */
    (void)pthread_join(puppet->accepting, NULL);
    (void)close(puppet->listener);
}

void puppet_destroy(struct puppet *puppet)
{
    if (puppet == NULL)
        return;
    puppet_refuse(puppet);
    (void)pthread_mutex_lock(&puppet->lock);
    puppet->ending = true;
    for (struct connection *each = puppet->connections; each != NULL; each = each->next)
        if (each->socket >= 0)
            (void)shutdown(each->socket, SHUT_RDWR); /* wakes recv */
    (void)pthread_cond_broadcast(&puppet->changed);
    (void)pthread_mutex_unlock(&puppet->lock);

    while (puppet->connections != NULL) {
        struct connection *connection = puppet->connections;
        puppet->connections = connection->next;
        (void)pthread_join(connection->thread, NULL);
        free(connection);
    }
    SSL_CTX_free(puppet->tls);
    (void)pthread_cond_destroy(&puppet->changed);
    (void)pthread_mutex_destroy(&puppet->lock);
    free(puppet);
}

const char *puppet_url(const struct puppet *puppet)
{
    return puppet->url;
}

void puppet_await_closed(struct puppet *puppet)
{
    (void)pthread_mutex_lock(&puppet->lock);
    while (puppet->open > 0)
        await_change(puppet);
    (void)pthread_mutex_unlock(&puppet->lock);
}

static unsigned look(struct puppet *puppet, const unsigned *number)
{
    (void)pthread_mutex_lock(&puppet->lock);
    unsigned value = *number;
    (void)pthread_mutex_unlock(&puppet->lock);
    return value;
}

unsigned puppet_connections(struct puppet *puppet)
{
    return look(puppet, &puppet->accepted);
}

unsigned puppet_requests(struct puppet *puppet)
{
    return look(puppet, &puppet->requests);
}

unsigned puppet_most_open(struct puppet *puppet)
{
    return look(puppet, &puppet->most_open);
}
