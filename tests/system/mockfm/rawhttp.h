/* SPDX-License-Identifier: Apache-2.0 */
/* One TCP connection and the bytes that cross it: for what an HTTP library would hide. */
#pragma once

#include <gnutls/gnutls.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RAWHTTP_BUFFER 65536

struct rawhttp {
    int fd;
    gnutls_session_t tls; /* NULL: plain */
    gnutls_certificate_credentials_t trust;
    size_t length; /* bytes received and not yet taken */
    char buffer[RAWHTTP_BUFFER];
};

struct rawhttp_reply {
    int status;            /* 0: the connection was closed instead */
    size_t content_length; /* as announced; 0 without */
    size_t body_length;    /* as received; less than announced when the connection closed */
    json_t *json;          /* NULL when the body is none */
    char head[2048];       /* status line and headers */
    char body[16384];      /* the start of it; terminated */
};

/* Connects to 127.0.0.1:port; fails the test when it cannot. Close it with rawhttp_close. */
void rawhttp_open(struct rawhttp *http, unsigned port);
void rawhttp_close(struct rawhttp *http);

/* From here on it is TLS. Whose certificate it meets does not matter here. */
void rawhttp_secure(struct rawhttp *http);

void rawhttp_send(struct rawhttp *http, const void *bytes, size_t length);

/* Sends a request with these further header lines (each ending in CRLF; or NULL) and body (or
 * NULL). */
void rawhttp_ask(struct rawhttp *http, const char *method, const char *path, const char *headers,
                 const char *body);

/* Waits for the next reply, also an interim one (1xx), or for the end of the connection. Fails the
 * test when neither comes in time. Release it. */
void rawhttp_receive(struct rawhttp *http, struct rawhttp_reply *reply);
void rawhttp_release(struct rawhttp_reply *reply);

/* Ask and receive on a connection of its own: the status. The reply may be NULL. */
int rawhttp_once(unsigned port, const char *method, const char *path, const char *headers,
                 const char *body, struct rawhttp_reply *reply);
