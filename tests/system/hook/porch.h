/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_HOOK_PORCH_H
#define MCAST_TESTS_HOOK_PORCH_H

#include "tests/system/rig/stage.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A job's environment, with trees at a real mock-fm, a real broker, and mcast-cleanup to be run in
 * it. Every run is searched for the job's token. Whatever fails here fails the test. */

struct porch;

/* kind: of mock-fm's session tokens. The job has, in this order, the trees PORCH_ALL. */
struct porch *porch_open(const char *kind, bool tls);
void porch_close(struct porch *porch);
struct stage *porch_stage(struct porch *porch);

#define PORCH_ALL "/fA=2 /fA/fB=1 /fAx=1 /fC=1 "
#define PORCH_WITHOUT_STEP "/fA/fB=1 /fAx=1 /fC=1 "
#define PORCH_WITHOUT_BELOW "/fAx=1 /fC=1 "

/* A variable of the environment in which the hook runs; value NULL: not set. The job's own are
 * there from the start, with the step /fA, and nothing of a broker. */
void porch_set(struct porch *porch, const char *name, const char *value);
const char *porch_get(struct porch *porch, const char *name); /* NULL: not set */
void porch_clear(struct porch *porch);                        /* all of them */
void porch_set_broker(struct porch *porch);                   /* MCAST_URL */

/* Runs the hook and returns its exit status, once it has ended and nobody has its outputs open any
 * more. Words end with NULL. */
int porch_run(struct porch *porch, const char *const *words);
const char *porch_said(struct porch *porch); /* on standard error; "" for nothing */
#define PORCH_RUN(porch, ...) porch_run((porch), (const char *const[]){__VA_ARGS__, NULL})

/* Starts it and does not wait; its id, to be waited for. */
pid_t porch_start(struct porch *porch, const char *const *words);

/* A process of the hook's in the background with this word on its command line; 0: there is none.
 */
pid_t porch_background(const char *word);

/* What mock-fm holds of the job, as PORCH_ALL. */
void porch_trees_are(struct porch *porch, const char *trees);
void porch_await_trees(struct porch *porch, const char *trees);
/* How many requests it has had. */
long porch_requests(struct porch *porch);
/* A control call of it; body NULL: none. */
void porch_tell_fm(struct porch *porch, const char *method, const char *path, const char *body);

/* A token of the broker's for these steps of the job. */
void porch_mint(struct porch *porch, const char *steps, char *out, size_t size);

#endif
