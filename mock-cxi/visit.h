#ifndef MCAST_MOCK_CXI_VISIT_H
#define MCAST_MOCK_CXI_VISIT_H

/* One call of libcxi, from the look at cxi.conf to the line in the log.
 *
 * visit_begin, then if it said 0 perhaps visit_look or visit_change, and in any case visit_end. All
 * return 0 or -errno. What a foreign program has no error for, such as a mistake in cxi.conf, is
 * -EIO to it and a sentence in the log. */

#include "mock-cxi/conf.h"
#include "mock-cxi/fault.h"
#include "mock-cxi/place.h"
#include "mock-cxi/state.h"

struct visit {
    struct fault_call call;
    struct place place;
    struct conf *conf;         /* set when visit_begin said 0 */
    const struct nic *nic;     /* likewise; NULL: absent, or the call is of none */
    struct state state;        /* after visit_look and visit_change */
    const struct fault *fault; /* that applies, unless it is of the kind that comes after */
    char note[320];
};

/* nic and service as in struct fault_call. Carries out the faults that come before the effect:
 * waits, and returns their error. */
int visit_begin(struct visit *visit, const char *call, unsigned int nic, unsigned int service);

/* -EPERM: the caller may not. */
int visit_privilege(const struct visit *visit);

/* Fills state; what is changed in it is forgotten. -EIO: the NIC is no more. */
int visit_look(struct visit *visit);

/* Fills state; visit_end keeps what is changed, if `result` is no error. Until then, every other
 * process waits. */
int visit_change(struct visit *visit);

/* Adds to the line in the log: " key=value". */
__attribute__((format(printf, 2, 3))) void visit_note(struct visit *visit, const char *format, ...);

/* Keeps the state, writes the line, carries out the faults that come after the effect. Returns what
 * the call shall return: `result`, or an error in its place. */
int visit_end(struct visit *visit, int result);

#endif
