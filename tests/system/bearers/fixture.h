/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "client/mcast.h"
#include "tests/system/http/answer.h"
#include "tests/system/rig/testbed.h"

#include <stdbool.h>
#include <stddef.h>

/* Jobs with trees, a real broker, mock-fm, and whoever has a token. Every answer is held against
 * openapi.json, and every token that comes up is remembered: fixture_close looks for each in all
 * that was written. Whatever fails here fails the test. */

struct fixture;

struct fixture_options {
    const char *session_tokens;   /* kind of mock-fm; NULL: its own */
    const char *broker, *hwcoll;  /* further lines of these sections, or NULL */
    const char *inventory;        /* lines of this one; NULL: it is off */
    const char *const *mock_args; /* further options of mock-fm, or NULL */
};

/* For setups: all runs, and the link is up. */
struct fixture *fixture_open(const struct fixture_options *options);
void fixture_close(struct fixture *fixture);
struct testbed *fixture_stage(struct fixture *fixture);

struct fixture_job {
    char name[32]; /* of cluster elcap */
    char token[64];
    json_int_t number;
};

/* Reserves for a job that gets multicast addresses. */
struct fixture_job fixture_reserve(struct fixture *fixture, const char *name);
void fixture_release(struct fixture *fixture, const char *name);

/* Makes a tree as libfabric does, with the job's token. nic: no two trees have the same. */
void fixture_plant(struct fixture *fixture, const struct fixture_job *job, const char *step,
                   unsigned nic);
/* How many the step has at the fabric manager. */
size_t fixture_trees(struct fixture *fixture, const struct fixture_job *job, const char *step);
/* Waits until it has none. */
void fixture_await_bare(struct fixture *fixture, const struct fixture_job *job, const char *step);

/* Of the broker's TCP socket, where its options have one. */
int fixture_port(struct fixture *fixture);

/* One request to the broker, with a token (NULL: without) and a body (NULL: none). Its status;
 * answer may be NULL. */
int fixture_ask(struct fixture *fixture, const char *method, const char *path, const char *token,
                const char *body, struct answer *answer);
/* The same with header lines of its own, and over TCP. */
int fixture_ask_so(struct fixture *fixture, bool tcp, const char *method, const char *path,
                   const char *headers, const char *body, struct answer *answer);

/* Asks, and asserts a problem of this status and code. Its detail into detail (256 bytes), or NULL.
 */
void fixture_refused(struct fixture *fixture, const char *method, const char *path,
                     const char *token, const char *body, int status, const char *code,
                     char *detail);

/* Whether the broker's status has this number: "cleanups", "pending". */
json_int_t fixture_status(struct fixture *fixture, const char *object, const char *name);
void fixture_await_status(struct fixture *fixture, const char *object, const char *name,
                          json_int_t value);

/* A token of the broker's, for whoever has this one; body as of the call, NULL: none. */
void fixture_mint(struct fixture *fixture, const char *token, const char *body,
                  char out[MCAST_TOKEN_SIZE]);
/* The same without the broker. NULL, 0: not restricted. */
void fixture_narrow(struct fixture *fixture, const char *token, const char *steps, int64_t expires,
                    const char *operation, char out[MCAST_TOKEN_SIZE]);

/* Must not be found in what was written. */
void fixture_remember(struct fixture *fixture, const char *token);

/* A control call of mock-fm; body NULL: none. */
void fixture_tell_fm(struct fixture *fixture, const char *method, const char *path,
                     const char *body);

/* Runs mcastctl with MCAST_TOKEN (NULL: unset): its exit code. What it prints into out, cut to fit,
 * standard error behind standard output. Words end with NULL. */
int fixture_ctl(struct fixture *fixture, const char *token, const char *const *words, char *out,
                size_t size);
