/* SPDX-License-Identifier: Apache-2.0 */
/* One request as the HTTP server read it, and what is answered to it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far behind a read is answered; all zero: not at all. With both, the older state. */
struct replica_lag {
    int64_t ms;
    int64_t writes; /* changes */
};

struct request {
    const char *method;
    const char *path;          /* percent-decoded, without the query */
    const char *authorization; /* the header's value, or NULL */
    const char *body;          /* not terminated */
    size_t body_length;
    uint64_t page_size;        /* of lists; 0: no pages */
    uint64_t after;            /* where the page of a list begins */
    int64_t now_us;            /* since 1970 */
    const char *session_token; /* what a new job gets; NULL: one of its own */
    struct replica_lag lag;
};

/* Why a request is refused or a file cannot be used. Long enough for a job id (255 bytes) and the
 * sentence around it; longer texts are cut. */
struct problem {
    int status;     /* the status to answer with; 500 for what happens at start (files, sockets) */
    char text[512]; /* never a token or a password */
};

/* Fills the problem and returns -1, so that a caller can `return problem_set(p, 404, …)`. */
int problem_set(struct problem *problem, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The body: a new reference; NULL when it is no JSON, with a 400. */
json_t *request_json(const struct request *request, struct problem *problem);

struct answer {
    int status;
    json_t *document;  /* owned; NULL: no body */
    const char *allow; /* the methods to name in a 405, otherwise NULL */
    bool challenge;    /* ask for a login (WWW-Authenticate), with a 401 */
    bool no_store;     /* it holds a credential (RFC 6749, 5.1) */
};

struct body {
    char *bytes; /* owned; NULL when empty */
    size_t length;
};

/* The fabric manager's error document for this problem. */
void answer_problem(struct answer *answer, const struct problem *problem);

void answer_release(struct answer *answer);

/* Writes the document as text. The length is never a multiple of 4096: libfabric writes one byte
 * behind its buffer then. The caller frees body->bytes. */
void answer_render(const struct answer *answer, struct body *body);
