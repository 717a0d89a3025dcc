/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One call of the library, from its arguments to its result, without the transport: the form that
 * waits (handle.h) and the form that does not (async.c) send and read the same. */

#include "client/mcast.h"
#include "client/text.h"

#include <jansson.h>

struct answer {
    int status;
    char type[64];        /* media type without parameters, lower case */
    unsigned retry_after; /* s; 0: not given */
    struct text body;
};

/* Makes a document (field.h) of an answer that is a success, or MCAST_UNCLEAR, MCAST_NOMEM; then
 * *document is NULL, or still to be freed. */
typedef int call_read_fn(const struct answer *answer, void **document, struct mcast_error *error);

/* Receives pieces of a 200 answer as they come. Non-zero ends the stream. */
typedef int call_piece_fn(const char *bytes, size_t length, void *data);

struct call {
    int rc;              /* why it cannot be made; 0: it can */
    const char *method;  /* every request of this interface may be repeated without harm */
    char *path;          /* with the query, escaped */
    char *body;          /* JSON, or NULL */
    const char *accept;  /* media type; NULL: application/json */
    unsigned wait_ms;    /* the answer may take so much longer than others */
    bool once;           /* but this one: at the next leader it would be done to that, too */
    bool with_token;     /* a job's token says for which job it is, instead of who asks */
    call_read_fn *read;  /* NULL: the content of the answer is not wanted */
    call_piece_fn *each; /* receives a stream of the accepted type; NULL: there is none */
    void *data;
};

void call_release(struct call *call);

/* Method and path (of printf). MCAST_NOMEM in call->rc; nothing happens if that is set already. */
__attribute__((format(printf, 5, 6))) void call_set(struct call *call, const char *method,
                                                    call_read_fn *read, struct mcast_error *error,
                                                    const char *path, ...);

/* Takes over the reference to body, which becomes the text to be sent. NULL, or what cannot be
 * written: MCAST_USAGE, "<what> not UTF-8", in call->rc; nothing happens if that is set already. */
void call_set_body(struct call *call, json_t *body, const char *what, struct mcast_error *error);

/* Adds a member to the body, if it is given; takes over both references. Returns the body, or NULL
 * when it or the value is NULL: not UTF-8, or memory is exhausted. */
json_t *call_add(json_t *body, const char *name, bool given, json_t *value);

/* Words, ended by NULL, as an array. NULL: as above, or there is no list. */
json_t *call_words(const char *const *words);

/* The answer in a new document of this size; NULL with the error. */
void *call_document(const struct answer *answer, size_t size, struct mcast_error *error);

/* The document is the answer, and nothing else. */
call_read_fn call_read_root;

/* ---- names that may be put into a request: what passes needs no escaping in a path ---- */

enum { NAMES_NODE_MAX = 255, NAMES_WAIT_MAX_MS = 60000 };

/* 0, or MCAST_USAGE with what is allowed. NULL counts as missing. */
int names_check_cluster(const char *cluster, struct mcast_error *error);
int names_check_job(const char *job, struct mcast_error *error);
int names_check_step(const char *step, struct mcast_error *error);
int names_check_node(const char *node, struct mcast_error *error);
int names_check_vni(const char *name, struct mcast_error *error); /* of a shared VNI */

/* How long the broker may wait for the fabric manager: MCAST_USAGE above NAMES_WAIT_MAX_MS. */
int names_check_wait(unsigned wait_ms, struct mcast_error *error);

/* Both names, of which this path is made. */
int names_check(const char *cluster, const char *job, struct mcast_error *error);
#define NAMES_JOB_PATH "/v1/clusters/%s/jobs/%s"

/* ---- what an answer is about ---- */

/* Takes over the reference to root, also on failure. MCAST_UNCLEAR when a field that is needed is
 * missing, or one is of a wrong type; unknown fields and words are fine. */
int reservation_decode(json_t *root, struct mcast_reservation **out, struct mcast_error *error);

/* The body of an answer, which is one reservation. */
int reservation_parse(const char *body, size_t length, struct mcast_reservation **out,
                      struct mcast_error *error);

/* Environment variables for a job's tasks, {"NAME":"value",…}, in a list of the document. They end
 * up in `eval`, also of root, and who answers need not be what it claims to be: a name that no
 * shell would take, a value that is no string or more than one line is MCAST_UNCLEAR, and what is
 * not called FI_CXI_…, SLINGSHOT_…, FI_OPX_…, FI_PSM3_… or PSM3_… is left out. */
int env_decode(void *document, json_t *object, const struct mcast_variable **out, size_t *count,
               struct mcast_error *error);

/* Borrows both; value NULL: to be unset. It is secret if it has the name of the token's, or of
 * a job's key. */
struct mcast_variable env_variable(const char *name, const char *value);

/* 404 becomes MCAST_NOT_FOUND, any other problem MCAST_REFUSED with the broker's detail, code and
 * field; an answer without application/problem+json MCAST_UNCLEAR, because that was not mcastd. */
int problem_read(const struct answer *answer, const char *peer, struct mcast_error *error);

/* Whether it is a problem with this `code`. */
bool problem_is(const struct answer *answer, const char *code);

/* The `leader` of a problem: the URL of the broker that leads, as the one that answers has it.
 * False: it names none, or one that is too long. */
bool problem_leader(const struct answer *answer, char *out, size_t size);
