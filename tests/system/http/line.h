/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/http/answer.h"

#include <gnutls/gnutls.h>

/* One raw connection, blocking, with a deadline: for what no HTTP library lets one do. */

struct line;

/* To a Unix socket, or with path NULL to 127.0.0.1:port. Asserts that it is made. */
struct line *line_open(const char *path, int port);
/* The same over TCP, from 127.0.0.<host>: to the other side another machine each. */
struct line *line_open_from(unsigned host, int port);

struct line_tls {
    const char *authority;                        /* PEM file of the authority of the other side */
    const char *cert, *key;                       /* own, PEM files; NULL: none */
    const char *priorities;                       /* GnuTLS's words; NULL: its own */
    const char *alpn;                             /* protocol offered; NULL: none is spoken of */
    gnutls_certificate_credentials_t credentials; /* NULL, or these, which become the line's */
};

/* Goes on with TLS. 0, or a negative code of GnuTLS: that of the handshake, or of the other side's
 * certificate. */
int line_secure(struct line *line, const struct line_tls *tls);
/* What TLS has settled on: "TLS1.3", and the protocol or "". */
const char *line_version(const struct line *line);
void line_protocol(const struct line *line, char *out, size_t size);
/* The serial number of the other side's certificate. */
unsigned line_serial(const struct line *line);

void line_close(struct line *line); /* NULL is allowed */

/* All of it, or -1 when the other side has closed. */
int line_send(struct line *line, const char *bytes, size_t length);

/* "METHOD path HTTP/1.1", Host, the headers ("Name: value\r\n…", may be NULL), the body. */
int line_request(struct line *line, const char *method, const char *path, const char *headers,
                 const char *body);

/* The next answer. 0; -1: closed, or the deadline passed. bodiless as answer_take. */
int line_answer(struct line *line, bool bodiless, struct answer *answer);

/* Reads until what was received since the last answer holds text (chunk marks and all), or the
 * other side closes: whether it does. The bytes so far: line_seen. */
bool line_await(struct line *line, const char *text);
const char *line_seen(const struct line *line);

/* Whether nothing more comes: closed without a byte beyond what was read. */
bool line_ended(struct line *line);
