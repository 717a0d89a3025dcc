/* One request as the HTTP server read it, before anybody judged it. */
#ifndef MCAST_MOCK_FM_HTTP_REQUEST_H
#define MCAST_MOCK_FM_HTTP_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "mock-fm/objects/replica.h"

struct request {
    const char *method;
    const char *path;          /* percent-decoded, without the query */
    const char *authorization; /* the header's value, or NULL */
    const char *body;          /* not terminated */
    size_t body_length;
    uint64_t page_size;        /* of lists; 0: no pages */
    uint64_t after;            /* where the page of a list begins */
    int64_t now_us;            /* since 1970 */
    const char *session_token; /* what a job that is made gets; NULL: one of its own */
    struct replica_lag lag;    /* how far behind a read is answered */
};

#endif
