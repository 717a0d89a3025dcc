/* The rules of misbehaviour in force. The first one that fires decides. */
#ifndef MCAST_MOCK_FM_FAULTS_FAULTS_H
#define MCAST_MOCK_FM_FAULTS_FAULTS_H

#include <jansson.h>
#include <stdint.h>

#include "mock-fm/faults/fault.h"

#define FAULTS_MAX 1000

struct faults {
    struct fault_rule *rules[FAULTS_MAX];
    size_t count;
    uint64_t dice;
};

void faults_init(struct faults *faults, uint64_t seed);
void faults_release(struct faults *faults);

/* Adds one rule (an object) or several (an array of them), all or none. 0, or -1 with a problem. */
int faults_add(struct faults *faults, const json_t *rules, struct problem *problem);
void faults_clear(struct faults *faults);

/* What goes wrong with this request, which shows a session token or not: a copy, to be released, as
 * the rule may be gone before the request is answered. */
struct fault faults_pick(struct faults *faults, const struct request *request, bool session);

/* May one of them ask for a read that lags? */
bool faults_lag(const struct faults *faults);

/* The rules as given, each with the counters `matched` and `fired`. */
json_t *faults_document(const struct faults *faults);

#endif
