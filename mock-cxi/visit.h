/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One call of libcxi, from the look at cxi.conf to the line in the log.
 *
 * visit_begin, and in any case visit_end. Both return 0 or -errno. What a foreign program has no
 * error for, such as a mistake in cxi.conf, is -EIO to it and a sentence in the log. */

#include "mock-cxi/conf.h"
#include "mock-cxi/fault.h"
#include "mock-cxi/place.h"
#include "mock-cxi/state.h"

struct visit {
    struct fault_call call;
    struct place place;
    struct conf *conf;         /* set when visit_begin returned 0 */
    const struct nic *nic;     /* likewise; NULL: absent, or the call is of none */
    struct state state;        /* as the kind says */
    const struct fault *fault; /* that applies, unless it is of the kind that comes after */
    char note[360];            /* for the log: what the call is about */
};

/* What a call needs beside cxi.conf. */
enum visit_kind {
    VISIT_NICS,   /* nothing: the state stays empty */
    VISIT_LOOK,   /* the state; what is changed in it is forgotten */
    VISIT_USE,    /* the state; visit_end keeps its changes, if `result` is no error. Until then,
                     every other process waits */
    VISIT_CHANGE, /* the same, and the privilege for it */
};

/* nic and service as in struct fault_call. Carries out the faults that come before the effect:
 * waits, and returns their error. -EPERM: no privilege; -EIO: the NIC is no more. */
int visit_begin(struct visit *visit, const char *call, enum visit_kind kind, unsigned int nic,
                unsigned int service);

/* Adds to the line in the log: " key=value". */
__attribute__((format(printf, 2, 3))) void visit_note(struct visit *visit, const char *format, ...);

/* Keeps the state, writes the line, carries out the faults that come after the effect. Returns what
 * the call shall return: `result`, or an error in its place. */
int visit_end(struct visit *visit, int result);
