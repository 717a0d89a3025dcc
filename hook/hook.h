/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* mcast-cleanup: cleans up after one step, with the job's token alone (F19). */

#include "base/error.h"
#include "base/names.h"
#include "base/secret.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Milliseconds of the monotonic clock. */
static inline int64_t hook_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The command line. */
struct options {
    const char *step; /* NULL: that of the environment */
    /* each 0 or 1, as getopt sets them */
    int below; /* also the steps below it */
    int wait;  /* until the trees are gone */
    int strict;
    int64_t deadline_ms; /* from the start */
    int64_t end_ms;      /* hook_now_ms of the deadline */
};

/* What the environment says: which step, which services to ask, and with which token. */
struct environment {
    char step[STEP_ID_MAX + 1]; /* steppath_valid */
    bool broker;                /* there is one to ask */
    const char *broker_url;     /* NULL: where libmcast looks */
    struct secret broker_token; /* the broker's, or the job's session token */
    const char *trees_url; /* ends as baseurl_of_trees wants it; NULL: the fabric manager cannot be
                              asked */
    const char *job;
    const char *cacert; /* as exchange_ca wants it */
    bool verify;
    struct secret session_token;
};

/* Reads the environment; step NULL: the environment's. Sends nothing, and needs no library but
 * libc: the caller of the hook waits for it. Borrows the strings. 0; ERROR_NOT_FOUND: there is no
 * job with hardware collectives, which is not a fault; ERROR_INVALID with what is missing or wrong,
 * and no secret. */
int environment_read(struct environment *environment, const char *step, struct error *err);

/* The result of asking a service to remove a step's trees, from good to bad. All but DONE have a
 * sentence in err. */
enum outcome {
    OUTCOME_DONE,    /* they are gone, or the broker removes them */
    OUTCOME_PENDING, /* the broker removes them, and the wait is over */
    OUTCOME_REFUSED, /* a final no, also to the same request later */
    OUTCOME_LATER,   /* too busy: the same service may be asked again */
    OUTCOME_ABSENT,  /* no usable answer: another service may be asked, or this one again */
};

/* Asks the broker first, and the fabric manager itself if the broker does not answer; repeats until
 * the deadline while neither answers. SIGPIPE must be ignored. */
enum outcome cleanup_run(const struct environment *environment, const struct options *options,
                         struct error *err);

/* Cleans up a step at the fabric manager itself, with the job's session token, by the calls that
 * the token may make (docs/mock-fm.md, "What a session token opens").
 *
 * It is a shared object, opened when the broker does not answer: it needs libcurl and libcrypto,
 * and loading these and the thirty libraries below them takes 5 ms of CPU and 6 MB, in the program
 * of a caller who waits. */
#define FABRIC_OBJECT "mcast-cleanup-fabric.so"
#define FABRIC_SYMBOL "mcast_cleanup_fabric"
typedef enum outcome fabric_fn(const struct environment *environment, const struct options *options,
                               struct error *err);
