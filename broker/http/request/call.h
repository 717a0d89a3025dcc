/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/listen/peer.h"
#include "broker/http/request/body.h"
#include "broker/http/request/problem.h"
#include "broker/http/shared.h"
#include "broker/http/request/target.h"
#include "broker/http/auth/tokenproof.h"
#include "broker/http/request/writer.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

struct origin;

/* One call of the API, from its request line to the last byte of its answer. While it is READING, a
 * credential in its head may have to be decoded first (PROVING; PROVED until the server comes to
 * its head again, or finds that the client has gone). With the whole request it is DECIDING, until
 * its answer is SENT.
 *
 * A handler returns -1 with problem set, and that is the answer; or 0 after exactly one of:
 * call_reply, call_reply_saved, call_reply_shown, or engine_step with call_ticket, after which the
 * route's render writes the answer and the engine has it sent. */

enum call_phase {
    CALL_NEW, /* its head has not been judged */
    CALL_READING,
    CALL_PROVING, /* suspended */
    CALL_PROVED,
    CALL_DECIDING, /* by its handler, then suspended */
    CALL_SENT
};

/* What a job is like beyond its nodes (S1). */
struct job_layout {
    int interconnect;                      /* enum interconnect_kind; -1: not given */
    int64_t tasks_per_node, cpus_per_task; /* 0: not given */
};

/* What a launch document is asked for with. */
struct launch_wish {
    bool wanted;
    struct job_layout layout; /* to be the reservation's, where it is given */
    int64_t restart;    /* the resource manager's count of the job's restarts; -1: not given */
    int64_t lifetime_s; /* of the document */
    bool env;           /* the answer has the environment, too, */
    bool addresses;     /* and the addresses of the job's nodes */
};

struct call {
    struct http *http;
    struct peer *peer;
    struct MHD_Connection *connection;
    LIST_ENTRY(call) link;
    const struct route *route; /* NULL: there is no such path or method */
    struct target target;
    enum call_phase phase;
    struct identity identity; /* who asks; PROOF_NONE where the route needs none */
    struct tokenproof *token; /* what a token that it shows proves; or NULL */
    struct origin *origin;    /* root by MUNGE says it is a node; or NULL */
    bool head;                /* answered without a body */
    bool last;                /* where it ends can be seen differently: the connection ends */
    bool refused;             /* problem is set; the body is only waited for */
    bool suspended;           /* while DECIDING: its answer resumes the connection */
    bool owed;                /* counted in http->owed */
    /* What to do when all that it shows is durable, or cannot be saved (code, and out is the
     * problem); NULL: out is sent. */
    void (*durable)(struct call *call, int code);
    bool unsaved; /* it shows something that is not durable yet */
    bool secret;  /* out holds a token: wiped afterwards, not to be cached */
    int status;
    int node_state;       /* enum node_state that a node reports */
    uint64_t begun_ns;    /* by uv_hrtime, when its head was there */
    const char *type;     /* of the answer */
    const char *document; /* an answer that is not in out: lives as long as the program, */
    size_t document_length;
    struct metrics_text *metrics_text; /* or as this, of which it has a use; or NULL */
    char allow[32];
    char *trimmed; /* see call_header; or NULL */
    struct launch_wish launch;
    struct launching *launching; /* the answer waits for its launch document; or NULL */
    struct stream *stream;       /* the answer is this stream, */
    uint64_t durable_seq;        /* and when it begins, events up to here are durable */
    struct problem problem;
    struct writer out;
    json_t *json; /* the body, see call_json; or NULL */
    char *uri, *body;
    size_t body_size, body_used, body_dropped;
};

/* The engine's mark for this call; valid until its answer is given. */
uint64_t call_ticket(const struct call *call);

/* A header's value, or NULL: it is not there (head_value). Valid until the next call_header. */
const char *call_header(struct call *call, const char *name);

/* The body as JSON, while the handler runs; NULL with call->problem set. Once. */
const json_t *call_json(struct call *call);

/* What stands in out goes out now. type: a literal. These three return 0. */
int call_reply(struct call *call, int status, const char *type);

/* What stands in out goes out when all that it may show is durable. */
int call_reply_saved(struct call *call, int status, const char *type);

/* For answers that show reservations and nothing else that is saved: call_show for each of them,
 * then call_reply_shown. What stands in out goes out when they are durable, which most are at once,
 * also while nothing can be saved. */
void call_show(struct call *call, const struct reservation *reservation);
int call_reply_shown(struct call *call, int status, const char *type);

/* call->problem is the answer, for a render. */
void call_render_problem(struct call *call);
/* call->problem is the answer, now. */
void call_refuse(struct call *call);

extern const char CALL_JSON[]; /* "application/json" */

/* ---- for gate.c: the credential is decoded, and identity or refused and problem are set ---- */
void call_proved(struct call *call);

/* ---- for http.c: hooks of the server, arg is the struct listener ---- */
void *call_target(void *arg, const char *uri, struct MHD_Connection *connection);
enum MHD_Result call_access(void *arg, struct MHD_Connection *connection, const char *url,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **context);
void call_completed(void *arg, struct MHD_Connection *connection, void **context,
                    enum MHD_RequestTerminationCode code);
void call_destroy(struct call *call); /* of http->spare_calls */
/* ---- for http.c: the engine's listener ---- */
void call_render(void *http, const struct answer *answer);
void call_answered(void *http, uint64_t ticket, int code, const char *words);
