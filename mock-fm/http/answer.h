/* What is answered to a request: a status and a JSON document, and the bytes that come of them. */
#ifndef MCAST_MOCK_FM_HTTP_ANSWER_H
#define MCAST_MOCK_FM_HTTP_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "mock-fm/http/problem.h"

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
 * behind its buffer then. 0, or -1 without memory; the caller frees body->bytes. */
int answer_render(const struct answer *answer, struct body *body);

#endif
