/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/mockfm/rawhttp.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/system/rig/await.h"

void rawhttp_open(struct rawhttp *http, unsigned port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval deadline = {.tv_sec = AWAIT_DEADLINE_MS / 1000};

    http->length = 0;
    http->tls = NULL;
    http->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(http->fd >= 0);
    setsockopt(http->fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    if (connect(http->fd, (const struct sockaddr *)&address, sizeof address) < 0)
        fail_msg("cannot connect to port %u: %s", port, strerror(errno));
}

void rawhttp_secure(struct rawhttp *http)
{
    int result;

    assert_int_equal(gnutls_certificate_allocate_credentials(&http->trust), 0);
    assert_int_equal(gnutls_init(&http->tls, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
    assert_int_equal(gnutls_set_default_priority(http->tls), 0);
    assert_int_equal(gnutls_credentials_set(http->tls, GNUTLS_CRD_CERTIFICATE, http->trust), 0);
    gnutls_transport_set_int(http->tls, http->fd);
    do
        result = gnutls_handshake(http->tls);
    while (result == GNUTLS_E_INTERRUPTED);
    if (result < 0)
        fail_msg("no TLS: %s", gnutls_strerror(result));
}

void rawhttp_close(struct rawhttp *http)
{
    if (http->tls) {
        gnutls_deinit(http->tls);
        gnutls_certificate_free_credentials(http->trust);
    }
    close(http->fd);
}

void rawhttp_send(struct rawhttp *http, const void *bytes, size_t length)
{
    /* TLS sends as much as fits into a record. */
    for (size_t done = 0; http->tls && done < length;) {
        ssize_t sent = gnutls_record_send(http->tls, (const char *)bytes + done, length - done);

        assert_true(sent > 0);
        done += (size_t)sent;
    }
    if (!http->tls)
        assert_int_equal(send(http->fd, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

void rawhttp_ask(struct rawhttp *http, const char *method, const char *path, const char *headers,
                 const char *body)
{
    char *request;
    int length =
        asprintf(&request, "%s %s HTTP/1.1\r\nHost: mock\r\n%sContent-Length: %zu\r\n\r\n%s",
                 method, path, headers ? headers : "", body ? strlen(body) : 0, body ? body : "");

    assert_true(length > 0);
    rawhttp_send(http, request, (size_t)length);
    free(request);
}

/* Bytes, 0 at the end of the connection; fails the test when neither comes in time. */
static size_t receive_some(struct rawhttp *http, char *bytes, size_t room)
{
    ssize_t got;

    if (!http->tls) {
        got = recv(http->fd, bytes, room, 0);
        if (got < 0 && errno != ECONNRESET)
            fail_msg("no answer: %s", strerror(errno));
        return got > 0 ? (size_t)got : 0;
    }
    do
        got = gnutls_record_recv(http->tls, bytes, room);
    while (got == GNUTLS_E_INTERRUPTED);
    if (got == GNUTLS_E_AGAIN)
        fail_msg("no answer");
    return got > 0 ? (size_t)got : 0;
}

/* More bytes into the buffer; false when the connection has ended. */
static bool receive_more(struct rawhttp *http)
{
    size_t got;

    assert_true(http->length < sizeof http->buffer);
    got = receive_some(http, http->buffer + http->length, sizeof http->buffer - http->length);
    http->length += got;
    return got > 0;
}

static void take(struct rawhttp *http, size_t length)
{
    memmove(http->buffer, http->buffer + length, http->length - length);
    http->length -= length;
}

static void receive_body(struct rawhttp *http, struct rawhttp_reply *reply)
{
    while (http->length < reply->content_length && receive_more(http))
        ;
    reply->body_length =
        http->length < reply->content_length ? http->length : reply->content_length;
    snprintf(reply->body, sizeof reply->body, "%.*s", (int)reply->body_length, http->buffer);
    reply->json = json_loadb(http->buffer, reply->body_length, JSON_DECODE_ANY, NULL);
    take(http, reply->body_length);
}

void rawhttp_receive(struct rawhttp *http, struct rawhttp_reply *reply)
{
    const char *end, *announced;
    size_t head;

    memset(reply, 0, sizeof *reply);
    while (!(end = memmem(http->buffer, http->length, "\r\n\r\n", 4))) {
        if (!receive_more(http))
            return;
    }
    head = (size_t)(end - http->buffer) + 4;
    assert_true(head < sizeof reply->head);
    memcpy(reply->head, http->buffer, head);
    take(http, head);
    assert_memory_equal(reply->head, "HTTP/1.1 ", 9);
    reply->status = (int)strtol(reply->head + 9, NULL, 10);
    if ((announced = strcasestr(reply->head, "\r\nContent-Length:")))
        reply->content_length = strtoul(announced + 17, NULL, 10);
    if (reply->content_length > 0)
        receive_body(http, reply);
}

void rawhttp_release(struct rawhttp_reply *reply)
{
    json_decref(reply->json);
}

int rawhttp_once(unsigned port, const char *method, const char *path, const char *headers,
                 const char *body, struct rawhttp_reply *reply)
{
    struct rawhttp http;
    struct rawhttp_reply own;
    int status;

    rawhttp_open(&http, port);
    rawhttp_ask(&http, method, path, headers, body);
    rawhttp_receive(&http, &own);
    rawhttp_close(&http);
    status = own.status;
    if (reply)
        *reply = own;
    else
        rawhttp_release(&own);
    return status;
}
