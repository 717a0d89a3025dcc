/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/line.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

struct line {
    int fd;
    gnutls_session_t tls; /* NULL: plain */
    gnutls_certificate_credentials_t credentials;
    char *data;
    size_t used, size;
};

static struct line *open_line(const char *path, unsigned host, int port)
{
    struct line *line = calloc(1, sizeof *line);
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in remote = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in own = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~255u) | host)};
    const int on = 1;
    struct timeval deadline = {.tv_sec = AWAIT_DEADLINE_MS / 1000};
    assert_non_null(line);
    line->fd = socket(path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(line->fd >= 0);
    setsockopt(line->fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    setsockopt(line->fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
    if (path) {
        snprintf(local.sun_path, sizeof local.sun_path, "%s", path);
        assert_int_equal(connect(line->fd, (struct sockaddr *)&local, sizeof local), 0);
    } else {
        /* The end of a handshake leaves at once, as it does with libcurl: until it has come, the
         * broker knows nothing of the certificate. */
        setsockopt(line->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        assert_int_equal(bind(line->fd, (struct sockaddr *)&own, sizeof own), 0);
        assert_int_equal(connect(line->fd, (struct sockaddr *)&remote, sizeof remote), 0);
    }
    line->size = 4096;
    line->data = calloc(1, line->size);
    assert_non_null(line->data);
    return line;
}

struct line *line_open(const char *path, int port)
{
    return open_line(path, 1, port);
}

struct line *line_open_from(unsigned host, int port)
{
    return open_line(NULL, host, port);
}

void line_close(struct line *line)
{
    if (!line)
        return;
    if (line->tls) {
        gnutls_deinit(line->tls);
        gnutls_certificate_free_credentials(line->credentials);
    }
    close(line->fd);
    free(line->data);
    free(line);
}

int line_secure(struct line *line, const struct line_tls *tls)
{
    gnutls_certificate_credentials_t *credentials = &line->credentials;
    *credentials = tls->credentials;
    if (!*credentials)
        assert_int_equal(gnutls_certificate_allocate_credentials(credentials), 0);
    assert_true(gnutls_certificate_set_x509_trust_file(*credentials, tls->authority,
                                                       GNUTLS_X509_FMT_PEM) > 0);
    if (tls->cert) /* also when its signer is none that the other side has asked for */
        assert_int_equal(gnutls_certificate_set_x509_key_file(*credentials, tls->cert, tls->key,
                                                              GNUTLS_X509_FMT_PEM),
                         0);
    assert_int_equal(
        gnutls_init(&line->tls, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL | GNUTLS_FORCE_CLIENT_CERT), 0);
    if (tls->priorities)
        assert_int_equal(gnutls_priority_set_direct(line->tls, tls->priorities, NULL), 0);
    else
        assert_int_equal(gnutls_set_default_priority(line->tls), 0);
    if (tls->alpn) {
        gnutls_datum_t protocol = {(unsigned char *)(uintptr_t)tls->alpn,
                                   (unsigned)strlen(tls->alpn)};
        assert_int_equal(gnutls_alpn_set_protocols(line->tls, &protocol, 1, 0), 0);
    }
    gnutls_credentials_set(line->tls, GNUTLS_CRD_CERTIFICATE, *credentials);
    gnutls_session_set_verify_cert(line->tls, NULL, 0);
    gnutls_transport_set_int(line->tls, line->fd);
    gnutls_handshake_set_timeout(line->tls, AWAIT_DEADLINE_MS);
    int rc;
    do
        rc = gnutls_handshake(line->tls);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    return rc;
}

const char *line_version(const struct line *line)
{
    return gnutls_protocol_get_name(gnutls_protocol_get_version(line->tls));
}

void line_protocol(const struct line *line, char *out, size_t size)
{
    gnutls_datum_t protocol = {NULL, 0};
    (void)gnutls_alpn_get_selected_protocol(line->tls, &protocol);
    snprintf(out, size, "%.*s", (int)protocol.size, (const char *)protocol.data);
}

unsigned line_serial(const struct line *line)
{
    unsigned count = 0;
    unsigned char serial[20];
    size_t size = sizeof serial;
    gnutls_x509_crt_t cert;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(line->tls, &count);
    assert_true(count > 0);
    assert_int_equal(gnutls_x509_crt_init(&cert), 0);
    assert_int_equal(gnutls_x509_crt_import(cert, chain, GNUTLS_X509_FMT_DER), 0);
    assert_int_equal(gnutls_x509_crt_get_serial(cert, serial, &size), 0);
    gnutls_x509_crt_deinit(cert);
    return serial[size - 1];
}

static ssize_t line_write(struct line *line, const char *bytes, size_t length)
{
    return line->tls ? gnutls_record_send(line->tls, bytes, length)
                     : send(line->fd, bytes, length, MSG_NOSIGNAL);
}

/* In TLS 1.3 tickets of the other side come between; they are no bytes of ours. */
static ssize_t line_read(struct line *line, char *bytes, size_t size)
{
    ssize_t got;
    if (!line->tls)
        return recv(line->fd, bytes, size, 0);
    do
        got = gnutls_record_recv(line->tls, bytes, size);
    while (got == GNUTLS_E_INTERRUPTED);
    return got;
}

int line_send(struct line *line, const char *bytes, size_t length)
{
    while (length) {
        ssize_t sent = line_write(line, bytes, length);
        if (sent <= 0)
            return -1;
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

int line_request(struct line *line, const char *method, const char *path, const char *headers,
                 const char *body)
{
    char *text;
    int length =
        asprintf(&text, "%s %s HTTP/1.1\r\nHost: mcastd\r\n%sContent-Length: %zu\r\n\r\n%s", method,
                 path, headers ? headers : "", body ? strlen(body) : 0, body ? body : "");
    assert_true(length > 0);
    int rc = line_send(line, text, (size_t)length);
    free(text);
    return rc;
}

/* Reads what comes: bytes, 0 at the end, -1 when the deadline passed. */
static ssize_t read_some(struct line *line)
{
    if (line->size - line->used < 2) {
        line->size *= 2;
        line->data = realloc(line->data, line->size);
        assert_non_null(line->data);
    }
    ssize_t got = line_read(line, line->data + line->used, line->size - line->used - 1);
    if (got > 0)
        line->used += (size_t)got;
    line->data[line->used] = '\0';
    return got;
}

int line_answer(struct line *line, bool bodiless, struct answer *answer)
{
    long taken;
    while ((taken = answer_take(line->data, line->used, bodiless, answer)) == 0)
        if (read_some(line) <= 0)
            return -1;
    assert_true(taken > 0);
    line->used -= (size_t)taken;
    memmove(line->data, line->data + taken, line->used + 1);
    return 0;
}

bool line_await(struct line *line, const char *text)
{
    while (!strstr(line->data, text))
        if (read_some(line) <= 0)
            return false;
    return true;
}

const char *line_seen(const struct line *line)
{
    return line->data;
}

bool line_ended(struct line *line)
{
    size_t before = line->used;
    return read_some(line) <= 0 && line->used == before;
}
