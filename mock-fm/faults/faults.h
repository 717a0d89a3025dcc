/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of misbehaviour in force: which requests each is for, how often, and what goes wrong
 * then (docs/mock-fm.md has the fields). The first rule that fires decides.
 *
 * What goes wrong with a request is the JSON of the rule that fired: checked when it was added, and
 * never changed. NULL: nothing. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "mock-fm/http/message.h"

#define FAULTS_MAX 1000

struct fault_rule {
    json_t *fault;
    int64_t first_us; /* when it fired first */
    uint64_t matched, fired;
};

struct faults {
    struct fault_rule rules[FAULTS_MAX];
    size_t count;
    uint64_t dice;
};

void faults_init(struct faults *faults, uint64_t seed);

/* Adds one rule (an object) or several (an array of them), all or none, which is not changed from
 * then on. 0, or -1 with a 400 that names the field. */
int faults_add(struct faults *faults, json_t *rules, struct problem *problem);

/* Removes and frees all of them. */
void faults_clear(struct faults *faults);

/* What goes wrong with this request, which shows a session token or not: a new reference, as the
 * rule may be gone before the request is answered. Counts the request; may advance the dice. */
json_t *faults_pick(struct faults *faults, const struct request *request, bool session);

/* May one of them ask for a read that lags? */
bool faults_lag(const struct faults *faults);

/* The rules as given, each with the counters `matched` and `fired`. */
json_t *faults_document(const struct faults *faults);

/* A field of a fault: 0 or false when it is not there. */
int64_t fault_number(const json_t *fault, const char *field);
bool fault_flag(const json_t *fault, const char *field);

/* What is asked for, as the fault has it. What it then refers to is the fault's. */
void fault_bend_request(const json_t *fault, struct request *request);

/* Does the request do what it asks for? */
bool fault_lets_act(const json_t *fault);

/* The answer instead of, or made of, the one that acting gave (all zero when there was none). */
void fault_bend_answer(const json_t *fault, const char *method, struct answer *answer);

/* The bytes instead of those that were rendered. */
void fault_bend_body(const json_t *fault, struct body *body);
