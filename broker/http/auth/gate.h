/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/call.h"

/* Whether a request may pass, judged before its body is looked at. */

/* Seconds after which it is worth asking again while the disk fails, or all connections are in use.
 */
enum { GATE_RETRY_STORAGE = 5, GATE_RETRY_CROWD = 1 };

/* By it root with a MUNGE credential says which node it is, where the path does not. A claim, which
 * the credential's origin has to bear out (origin.h). */
#define GATE_NODE_HEADER "Mcast-Node"

/* Finds the route and checks method, parameters, identity and the body's type. 0; or -1 with
 * call->problem set; or GATE_LATER: a credential is being decoded, call_proved comes later, and
 * then gate_admit says the rest. */
enum { GATE_LATER = 1 };
int gate_judge(struct call *call, const char *method);

/* 0, or -1 with call->problem set. */
int gate_admit(struct call *call);

/* The same for what can change while the body comes: rights and certificate of who asks, the
 * broker's role, storage, its end. */
int gate_judge_again(struct call *call);

/* 0 as long as who asks may go on: for an answer that takes its time. Else -1, and call->problem
 * says why: a right was taken away, a certificate or token has expired, the token's job is over. */
int gate_judge_still(struct call *call);

/* Who asks, by the rights of now. */
const struct identity *gate_refresh(struct call *call);

/* 503 not-leader, with who leads. Returns -1. */
int gate_refuse_role(struct call *call);

/* 403 for a peer that may not do this: names who it is and what it lacks. Returns -1. */
int gate_forbid(struct call *call, const char *lacks);
