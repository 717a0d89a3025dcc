/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_FMAPI_PUPPET_H
#define MCAST_TESTS_FMAPI_PUPPET_H

#include <stdbool.h>
#include <stddef.h>

/* A server on strings: answers HTTP/1.1 over plain sockets just as the test's script says, also in
 * ways that no HTTP library would. One thread a connection, so that a script may wait. */

struct puppet_request {
    const char *method;
    const char *path;
    const char *head;    /* request line and headers, as they came */
    const char *body;    /* NUL-terminated */
    unsigned connection; /* 1, 2, … */
    unsigned number;     /* of all requests, 1, 2, … */
};

enum puppet_fault {
    PUPPET_NONE = 0,
    PUPPET_DROP,     /* close without a byte */
    PUPPET_RESET,    /* the same, with a TCP reset */
    PUPPET_TRUNCATE, /* headers that promise the whole body, half of it, close */
    PUPPET_STALL,    /* the same, but keep the connection open until the end */
    PUPPET_SILENT,   /* say nothing until the end */
    PUPPET_GARBAGE,  /* bytes that are no HTTP */
    PUPPET_PADDED,   /* the body in chunks of a byte, each with PUPPET_PADDING more on the way */
};

enum { PUPPET_PADDING = 1 << 20 };

struct puppet_answer {
    int status;
    char *body;         /* from malloc, or NULL: empty; the puppet frees it */
    const char *header; /* one more header line without its end, or NULL */
    enum puppet_fault fault;
    bool close; /* close afterwards, without saying so */
};

/* Called on the connections' threads, one at a time. */
typedef void puppet_script_fn(void *arg, const struct puppet_request *request,
                              struct puppet_answer *answer);

struct puppet_options {
    puppet_script_fn *script;
    void *arg;
    const char *tls_cert; /* PEM files; NULL: no TLS */
    const char *tls_key;
    const char *client_ca; /* a client must show a certificate of this authority's; NULL: none */
    bool mute;             /* accept connections and say nothing, not even a TLS handshake */
    unsigned gathering; /* answer nobody before as many requests are waiting at once; 0, 1: off */
};

struct puppet;
/* Listens on a port of 127.0.0.1 that was free. Fails the test when it cannot. */
struct puppet *puppet_create(const struct puppet_options *options);
void puppet_destroy(struct puppet *puppet);

const char *puppet_url(const struct puppet *puppet);

/* From now on new connections are shown this certificate. */
void puppet_show(struct puppet *puppet, const char *tls_cert, const char *tls_key);
/* From now on nobody is answered before as many more requests are waiting at once. */
void puppet_gather(struct puppet *puppet, unsigned gathering);
/* From now on connections are refused. */
void puppet_refuse(struct puppet *puppet);
/* Waits until no connection is open at this end. */
void puppet_await_closed(struct puppet *puppet);

unsigned puppet_connections(struct puppet *puppet); /* accepted so far */
unsigned puppet_requests(struct puppet *puppet);    /* received so far */
unsigned puppet_most_open(struct puppet *puppet);   /* connections open at once, the most */

/* For scripts: formatted text from malloc. */
__attribute__((format(printf, 1, 2))) char *puppet_text(const char *format, ...);

#endif
