/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_TROUBLE_H
#define MCAST_CLIENT_TRANSPORT_TROUBLE_H

/* What a request that got no answer comes to: a code, a word, and a sentence with cause and next
 * step. */

#include "client/transport/credentials.h"
#include "client/transport/endpoint.h"
#include "base/secret.h"

enum { TROUBLE_WORDS_SIZE = 256 };

enum trouble_kind {
    TROUBLE_NONE, /* the answer is whole */
    TROUBLE_NOMEM,
    TROUBLE_ABSENT,    /* no connection could be made */
    TROUBLE_UNTRUSTED, /* who serves the Unix socket may not be the broker; nothing was sent */
    TROUBLE_NO_HOST,   /* the host's name cannot be resolved */
    TROUBLE_LATE,      /* there was one, and the time is over */
    TROUBLE_SILENT,    /* it ended without a byte of an answer */
    TROUBLE_BROKEN,    /* it ended within the answer, or the request */
    TROUBLE_DISTRUST,  /* the server's certificate is not good */
    TROUBLE_HANDSHAKE, /* no TLS connection came about */
    TROUBLE_CA_FILE,   /* what to trust cannot be read */
    TROUBLE_OWN_FILES, /* nor the client certificate or its key */
    TROUBLE_GARBLED,   /* no HTTP, or more of it than is taken */
};

struct trouble {
    enum trouble_kind kind;
    int os_error;                   /* errno of the connection that was not made; 0: unknown */
    char words[TROUBLE_WORDS_SIZE]; /* what the carrier says of it */
};

/* What all requests to one broker share. */
struct peer {
    struct endpoint endpoint;
    struct credentials credentials;
    struct secret token;    /* for calls that are made with one; none: not needed yet */
    char unproved[320];     /* why the last request went without a MUNGE credential, or "" */
    int64_t clock_ahead_ms; /* by the last answer's Date, if clock_known */
    bool clock_known;
};

/* Returns the code that it sets. What is to be set is called as all programs call it: cacert is
 * mcastctl's --cacert, node.conf's key, and mcast_set_cacert. */
int trouble_explain(const struct trouble *trouble, const struct peer *peer, int64_t timeout_ms,
                    struct mcast_error *error);

/* Whether an established connection broke, rather than that none could be made. */
bool trouble_broken(const struct trouble *trouble);

#endif
