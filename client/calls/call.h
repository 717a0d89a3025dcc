/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_CALLS_CALL_H
#define MCAST_CLIENT_CALLS_CALL_H

/* One call of the library, from its arguments to its result, without what carries it: both forms,
 * the one that waits (handle.h) and the one that does not (async.c), send the same and read the
 * same. */

#include "client/mcast.h"
#include "client/text.h"

#include <jansson.h>

struct answer {
    int status;
    char type[64];        /* media type without parameters, lower case */
    unsigned retry_after; /* s; 0: not told */
    struct text body;
};

/* What an answer had in it; which of them depends on the call. */
struct result {
    struct mcast_reservation *reservation;
    struct mcast_steps *steps;
    struct mcast_sync_result *sync;
    struct mcast_variable *env; /* env_count of them, with their text in root */
    size_t env_count;
    json_t *root;
    char *json;
    bool releasing, gone;
};

void result_release(struct result *result);

/* Fills the result from an answer that is a success, or MCAST_UNCLEAR, MCAST_NOMEM. */
typedef int call_read_fn(const struct answer *answer, struct result *result,
                         struct mcast_error *error);

/* Receives pieces of a 200 answer as they come. Non-zero ends the stream. */
typedef int call_piece_fn(const char *bytes, size_t length, void *data);

struct call {
    const char *method;     /* every request of this interface may be repeated without harm */
    char *path;             /* with the query, escaped */
    char *body;             /* JSON, or NULL */
    const char *accept;     /* media type; NULL: application/json */
    uint64_t last_event_id; /* header Last-Event-ID, unless 0 */
    unsigned wait_ms;       /* the answer may take so much longer than others */
    bool with_token;        /* a job's token says for which job it is, instead of who asks */
    call_read_fn *read;     /* NULL: what the answer holds is not wanted */
    call_piece_fn *each;    /* receives a stream of the accepted type; NULL: there is none */
    void *data;
};

void call_release(struct call *call);

/* Method and path (of printf) of a call without anything more. MCAST_NOMEM. */
__attribute__((format(printf, 5, 6))) int call_set(struct call *call, const char *method,
                                                   call_read_fn *read, struct mcast_error *error,
                                                   const char *path, ...);

/* Takes over the reference to body, which becomes the text to be sent. NULL, or what cannot be
 * written: MCAST_USAGE, "<what> not UTF-8". */
int call_set_body(struct call *call, json_t *body, const char *what, struct mcast_error *error);

/* Words, ended by NULL, as an array. NULL: one is not UTF-8, or memory is exhausted. */
json_t *call_words(const char *const *words);

/* The result is the answer itself: as JSON in one line, or as an object. */
call_read_fn call_read_json, call_read_root;

/* A struct that the caller filled, as this version of the library knows it, in *mine, which has the
 * defaults (the macro named init): one from a program compiled earlier lacks members, which keep
 * them; one compiled later may set members unknown here, which must not be dropped in silence. Both
 * begin with their size. MCAST_USAGE. */
int call_adopt(void *mine, const void *given, const char *init, struct mcast_error *error);

/* ---- what an answer is about: reservation.c, problem.c ---- */

/* Takes over the reference to root, also on failure. MCAST_UNCLEAR when a field that is needed is
 * missing, or one is of a wrong type; unknown fields and words are fine. */
int reservation_decode(json_t *root, struct mcast_reservation **out, struct mcast_error *error);

/* The body of an answer, which is one reservation. */
int reservation_parse(const char *body, size_t length, struct mcast_reservation **out,
                      struct mcast_error *error);

/* 404 becomes MCAST_NOT_FOUND, any other problem MCAST_REFUSED with the broker's detail, code and
 * field; an answer without application/problem+json MCAST_UNCLEAR, because that was not mcastd. */
int problem_read(const struct answer *answer, const char *peer, struct mcast_error *error);

/* Whether it is a problem with this `code`. */
bool problem_is(const struct answer *answer, const char *code);

/* 0 for a success (2xx); else problem_read, and with a 401 why the request proved nothing ("":
 * unknown). */
int problem_judge(const struct answer *answer, const char *peer, const char *unproved,
                  struct mcast_error *error);

#endif
