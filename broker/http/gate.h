#ifndef MCAST_BROKER_HTTP_GATE_H
#define MCAST_BROKER_HTTP_GATE_H

#include "broker/http/call.h"

/* Whether a request may pass, judged before its body is looked at. */

/* Seconds after which it is worth asking again while the disk fails. */
enum { GATE_RETRY_STORAGE = 5 };

/* Finds the route and checks method, parameters, identity and the body's type. 0, or -1 with
 * call->problem set. */
int gate_judge(struct call *call, const char *method);

/* The same for what can change while the body comes: the broker's role, storage, its end. */
int gate_judge_engine(struct call *call);

/* 403 for a peer that may not do this: names who it is and what it lacks. Returns -1. */
int gate_forbid(struct call *call, const char *lacks);

#endif
