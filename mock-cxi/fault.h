/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A rule of cxi.conf by which calls fail or take long, and how often it has met one. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { FAULT_NAME_SIZE = 32, FAULT_CALL_SIZE = 24 };

/* What a call is about, as far as rules distinguish it. */
struct fault_call {
    const char *name;     /* without "cxil_" */
    unsigned int nic;     /* FAULT_NONE: of no NIC */
    unsigned int service; /* FAULT_NONE: of no service, or not yet known */
};

enum { FAULT_NONE = 0xffffffff };

struct fault {
    char name[FAULT_NAME_SIZE];
    char call[FAULT_CALL_SIZE]; /* "": any */
    unsigned int nic;           /* FAULT_NONE: any */
    unsigned int service;       /* FAULT_NONE: any */
    int error;                  /* errno to answer; 0: none, it only takes `delay` */
    bool after;                 /* the call has its effect, and only then fails or takes long */
    bool each_service;          /* count, and for, apply to each service of each NIC on its own */
    unsigned int count;         /* how many calls it meets; 0: no limit */
    int64_t for_ms;             /* how long, from the first call it meets; 0: no limit */
    int64_t until;              /* seconds since 1970; 0: no limit */
    int64_t delay_ms;
};

/* What is remembered of a rule, by its name, in the state. */
struct fault_tally {
    char name[FAULT_NAME_SIZE];
    uint32_t nic, service; /* both FAULT_NONE but for each_service */
    uint32_t met;
    int64_t first_ms; /* CLOCK_BOOTTIME */
};

void fault_init(struct fault *fault, const char *name);

/* Sets what docs/mock-cxi.md lists for a rule. ERROR_INVALID: no such key, or not such a value. */
int fault_set(struct fault *fault, const char *key, const char *value, struct error *err);

/* after: whether the call has had its effect. */
bool fault_is_about(const struct fault *fault, const struct fault_call *call, bool after);

/* Whether its limits need a tally. */
bool fault_is_counted(const struct fault *fault);

/* False when its limits are used up; else the call is counted in the state. */
struct state;
bool fault_meets(const struct fault *fault, const struct fault_call *call, struct state *state);
