/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A server on strings: answers HTTP/1.1 over plain sockets just as the test's script says, also in
 * ways that no HTTP library would. One thread a connection, so that a script may wait. */

struct scriptedserver_request {
    const char *method;
    const char *path;
    const char *head;    /* request line and headers, as they came */
    const char *body;    /* NUL-terminated */
    unsigned connection; /* 1, 2, … */
    unsigned number;     /* of all requests, 1, 2, … */
};

enum scriptedserver_fault {
    SCRIPTEDSERVER_NONE = 0,
    SCRIPTEDSERVER_DROP,     /* close without a byte */
    SCRIPTEDSERVER_RESET,    /* the same, with a TCP reset */
    SCRIPTEDSERVER_TRUNCATE, /* headers that promise the whole body, half of it, close */
    SCRIPTEDSERVER_STALL,    /* the same, but keep the connection open until the end */
    SCRIPTEDSERVER_SILENT,   /* say nothing until the end */
    SCRIPTEDSERVER_GARBAGE,  /* bytes that are no HTTP */
    SCRIPTEDSERVER_PADDED, /* the body in chunks of a byte, each with SCRIPTEDSERVER_PADDING more on
                              the way */
};

enum { SCRIPTEDSERVER_PADDING = 1 << 20 };

struct scriptedserver_answer {
    int status;
    char *body;         /* from malloc, or NULL: empty; the puppet frees it */
    const char *header; /* one more header line without its end, or NULL */
    enum scriptedserver_fault fault;
    bool close; /* close afterwards, without saying so */
};

/* Called on the connections' threads, one at a time. */
typedef void scriptedserver_script_fn(void *arg, const struct scriptedserver_request *request,
                                      struct scriptedserver_answer *answer);

struct scriptedserver_options {
    scriptedserver_script_fn *script;
    void *arg;
    const char *tls_cert; /* PEM files; NULL: no TLS */
    const char *tls_key;
    const char *client_ca; /* a client must show a certificate of this authority's; NULL: none */
    bool mute;             /* accept connections and say nothing, not even a TLS handshake */
    unsigned gathering; /* answer nobody before as many requests are waiting at once; 0, 1: off */
};

struct scriptedserver;
/* Listens on a port of 127.0.0.1 that was free. Fails the test when it cannot. */
struct scriptedserver *scriptedserver_create(const struct scriptedserver_options *options);
void scriptedserver_destroy(struct scriptedserver *scriptedserver);

const char *scriptedserver_url(const struct scriptedserver *scriptedserver);

/* From now on new connections are shown this certificate. */
void scriptedserver_show(struct scriptedserver *scriptedserver, const char *tls_cert,
                         const char *tls_key);
/* From now on nobody is answered before as many more requests are waiting at once. */
void scriptedserver_gather(struct scriptedserver *scriptedserver, unsigned gathering);
/* From now on connections are refused. */
void scriptedserver_refuse(struct scriptedserver *scriptedserver);
/* Waits until no connection is open at this end. */
void scriptedserver_await_closed(struct scriptedserver *scriptedserver);

unsigned scriptedserver_connections(struct scriptedserver *scriptedserver); /* accepted so far */
unsigned scriptedserver_requests(struct scriptedserver *scriptedserver);    /* received so far */
unsigned scriptedserver_most_open(
    struct scriptedserver *scriptedserver); /* connections open at once, the most */

/* For scripts: formatted text from malloc. */
__attribute__((format(printf, 1, 2))) char *scriptedserver_text(const char *format, ...);
