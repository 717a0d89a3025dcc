/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of misbehaviour in force: which requests each is for, how often, and what goes wrong
 * then. The first rule that fires decides. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "mock-fm/http/message.h"

#define FAULTS_MAX 1000

enum fault_drop {
    FAULT_DROP_NONE,
    FAULT_DROP_BEFORE, /* close the connection, nothing done */
    FAULT_DROP_AFTER,  /* act, then close the connection without an answer */
};

/* What goes wrong. All zero: nothing. */
struct fault {
    int64_t act_after_ms; /* act (and answer) that much later, also when the client has gone */
    int64_t delay_ms;     /* act, then answer that much later */
    enum fault_drop drop;
    int64_t status;        /* answer this instead of acting; 0: no */
    bool act;              /* with status: act nevertheless */
    json_t *body;          /* owned; answer this: a string as it is, anything else as JSON */
    json_t *merge;         /* owned; fields of the document replaced or, with null, taken away */
    json_t *headers;       /* owned; further header lines: an object of strings */
    bool truncate;         /* half of the body, then close */
    bool chunked;          /* the length of the body is not announced */
    int64_t byte_every_ms; /* the body byte by byte, so far apart; 0: no */
    int64_t fill_to;       /* fill the body up with blanks to so many bytes */
    bool garbage;          /* a body that is not JSON */
    bool no_document_links;
    bool no_hw_root;
    bool short_hw_root; /* three groups instead of six */
    bool no_session_token;
    bool patch_no_body;
    bool length_4096; /* fill the body up to a multiple of 4096 bytes */
    int64_t page_size;
    json_t *session_token;  /* owned; a job that is made gets this one */
    struct replica_lag lag; /* how far behind a read is answered */
};

/* Of which requests a rule is for. */
enum fault_login {
    FAULT_ANY_LOGIN,
    FAULT_SESSION,    /* those that show a job's session token */
    FAULT_NO_SESSION, /* all others */
};

struct fault_rule {
    char *method; /* NULL: any */
    char *path;   /* fnmatch pattern, in which * also stands for '/'; NULL: any */
    enum fault_login login;
    int64_t count;      /* fires so often at most; -1: always */
    int64_t skip;       /* lets so many pass first */
    int64_t every;      /* then fires for every so many-th */
    double probability; /* then fires so often */
    int64_t for_ms;     /* fires for so long, from its first time on; 0: for ever */
    int64_t first_us;   /* when that was */
    struct fault fault;
    json_t *text; /* as it was given */
    uint64_t matched, fired;
};

struct faults {
    struct fault_rule *rules[FAULTS_MAX];
    size_t count;
    uint64_t dice;
};

void faults_init(struct faults *faults, uint64_t seed);

/* Adds one rule (an object) or several (an array of them), all or none. 0, or -1 with a 400 that
 * names the field. */
int faults_add(struct faults *faults, const json_t *rules, struct problem *problem);

/* Removes and frees all of them. */
void faults_clear(struct faults *faults);

/* What goes wrong with this request, which shows a session token or not: a copy, to be released, as
 * the rule may be gone before the request is answered. Counts the request; may advance the dice. */
struct fault faults_pick(struct faults *faults, const struct request *request, bool session);
void fault_release(struct fault *fault);

/* May one of them ask for a read that lags? */
bool faults_lag(const struct faults *faults);

/* The rules as given, each with the counters `matched` and `fired`. */
json_t *faults_document(const struct faults *faults);

/* What is asked for, as the fault has it. What it then refers to is the fault's. */
void fault_bend_request(const struct fault *fault, struct request *request);

/* Does the request do what it asks for? */
bool fault_lets_act(const struct fault *fault);

/* The answer instead of, or made of, the one that acting gave (all zero when there was none). */
void fault_bend_answer(const struct fault *fault, const char *method, struct answer *answer);

/* The bytes instead of those that were rendered. */
void fault_bend_body(const struct fault *fault, struct body *body);
