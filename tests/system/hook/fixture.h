/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/testbed.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A job's environment, with trees at a real mock-fm, a real broker, and mcast-cleanup to be run in
 * it. Every run is searched for the job's token. Whatever fails here fails the test. */

struct fixture;

/* kind: of mock-fm's session tokens. The job has, in this order, the trees FIXTURE_ALL. */
struct fixture *fixture_open(const char *kind, bool tls);
void fixture_close(struct fixture *fixture);
struct testbed *fixture_stage(struct fixture *fixture);

#define FIXTURE_ALL "/fA=2 /fA/fB=1 /fAx=1 /fC=1 "
#define FIXTURE_WITHOUT_STEP "/fA/fB=1 /fAx=1 /fC=1 "
#define FIXTURE_WITHOUT_BELOW "/fAx=1 /fC=1 "

/* A variable of the environment in which the hook runs; value NULL: not set. The job's own are
 * there from the start, with the step /fA, and nothing of a broker. */
void fixture_set(struct fixture *fixture, const char *name, const char *value);
const char *fixture_get(struct fixture *fixture, const char *name); /* NULL: not set */
void fixture_clear(struct fixture *fixture);                        /* all of them */
void fixture_set_broker(struct fixture *fixture);                   /* MCAST_URL */

/* Runs the hook and returns its exit status, once it has ended and nobody has its outputs open any
 * more. Words end with NULL. */
int fixture_run(struct fixture *fixture, const char *const *words);
const char *fixture_said(struct fixture *fixture); /* on standard error; "" for nothing */
#define FIXTURE_RUN(fixture, ...) fixture_run((fixture), (const char *const[]){__VA_ARGS__, NULL})

/* Starts it and does not wait; its id, to be waited for. */
pid_t fixture_start(struct fixture *fixture, const char *const *words);

/* A process of the hook's in the background with this word on its command line; 0: there is none.
 */
pid_t fixture_background(const char *word);

/* What mock-fm holds of the job, as FIXTURE_ALL. */
void fixture_trees_are(struct fixture *fixture, const char *trees);
void fixture_await_trees(struct fixture *fixture, const char *trees);
/* How many requests it has had. */
long fixture_requests(struct fixture *fixture);
/* A control call of it; body NULL: none. */
void fixture_tell_fm(struct fixture *fixture, const char *method, const char *path,
                     const char *body);

/* A token of the broker's for these steps of the job. */
void fixture_mint(struct fixture *fixture, const char *steps, char *out, size_t size);
